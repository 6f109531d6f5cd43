#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "gguf/file.hpp"

namespace luce::model {

/// A layer with routed experts; where their bytes lie is for experts/ to find.
struct ExpertLayer {
  int layer = 0;
  device::ExpertShape shape;
};

/// Told while weights are read: bytes done and in all. Returning false ends the load with Error{cancelled}.
using LoadProgress = std::function<bool(int64_t done_bytes, int64_t all_bytes)>;

/// Finds the dense weights that an architecture asks for, checks shapes and formats, and gives each its place. Asked
/// first over no memory, it measures; what it was asked for can then be loaded.
class WeightReader {
 public:
  WeightReader(const gguf::File& file, const device::Device& device, device::Address base)
      : file_(file), device_(device), base_(base) {}

  bool has(const std::string& name) const { return file_.find(name) != nullptr; }
  /// A matrix in the file's format. Errors name the tensor, the shape found and the shape expected.
  device::Tensor matrix(const std::string& name, int64_t rows, int64_t width);
  /// Values that are kept as f32 whatever the file's format is.
  device::Tensor values(const std::string& name, const tensor::Shape& shape);
  /// An empty tensor if the file has none of this name.
  device::Tensor optional_values(const std::string& name, const tensor::Shape& shape);
  /// Checks the routed experts named by `prefix` ("blk.3."), gate and up apart or fused; they are not read here.
  void experts(const std::string& prefix, int layer, const device::ExpertShape& expected);

  int64_t bytes() const { return used_bytes_; }
  /// Of the dense tensors whose names begin with `prefix`.
  int64_t bytes_of(const std::string& prefix) const;
  const std::vector<ExpertLayer>& expert_layers() const { return expert_layers_; }
  /// Tensors of the file that nobody asked for.
  std::vector<std::string> unused() const;

  /// Reads everything that was asked for to the places it was given.
  void load(device::Device& device, const LoadProgress& progress) const;

 private:
  struct Placed {
    const gguf::TensorInfo* info;
    device::Address address;
    int64_t bytes;
    bool as_f32;
  };

  const gguf::TensorInfo& require(const std::string& name);
  void check_supported(const gguf::TensorInfo& info, int64_t width) const;
  tensor::Format expert_matrix(const std::string& name, const tensor::Shape& shape);
  device::Tensor place(const gguf::TensorInfo& info, device::Tensor tensor, size_t bytes, bool as_f32);
  static void load_rows(device::Device& device, const Placed& placed, int64_t first_row,
                        std::span<const std::byte> raw);

  const gguf::File& file_;
  const device::Device& device_;
  device::Address base_;
  int64_t used_bytes_ = 0;
  std::vector<Placed> placed_;
  std::vector<ExpertLayer> expert_layers_;
  std::vector<const gguf::TensorInfo*> asked_;
};

}  // namespace luce::model
