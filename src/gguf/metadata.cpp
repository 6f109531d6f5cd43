#include "gguf/metadata.hpp"

#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "gguf/metadata_storage.hpp"
#include "gguf/printable.hpp"

namespace luce::gguf {
namespace {

template <typename T>
constexpr std::string_view kExpected = "";
template <>
constexpr std::string_view kExpected<uint32_t> = "an integer from 0 to 4294967295";
template <>
constexpr std::string_view kExpected<int32_t> = "an integer from -2147483648 to 2147483647";
template <>
constexpr std::string_view kExpected<uint64_t> = "an integer not below 0";
template <>
constexpr std::string_view kExpected<int64_t> = "an integer below 2^63";
template <>
constexpr std::string_view kExpected<float> = "a number that f32 can hold";
template <>
constexpr std::string_view kExpected<bool> = "a bool";
template <>
constexpr std::string_view kExpected<std::string_view> = "a string";

template <typename T, typename Wide>
std::optional<T> narrowed(std::optional<Wide> wide) {
  if (!wide || !std::in_range<T>(*wide)) return std::nullopt;
  return static_cast<T>(*wide);
}

template <typename T>
std::optional<T> convert(const Value& value);
template <>
std::optional<uint32_t> convert(const Value& value) {
  return narrowed<uint32_t>(value.as_u64());
}
template <>
std::optional<int32_t> convert(const Value& value) {
  return narrowed<int32_t>(value.as_i64());
}
template <>
std::optional<uint64_t> convert(const Value& value) {
  return value.as_u64();
}
template <>
std::optional<int64_t> convert(const Value& value) {
  return value.as_i64();
}
template <>
std::optional<float> convert(const Value& value) {
  const auto wide = value.as_f64();
  if (!wide || (std::isfinite(*wide) && std::abs(*wide) > std::numeric_limits<float>::max())) return std::nullopt;
  return static_cast<float>(*wide);
}
template <>
std::optional<bool> convert(const Value& value) {
  return value.as_bool();
}
template <>
std::optional<std::string_view> convert(const Value& value) {
  return value.as_string();
}

std::string describe_content(const Value& value) {
  if (value.type() == ValueType::array) return fmt::format("{} elements", value.count());
  if (const auto text = value.as_string()) return "'" + printable(*text) + "'";
  if (const auto flag = value.as_bool()) return *flag ? "true" : "false";
  if (const auto whole = value.as_i64()) return std::to_string(*whole);
  if (const auto whole = value.as_u64()) return std::to_string(*whole);
  return fmt::format("{}", value.as_f64().value_or(0.0));
}

}  // namespace

Metadata::Metadata(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}

size_t Metadata::size() const { return storage_->entries.size(); }

std::string_view Metadata::key(size_t index) const {
  LUCE_CHECK(index < size(), "no metadata key has that index");
  const Place place = storage_->entries[index].key;
  return {reinterpret_cast<const char*>(storage_->bytes.data()) + place.begin, place.size};
}

Value Metadata::value(size_t index) const {
  LUCE_CHECK(index < size(), "no metadata key has that index");
  const MetadataEntry& entry = storage_->entries[index];
  return Value(entry.type, storage_->bytes.data() + entry.payload);
}

std::optional<Value> Metadata::find(std::string_view key) const {
  const auto found = storage_->index_of_key.find(key);
  if (found == storage_->index_of_key.end()) return std::nullopt;
  return value(found->second);
}

template <typename T>
std::optional<T> Metadata::find_as(std::string_view key) const {
  const auto value = find(key);
  if (!value) return std::nullopt;
  const auto converted = convert<T>(*value);
  if (!converted) {
    fail(ErrorKind::invalid_file,
         "{}: metadata key {} should be {}, found {} of type {}; the file is unusual or damaged", storage_->source, key,
         kExpected<T>, describe_content(*value), value->describe_type());
  }
  return converted;
}

template <typename T>
std::optional<std::vector<T>> Metadata::find_all_as(std::string_view key) const {
  const auto value = find(key);
  if (!value) return std::nullopt;
  if (value->type() != ValueType::array) {
    fail(ErrorKind::invalid_file, "{}: metadata key {} should be an array, each element {}, found {} of type {}",
         storage_->source, key, kExpected<T>, describe_content(*value), value->describe_type());
  }
  std::vector<T> result;
  result.reserve(value->count());
  const std::byte* next = value->first_element();
  for (uint64_t i = 0; i < value->count(); ++i) {
    const Value element(value->element_type(), next);
    const auto converted = convert<T>(element);
    if (!converted) {
      fail(ErrorKind::invalid_file, "{}: metadata key {}, element {} should be {}, found {} of type {}",
           storage_->source, key, i, kExpected<T>, describe_content(element), element.describe_type());
    }
    result.push_back(*converted);
    next = element.end();
  }
  return result;
}

template <typename T>
T Metadata::required(std::optional<T> found, std::string_view key) const {
  if (found) return *std::move(found);
  fail(ErrorKind::invalid_file, "{}: metadata key {} is missing; the file is incomplete or of another kind",
       storage_->source, key);
}

std::optional<uint32_t> Metadata::find_u32(std::string_view key) const { return find_as<uint32_t>(key); }
std::optional<uint64_t> Metadata::find_u64(std::string_view key) const { return find_as<uint64_t>(key); }
std::optional<int64_t> Metadata::find_i64(std::string_view key) const { return find_as<int64_t>(key); }
std::optional<float> Metadata::find_f32(std::string_view key) const { return find_as<float>(key); }
std::optional<bool> Metadata::find_bool(std::string_view key) const { return find_as<bool>(key); }
std::optional<std::string_view> Metadata::find_string(std::string_view key) const {
  return find_as<std::string_view>(key);
}
std::optional<std::vector<std::string_view>> Metadata::find_strings(std::string_view key) const {
  return find_all_as<std::string_view>(key);
}
std::optional<std::vector<float>> Metadata::find_f32s(std::string_view key) const { return find_all_as<float>(key); }
std::optional<std::vector<int32_t>> Metadata::find_i32s(std::string_view key) const {
  return find_all_as<int32_t>(key);
}
std::optional<std::vector<uint32_t>> Metadata::find_u32s(std::string_view key) const {
  return find_all_as<uint32_t>(key);
}

uint32_t Metadata::get_u32(std::string_view key) const { return required(find_u32(key), key); }
uint64_t Metadata::get_u64(std::string_view key) const { return required(find_u64(key), key); }
int64_t Metadata::get_i64(std::string_view key) const { return required(find_i64(key), key); }
float Metadata::get_f32(std::string_view key) const { return required(find_f32(key), key); }
bool Metadata::get_bool(std::string_view key) const { return required(find_bool(key), key); }
std::string_view Metadata::get_string(std::string_view key) const { return required(find_string(key), key); }
std::vector<std::string_view> Metadata::get_strings(std::string_view key) const {
  return required(find_strings(key), key);
}
std::vector<float> Metadata::get_f32s(std::string_view key) const { return required(find_f32s(key), key); }
std::vector<int32_t> Metadata::get_i32s(std::string_view key) const { return required(find_i32s(key), key); }
std::vector<uint32_t> Metadata::get_u32s(std::string_view key) const { return required(find_u32s(key), key); }

}  // namespace luce::gguf
