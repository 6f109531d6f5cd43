#pragma once

#include <array>
#include <vector>

#include "device/device.hpp"
#include "experts/expert_source.hpp"
#include "gguf/file.hpp"

namespace luce::experts {

/// Experts of a GGUF file: `blk.N.ffn_{gate,up,down}_exps.weight`, shaped [experts, rows, width], or gate and up fused
/// in `blk.N.ffn_gate_up_exps.weight` with an expert's gate rows before its up rows.
class GgufExpertSource final : public ExpertSource {
 public:
  /// Looks at layers 0 to layers - 1. The file and the device must outlive this. Throws Error{invalid_file} for
  /// missing tensors and shapes that do not fit together, Error{unsupported} for formats the device cannot multiply.
  GgufExpertSource(const gguf::File& file, device::Device& device, int layers);

  int layers() const override { return static_cast<int>(layers_.size()); }
  const device::ExpertShape& shape(int layer) const override { return layers_[static_cast<size_t>(layer)].shape; }
  const SlotLayout& layout(int layer) const override { return layers_[static_cast<size_t>(layer)].layout; }
  size_t fetch_bytes(int layer) const override;
  size_t staging_bytes() const override { return staging_bytes_; }
  void fetch(int layer, int32_t expert, device::Address to, std::span<std::byte> staging) const override;

 private:
  /// One matrix of every expert of a layer: `rows` rows from `first_row` of each expert's part of the tensor.
  struct Matrix {
    const gguf::TensorInfo* tensor = nullptr;
    int64_t first_row = 0;
    int64_t rows = 0;
    size_t slot_offset = 0;
  };
  struct Layer {
    device::ExpertShape shape;
    SlotLayout layout;
    std::array<Matrix, 3> matrices;  // gate, up, down
  };

  Layer find_layer(int layer) const;
  void place(int layer, Layer& found) const;

  const gguf::File& file_;
  device::Device& device_;
  std::vector<Layer> layers_;
  size_t staging_bytes_ = 0;
};

}  // namespace luce::experts
