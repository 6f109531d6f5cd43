#include "support/gguf_exercise.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "gguf/file.hpp"
#include "tensor/reference.hpp"

namespace luce::support {
namespace {

constexpr uint64_t kMostElements = 4096;
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

void touch(const gguf::Value& value) {
  static_cast<void>(value.describe_type());
  static_cast<void>(value.as_i64());
  static_cast<void>(value.as_u64());
  static_cast<void>(value.as_f64());
  static_cast<void>(value.as_bool());
  static_cast<void>(value.as_string());
  if (value.type() != gguf::ValueType::array) return;
  for (const gguf::Value& element : value.elements(kMostElements)) touch(element);
}

/// Calls an accessor that may refuse the type of the key.
template <typename Access>
void attempt(Access access) {
  try {
    access();
  } catch (const Error&) {
    // A wrong type is an error by design; only crashes count here.
  }
}

void touch_key(const gguf::Metadata& metadata, std::string_view key) {
  attempt([&] { metadata.get_u32(key); });
  attempt([&] { metadata.get_u64(key); });
  attempt([&] { metadata.get_i64(key); });
  attempt([&] { metadata.get_f32(key); });
  attempt([&] { metadata.get_bool(key); });
  attempt([&] { metadata.get_string(key); });
  attempt([&] { metadata.get_strings(key); });
  attempt([&] { metadata.get_f32s(key); });
  attempt([&] { metadata.get_i32s(key); });
  attempt([&] { metadata.get_u32s(key); });
}

void touch_tensor(const gguf::File& file, const gguf::TensorInfo& tensor) {
  std::vector<std::byte> piece(std::min(tensor.bytes, kPieceBytes));
  for (uint64_t offset = 0; offset < tensor.bytes; offset += piece.size()) {
    file.read(tensor, offset, std::span(piece).first(std::min<uint64_t>(piece.size(), tensor.bytes - offset)));
  }
  const tensor::FormatInfo& format = tensor::info(tensor.format);
  std::vector<std::byte> block(static_cast<size_t>(format.block_bytes));
  std::vector<float> values(static_cast<size_t>(format.block_elements));
  file.read(tensor, 0, block);
  tensor::dequantise(tensor.format, block, values);
}

}  // namespace

std::string exercise_gguf(const std::string& path) {
  try {
    const gguf::File file = gguf::File::open(path);
    const gguf::Metadata& metadata = file.metadata();
    for (size_t i = 0; i < metadata.size(); ++i) {
      touch(metadata.value(i));
      touch_key(metadata, metadata.key(i));
    }
    for (const gguf::TensorInfo& tensor : file.tensors()) touch_tensor(file, tensor);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace luce::support
