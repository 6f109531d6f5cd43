#include <array>
#include <cstring>
#include <utility>

#include "gguf/metadata.hpp"
#include "gguf/metadata_storage.hpp"

namespace luce::gguf {
namespace {

constexpr uint64_t kArrayHeadBytes = sizeof(uint32_t) + sizeof(uint64_t);

struct TypeTraits {
  std::string_view name;
  uint64_t bytes;
};

constexpr std::array<TypeTraits, 13> kTypes = {{
    {"u8", 1},
    {"i8", 1},
    {"u16", 2},
    {"i16", 2},
    {"u32", 4},
    {"i32", 4},
    {"f32", 4},
    {"bool", 1},
    {"string", 0},
    {"array", 0},
    {"u64", 8},
    {"i64", 8},
    {"f64", 8},
}};

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename Wanted, typename Stored>
std::optional<Wanted> converted(const std::byte* from) {
  const auto value = load<Stored>(from);
  if (!std::in_range<Wanted>(value)) return std::nullopt;
  return static_cast<Wanted>(value);
}

template <typename Wanted>
std::optional<Wanted> as_integer(ValueType type, const std::byte* from) {
  switch (type) {
    case ValueType::u8: return converted<Wanted, uint8_t>(from);
    case ValueType::i8: return converted<Wanted, int8_t>(from);
    case ValueType::u16: return converted<Wanted, uint16_t>(from);
    case ValueType::i16: return converted<Wanted, int16_t>(from);
    case ValueType::u32: return converted<Wanted, uint32_t>(from);
    case ValueType::i32: return converted<Wanted, int32_t>(from);
    case ValueType::u64: return converted<Wanted, uint64_t>(from);
    case ValueType::i64: return converted<Wanted, int64_t>(from);
    default: return std::nullopt;
  }
}

}  // namespace

std::string_view type_name(ValueType type) { return kTypes[static_cast<size_t>(type)].name; }

uint64_t fixed_bytes(ValueType type) { return kTypes[static_cast<size_t>(type)].bytes; }

Value::Value(ValueType type, const std::byte* payload) : type_(type), element_type_(type), payload_(payload) {
  if (type != ValueType::array) return;
  element_type_ = static_cast<ValueType>(load<uint32_t>(payload));
  count_ = load<uint64_t>(payload + sizeof(uint32_t));
}

std::string Value::describe_type() const {
  if (type_ != ValueType::array) return std::string(type_name(type_));
  return "array of " + std::string(type_name(element_type_));
}

std::optional<int64_t> Value::as_i64() const { return as_integer<int64_t>(type_, payload_); }

std::optional<uint64_t> Value::as_u64() const { return as_integer<uint64_t>(type_, payload_); }

std::optional<double> Value::as_f64() const {
  if (type_ == ValueType::f32) return static_cast<double>(load<float>(payload_));
  if (type_ == ValueType::f64) return load<double>(payload_);
  if (const auto whole = as_i64()) return static_cast<double>(*whole);
  if (const auto whole = as_u64()) return static_cast<double>(*whole);
  return std::nullopt;
}

std::optional<bool> Value::as_bool() const {
  if (type_ != ValueType::boolean) return std::nullopt;
  return load<uint8_t>(payload_) != 0;
}

std::optional<std::string_view> Value::as_string() const {
  if (type_ != ValueType::string) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(payload_) + sizeof(uint64_t), load<uint64_t>(payload_));
}

std::vector<Value> Value::elements(uint64_t most) const {
  std::vector<Value> result;
  const uint64_t wanted = std::min(most, count_);
  result.reserve(wanted);
  const std::byte* next = first_element();
  for (uint64_t i = 0; i < wanted; ++i) {
    result.emplace_back(element_type_, next);
    next = result.back().end();
  }
  return result;
}

const std::byte* Value::end() const {
  if (type_ == ValueType::string) return payload_ + sizeof(uint64_t) + load<uint64_t>(payload_);
  if (type_ != ValueType::array) return payload_ + fixed_bytes(type_);
  const uint64_t bytes_each = fixed_bytes(element_type_);
  if (bytes_each != 0) return first_element() + count_ * bytes_each;
  const std::byte* next = first_element();
  for (uint64_t i = 0; i < count_; ++i) next = Value(element_type_, next).end();
  return next;
}

const std::byte* Value::first_element() const {
  return type_ == ValueType::array ? payload_ + kArrayHeadBytes : payload_;
}

}  // namespace luce::gguf
