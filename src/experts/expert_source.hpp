#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/expert_service.hpp"

namespace luce::experts {

struct ExpertId {
  int layer = 0;
  int32_t expert = 0;
  bool operator==(const ExpertId&) const = default;
};

/// How an expert lies in its slot: gate, up and down in the device's packed layout, one behind the other.
struct SlotLayout {
  size_t up_offset = 0;
  size_t down_offset = 0;
  size_t slot_bytes = 0;  // the layer's size class
};

/// Where experts come from on a miss. Layers are numbered as in the model; dense ones have shapes with 0 experts.
class ExpertSource {
 public:
  virtual ~ExpertSource() = default;

  virtual int layers() const = 0;
  virtual const device::ExpertShape& shape(int layer) const = 0;
  virtual const SlotLayout& layout(int layer) const = 0;
  /// Bytes that fetching one expert of this layer moves.
  virtual size_t fetch_bytes(int layer) const = 0;
  /// Scratch that one fetch needs.
  virtual size_t staging_bytes() const = 0;

  /// Reads one expert and packs it into the slot at `to`. Thread-safe if each thread has its own `staging`.
  /// Throws Error{io}.
  virtual void fetch(int layer, int32_t expert, device::Address to, std::span<std::byte> staging) const = 0;
};

}  // namespace luce::experts
