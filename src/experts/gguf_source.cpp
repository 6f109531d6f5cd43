#include "experts/gguf_source.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"
#include "base/error.hpp"
#include "tensor/format.hpp"

namespace luce::experts {
namespace {

using gguf::TensorInfo;

std::string tensor_name(int layer, std::string_view part) {
  return fmt::format("blk.{}.ffn_{}_exps.weight", layer, part);
}

/// [experts, rows, width] with every extent within int32, so that later products fit.
void check_rank(const TensorInfo& tensor) {
  bool fits = tensor.shape.rank() == 3;
  for (int axis = 0; fits && axis < 3; ++axis)
    fits = tensor.shape[axis] > 0 && tensor.shape[axis] <= std::numeric_limits<int32_t>::max();
  if (!fits)
    fail(
        ErrorKind::invalid_file,
        "tensor {} has shape {}, expected [experts, rows, width]; the model file is damaged or of another architecture",
        tensor.name, tensor.shape.to_string());
}

void expect_shape(const TensorInfo& tensor, const tensor::Shape& expected) {
  if (!(tensor.shape == expected))
    fail(ErrorKind::invalid_file, "tensor {} has shape {}, expected {} to fit the other expert tensors of its layer",
         tensor.name, tensor.shape.to_string(), expected.to_string());
}

int64_t matrix_bytes(const TensorInfo& tensor, int64_t rows) {
  return tensor::packed_bytes(tensor.format, rows * tensor.shape.width());
}

}  // namespace

GgufExpertSource::GgufExpertSource(const gguf::File& file, device::Device& device, int layers)
    : file_(file), device_(device) {
  for (int layer = 0; layer < layers; ++layer) {
    layers_.push_back(find_layer(layer));
    if (layers_.back().shape.experts == 0) continue;
    place(layer, layers_.back());
    for (const Matrix& matrix : layers_.back().matrices)
      staging_bytes_ = std::max(staging_bytes_, static_cast<size_t>(matrix_bytes(*matrix.tensor, matrix.rows)));
  }
}

GgufExpertSource::Layer GgufExpertSource::find_layer(int layer) const {
  const TensorInfo* fused = file_.find(tensor_name(layer, "gate_up"));
  const TensorInfo* down = file_.find(tensor_name(layer, "down"));
  if (!fused && !down && !file_.find(tensor_name(layer, "gate")) && !file_.find(tensor_name(layer, "up"))) return {};
  if (!down) down = &file_.get(tensor_name(layer, "down"));
  check_rank(*down);
  const int64_t experts = down->shape[0], width = down->shape[1], inner = down->shape[2];
  Layer found;
  found.shape.experts = static_cast<int>(experts);
  found.shape.width = width;
  found.shape.inner = inner;
  if (fused) {
    expect_shape(*fused, {experts, 2 * inner, width});
    found.matrices = {Matrix{fused, 0, inner, 0}, Matrix{fused, inner, inner, 0}, Matrix{down, 0, width, 0}};
  } else {
    const TensorInfo* gate = &file_.get(tensor_name(layer, "gate"));
    const TensorInfo* up = &file_.get(tensor_name(layer, "up"));
    expect_shape(*gate, {experts, inner, width});
    expect_shape(*up, {experts, inner, width});
    found.matrices = {Matrix{gate, 0, inner, 0}, Matrix{up, 0, inner, 0}, Matrix{down, 0, width, 0}};
  }
  return found;
}

/// Lays the matrices out in a slot in the device's packed sizes.
void GgufExpertSource::place(int layer, Layer& found) const {
  size_t offset = 0;
  for (Matrix& matrix : found.matrices) {
    const tensor::Format format = matrix.tensor->format;
    const int64_t width = matrix.tensor->shape.width();
    if (!device_.supports(format, width))
      fail(ErrorKind::unsupported, "layer {}: experts in {} with rows of {} values cannot be computed on {}", layer,
           tensor::info(format).name, width, device_.description());
    matrix.slot_offset = offset;
    offset += device_.packed_bytes(format, matrix.rows, width);
  }
  found.shape.gate = found.matrices[0].tensor->format;
  found.shape.up = found.matrices[1].tensor->format;
  found.shape.down = found.matrices[2].tensor->format;
  found.layout = {found.matrices[1].slot_offset, found.matrices[2].slot_offset, offset};
}

size_t GgufExpertSource::fetch_bytes(int layer) const {
  int64_t bytes = 0;
  for (const Matrix& matrix : layers_[static_cast<size_t>(layer)].matrices)
    if (matrix.tensor) bytes += matrix_bytes(*matrix.tensor, matrix.rows);
  return static_cast<size_t>(bytes);
}

void GgufExpertSource::fetch(int layer, int32_t expert, device::Address to, std::span<std::byte> staging) const {
  const Layer& source = layers_[static_cast<size_t>(layer)];
  LUCE_CHECK(expert >= 0 && expert < source.shape.experts, "fetch of an expert that the layer does not have");
  for (const Matrix& matrix : source.matrices) {
    const TensorInfo& tensor = *matrix.tensor;
    const int64_t first_row = expert * tensor.shape[1] + matrix.first_row;
    const std::span<std::byte> raw = staging.first(static_cast<size_t>(matrix_bytes(tensor, matrix.rows)));
    file_.read(tensor, static_cast<uint64_t>(matrix_bytes(tensor, first_row)), raw);
    device_.pack(tensor.format, {matrix.rows, tensor.shape.width()}, raw, to + matrix.slot_offset);
  }
}

}  // namespace luce::experts
