#include "model/weight_reader.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "tensor/reference.hpp"

namespace luce::model {
namespace {

using device::Tensor;

constexpr int64_t kAlignment = 64;
constexpr int64_t kStagingBytes = 4 << 20;
constexpr int64_t kPieceRows = 64;  // Device::pack takes matrices in pieces of this many rows

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void check_shape(const gguf::TensorInfo& info, const tensor::Shape& expected) {
  // A matrix of one row may be stored as a vector.
  const bool same =
      info.shape == expected || (info.shape.rank() < expected.rank() && info.shape.width() == expected.width() &&
                                 info.shape.elements() == expected.elements());
  if (!same) {
    fail(ErrorKind::invalid_file, "tensor {} has shape {}, expected {} from the metadata; the model file is damaged",
         info.name, info.shape.to_string(), expected.to_string());
  }
}

int64_t row_bytes(const gguf::TensorInfo& info) { return tensor::packed_bytes(info.format, info.shape.width()); }

int64_t staged_rows(const gguf::TensorInfo& info) {
  const int64_t rows = kStagingBytes / row_bytes(info) / kPieceRows * kPieceRows;
  return std::max(rows, kPieceRows);
}

}  // namespace

const gguf::TensorInfo& WeightReader::require(const std::string& name) {
  const gguf::TensorInfo& info = file_.get(name);
  asked_.push_back(&info);
  return info;
}

Tensor WeightReader::place(const gguf::TensorInfo& info, Tensor tensor, size_t bytes, bool as_f32) {
  tensor.address = base_ + static_cast<device::Address>(used_bytes_);
  const int64_t taken_bytes = aligned(static_cast<int64_t>(bytes));
  used_bytes_ += taken_bytes;
  placed_.push_back({&info, tensor.address, taken_bytes, as_f32});
  return tensor;
}

Tensor WeightReader::matrix(const std::string& name, int64_t rows, int64_t width) {
  const gguf::TensorInfo& info = require(name);
  check_shape(info, {rows, width});
  check_supported(info, width);
  return place(info, device::make_tensor(info.format, {rows, width}, 0), device_.packed_bytes(info.format, rows, width),
               false);
}

Tensor WeightReader::values(const std::string& name, const tensor::Shape& shape) {
  const gguf::TensorInfo& info = require(name);
  check_shape(info, shape);
  if (!tensor::info(info.format).computes) {
    fail(ErrorKind::unsupported, "tensor {} is in format {}, which cannot be read as numbers", name,
         tensor::info(info.format).name);
  }
  const auto bytes = static_cast<size_t>(shape.elements()) * sizeof(float);
  return place(info, device::make_tensor(tensor::Format::f32, shape, 0), bytes, true);
}

Tensor WeightReader::optional_values(const std::string& name, const tensor::Shape& shape) {
  return has(name) ? values(name, shape) : Tensor{};
}

tensor::Format WeightReader::expert_matrix(const std::string& name, const tensor::Shape& shape) {
  const gguf::TensorInfo& info = require(name);
  check_shape(info, shape);
  check_supported(info, shape.width());
  return info.format;
}

void WeightReader::experts(const std::string& prefix, int layer, const device::ExpertShape& expected) {
  ExpertLayer found{.layer = layer, .shape = expected};
  const int64_t experts = expected.experts;
  const int64_t width = expected.width;
  const int64_t inner = expected.inner;
  if (has(prefix + "ffn_gate_up_exps.weight")) {
    found.shape.gate = expert_matrix(prefix + "ffn_gate_up_exps.weight", {experts, 2 * inner, width});
    found.shape.up = found.shape.gate;
  } else {
    found.shape.gate = expert_matrix(prefix + "ffn_gate_exps.weight", {experts, inner, width});
    found.shape.up = expert_matrix(prefix + "ffn_up_exps.weight", {experts, inner, width});
  }
  found.shape.down = expert_matrix(prefix + "ffn_down_exps.weight", {experts, width, inner});
  expert_layers_.push_back(found);
}

void WeightReader::check_supported(const gguf::TensorInfo& info, int64_t width) const {
  if (device_.supports(info.format, width)) return;
  fail(ErrorKind::unsupported, "tensor {} is in format {}, in which the {} cannot multiply rows of {}", info.name,
       tensor::info(info.format).name, device_.description(), width);
}

int64_t WeightReader::bytes_of(const std::string& prefix) const {
  int64_t sum = 0;
  for (const Placed& placed : placed_) sum += placed.info->name.starts_with(prefix) ? placed.bytes : 0;
  return sum;
}

std::vector<std::string> WeightReader::unused() const {
  std::vector<std::string> names;
  for (const gguf::TensorInfo& info : file_.tensors()) {
    if (std::find(asked_.begin(), asked_.end(), &info) == asked_.end()) names.push_back(info.name);
  }
  return names;
}

void WeightReader::load(device::Device& device, const LoadProgress& progress) const {
  const int64_t all_bytes =
      std::accumulate(placed_.begin(), placed_.end(), int64_t{0},
                      [](int64_t sum, const Placed& p) { return sum + static_cast<int64_t>(p.info->bytes); });
  int64_t done_bytes = 0;
  std::vector<std::byte> staging;
  for (const Placed& placed : placed_) {
    const gguf::TensorInfo& info = *placed.info;
    const int64_t rows = info.shape.rows();
    for (int64_t row = 0; row < rows; row += staged_rows(info)) {
      const int64_t count = std::min(staged_rows(info), rows - row);
      staging.resize(static_cast<size_t>(count * row_bytes(info)));
      file_.read(info, static_cast<uint64_t>(row * row_bytes(info)), staging);
      load_rows(device, placed, row, staging);
      done_bytes += count * row_bytes(info);
      if (progress && !progress(done_bytes, all_bytes)) fail(ErrorKind::cancelled, "loading was stopped");
    }
  }
}

void WeightReader::load_rows(device::Device& device, const Placed& placed, int64_t first_row,
                             std::span<const std::byte> raw) {
  const int64_t rows = static_cast<int64_t>(raw.size()) / row_bytes(*placed.info);
  const int64_t width = placed.info->shape.width();
  const tensor::Format format = placed.info->format;
  if (!placed.as_f32) {
    const size_t offset = first_row == 0 ? 0 : device.packed_bytes(format, first_row, width);
    device.pack(format, {rows, width}, raw, placed.address + offset);
    return;
  }
  std::vector<float> floats(static_cast<size_t>(rows * width));
  tensor::dequantise(format, raw, floats);
  device.write(placed.address + static_cast<device::Address>(first_row * width) * sizeof(float),
               std::as_bytes(std::span(floats)));
}

}  // namespace luce::model
