#include "gguf/metadata_builder.hpp"

#include <algorithm>
#include <utility>

#include "gguf/byte_buffer.hpp"
#include "gguf/metadata_reader.hpp"

namespace luce::gguf {
namespace {

uint32_t id_of(ValueType type) { return static_cast<uint32_t>(type); }

template <typename T>
std::vector<std::byte> number_payload(T value) {
  ByteBuffer buffer;
  buffer.number(value);
  return buffer.take();
}

template <typename T>
std::vector<std::byte> numbers_payload(ValueType type, std::span<const T> values) {
  ByteBuffer buffer;
  buffer.number(id_of(type));
  buffer.number<uint64_t>(values.size());
  buffer.raw(std::as_bytes(values));
  return buffer.take();
}

template <typename Text>
std::vector<std::byte> strings_payload(std::span<const Text> values) {
  ByteBuffer buffer;
  buffer.number(id_of(ValueType::string));
  buffer.number<uint64_t>(values.size());
  for (const Text& value : values) buffer.string(value);
  return buffer.take();
}

}  // namespace

MetadataBuilder::MetadataBuilder(const Metadata& source) {
  for (size_t i = 0; i < source.size(); ++i) set(source.key(i), source.value(i));
}

void MetadataBuilder::set_u8(std::string_view key, uint8_t value) {
  set_raw(key, id_of(ValueType::u8), number_payload(value));
}
void MetadataBuilder::set_u16(std::string_view key, uint16_t value) {
  set_raw(key, id_of(ValueType::u16), number_payload(value));
}
void MetadataBuilder::set_u32(std::string_view key, uint32_t value) {
  set_raw(key, id_of(ValueType::u32), number_payload(value));
}
void MetadataBuilder::set_i32(std::string_view key, int32_t value) {
  set_raw(key, id_of(ValueType::i32), number_payload(value));
}
void MetadataBuilder::set_u64(std::string_view key, uint64_t value) {
  set_raw(key, id_of(ValueType::u64), number_payload(value));
}
void MetadataBuilder::set_i64(std::string_view key, int64_t value) {
  set_raw(key, id_of(ValueType::i64), number_payload(value));
}
void MetadataBuilder::set_f32(std::string_view key, float value) {
  set_raw(key, id_of(ValueType::f32), number_payload(value));
}
void MetadataBuilder::set_f64(std::string_view key, double value) {
  set_raw(key, id_of(ValueType::f64), number_payload(value));
}
void MetadataBuilder::set_bool(std::string_view key, bool value) {
  set_raw(key, id_of(ValueType::boolean), number_payload<uint8_t>(value ? 1 : 0));
}
void MetadataBuilder::set_string(std::string_view key, std::string_view value) {
  ByteBuffer buffer;
  buffer.string(value);
  set_raw(key, id_of(ValueType::string), buffer.take());
}
void MetadataBuilder::set_strings(std::string_view key, std::span<const std::string_view> values) {
  set_raw(key, id_of(ValueType::array), strings_payload(values));
}
void MetadataBuilder::set_strings(std::string_view key, std::span<const std::string> values) {
  set_raw(key, id_of(ValueType::array), strings_payload(values));
}
void MetadataBuilder::set_i32s(std::string_view key, std::span<const int32_t> values) {
  set_raw(key, id_of(ValueType::array), numbers_payload(ValueType::i32, values));
}
void MetadataBuilder::set_u32s(std::string_view key, std::span<const uint32_t> values) {
  set_raw(key, id_of(ValueType::array), numbers_payload(ValueType::u32, values));
}
void MetadataBuilder::set_f32s(std::string_view key, std::span<const float> values) {
  set_raw(key, id_of(ValueType::array), numbers_payload(ValueType::f32, values));
}

void MetadataBuilder::set(std::string_view key, const Value& value) {
  const std::span<const std::byte> payload = value.payload();
  set_raw(key, id_of(value.type()), {payload.begin(), payload.end()});
}

void MetadataBuilder::set_raw(std::string_view key, uint32_t type_id, std::vector<std::byte> payload) {
  if (const Entry* found = find(key)) {
    entries_[static_cast<size_t>(found - entries_.data())] = {std::string(key), type_id, std::move(payload)};
  } else {
    entries_.push_back({std::string(key), type_id, std::move(payload)});
  }
}

bool MetadataBuilder::remove(std::string_view key) {
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; }) > 0;
}

bool MetadataBuilder::contains(std::string_view key) const { return find(key) != nullptr; }

std::vector<std::byte> MetadataBuilder::encode() const {
  ByteBuffer buffer;
  for (const Entry& entry : entries_) {
    buffer.string(entry.key);
    buffer.number(entry.type_id);
    buffer.raw(entry.payload);
  }
  return buffer.take();
}

Metadata MetadataBuilder::build(const std::string& source) const {
  HeaderCursor cursor(source, encode());
  std::vector<MetadataEntry> entries = read_metadata_entries(cursor, entries_.size());
  return make_metadata(source, cursor.release(), std::move(entries));
}

const MetadataBuilder::Entry* MetadataBuilder::find(std::string_view key) const {
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace luce::gguf
