#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata.hpp"

namespace luce::gguf {

/// Keys and values in the order in which they will be written. Setting a key again replaces it where it stands.
class MetadataBuilder {
 public:
  MetadataBuilder() = default;
  /// Copies all keys of a file.
  explicit MetadataBuilder(const Metadata& source);

  void set_u8(std::string_view key, uint8_t value);
  void set_u16(std::string_view key, uint16_t value);
  void set_u32(std::string_view key, uint32_t value);
  void set_i32(std::string_view key, int32_t value);
  void set_u64(std::string_view key, uint64_t value);
  void set_i64(std::string_view key, int64_t value);
  void set_f32(std::string_view key, float value);
  void set_f64(std::string_view key, double value);
  void set_bool(std::string_view key, bool value);
  void set_string(std::string_view key, std::string_view value);
  void set_strings(std::string_view key, std::span<const std::string_view> values);
  void set_strings(std::string_view key, std::span<const std::string> values);
  void set_i32s(std::string_view key, std::span<const int32_t> values);
  void set_u32s(std::string_view key, std::span<const uint32_t> values);
  void set_f32s(std::string_view key, std::span<const float> values);
  /// Copies a value of another file.
  void set(std::string_view key, const Value& value);
  /// `payload` as it will lie in the file, right or wrong; for tests of readers too.
  void set_raw(std::string_view key, uint32_t type_id, std::vector<std::byte> payload);

  /// False if there was no such key.
  bool remove(std::string_view key);
  bool contains(std::string_view key) const;
  size_t size() const { return entries_.size(); }

  /// All entries as they lie in a file, after the count.
  std::vector<std::byte> encode() const;
  /// What a reader would see; throws as it would. `source` stands for the file in messages.
  Metadata build(const std::string& source) const;

 private:
  struct Entry {
    std::string key;
    uint32_t type_id;
    std::vector<std::byte> payload;
  };
  const Entry* find(std::string_view key) const;

  std::vector<Entry> entries_;
};

}  // namespace luce::gguf
