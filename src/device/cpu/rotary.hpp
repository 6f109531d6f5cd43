#pragma once

#include <array>
#include <vector>

#include "device/cpu/machine.hpp"
#include "device/operations.hpp"

namespace luce::device::cpu {

/// Rotary embedding with the angles of the last steps kept: all layers of a step turn by the same ones.
class RotaryTables {
 public:
  void run(const Machine& machine, const Rotary& op);

 private:
  struct Turn {
    float cosine, sine;
  };
  struct Table {
    int dimensions = 0;
    float base = 0, frequency_scale = 0;
    std::vector<float> factors;
    std::vector<int32_t> positions;
    std::vector<Turn> turns;  // [rows, dimensions / 2]

    bool fits(const Rotary& op) const;
    void fill(const Rotary& op);
  };

  const Table& find(const Rotary& op);

  std::array<Table, 2> tables_;  // models with local and global layers use two bases
  size_t oldest_ = 0;
};

}  // namespace luce::device::cpu
