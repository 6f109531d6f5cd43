#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luce::gguf {

/// Types of metadata values; the numbers are those of the format.
enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

std::string_view type_name(ValueType type);

/// One metadata value: a view into the header of the file it came from, checked when that was opened.
class Value {
 public:
  /// `payload` begins with the number, the string's length, or the array's element type.
  Value(ValueType type, const std::byte* payload);

  ValueType type() const { return type_; }
  /// Type of an array's elements; the type itself if it is no array.
  ValueType element_type() const { return element_type_; }
  /// Elements of an array, else 1.
  uint64_t count() const { return count_; }
  /// For messages, for example "u32" or "array of string".
  std::string describe_type() const;

  /// The value if it is of that kind and fits, else nothing. Numbers of any width are taken if their value fits.
  std::optional<int64_t> as_i64() const;
  std::optional<uint64_t> as_u64() const;
  std::optional<double> as_f64() const;
  std::optional<bool> as_bool() const;
  std::optional<std::string_view> as_string() const;

  /// The first `most` elements of an array (which may be arrays); a scalar gives itself.
  std::vector<Value> elements(uint64_t most = std::numeric_limits<uint64_t>::max()) const;
  /// Where the elements begin, and the first byte behind the value; each element's end() is where the next begins.
  const std::byte* first_element() const;
  const std::byte* end() const;
  /// All bytes of the value as they lie in the file.
  std::span<const std::byte> payload() const { return {payload_, end()}; }

 private:
  ValueType type_;
  ValueType element_type_;
  uint64_t count_ = 1;
  const std::byte* payload_;
};

/// Keys and values of a model file, in the file's order. Copies share the bytes; views live as long as any copy.
class Metadata {
 public:
  struct Storage;
  explicit Metadata(std::shared_ptr<const Storage> storage);

  size_t size() const;
  std::string_view key(size_t index) const;
  Value value(size_t index) const;
  std::optional<Value> find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key).has_value(); }

  /// The value of a key that must exist; throws invalid_file naming the key, the type expected and the type found.
  /// Integers convert between widths if the value fits.
  uint32_t get_u32(std::string_view key) const;
  uint64_t get_u64(std::string_view key) const;
  int64_t get_i64(std::string_view key) const;
  float get_f32(std::string_view key) const;
  bool get_bool(std::string_view key) const;
  std::string_view get_string(std::string_view key) const;
  std::vector<std::string_view> get_strings(std::string_view key) const;
  std::vector<float> get_f32s(std::string_view key) const;
  std::vector<int32_t> get_i32s(std::string_view key) const;
  std::vector<uint32_t> get_u32s(std::string_view key) const;

  /// As above, but nothing if the key is absent.
  std::optional<uint32_t> find_u32(std::string_view key) const;
  std::optional<uint64_t> find_u64(std::string_view key) const;
  std::optional<int64_t> find_i64(std::string_view key) const;
  std::optional<float> find_f32(std::string_view key) const;
  std::optional<bool> find_bool(std::string_view key) const;
  std::optional<std::string_view> find_string(std::string_view key) const;
  std::optional<std::vector<std::string_view>> find_strings(std::string_view key) const;
  std::optional<std::vector<float>> find_f32s(std::string_view key) const;
  std::optional<std::vector<int32_t>> find_i32s(std::string_view key) const;
  std::optional<std::vector<uint32_t>> find_u32s(std::string_view key) const;

 private:
  template <typename T>
  std::optional<T> find_as(std::string_view key) const;
  template <typename T>
  std::optional<std::vector<T>> find_all_as(std::string_view key) const;
  template <typename T>
  T required(std::optional<T> found, std::string_view key) const;

  std::shared_ptr<const Storage> storage_;
};

}  // namespace luce::gguf
