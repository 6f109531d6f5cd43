#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"

namespace luce::gguf {

/// A run of bytes of the header, as positions, since the bytes move while they are being loaded.
struct Place {
  uint64_t begin = 0;
  uint64_t size = 0;
};

/// Reads a header front to back; checks every size against the bytes that are left before it loads or follows it.
class HeaderCursor {
 public:
  /// Loads from `file` as it goes; `file` must outlive the cursor.
  explicit HeaderCursor(const base::FileHandle& file);
  /// Reads a header that lies in memory; `name` stands for the file in messages.
  HeaderCursor(std::string name, std::vector<std::byte> bytes);

  const std::string& name() const { return name_; }
  uint64_t position() const { return position_; }
  uint64_t remaining() const { return size_bytes_ - position_; }
  uint64_t size_bytes() const { return size_bytes_; }
  std::string_view text(Place place) const;

  /// What is being read, for messages: a noun and, if known, the name of the thing.
  void set_subject(const char* noun, Place name = {});
  std::string subject() const;

  /// The next number, little endian.
  template <typename T>
  T number() {
    const Place place = take(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + place.begin, sizeof(T));
    return value;
  }
  /// The next string: a length of 8 bytes and its text.
  Place string();
  Place take(uint64_t bytes);
  /// Up to `most` next bytes, without moving on.
  std::string_view peek(uint64_t most);
  /// Fails unless `count` things of at least `bytes_each` bytes can follow.
  void expect_room(uint64_t count, uint64_t bytes_each);

  /// All bytes up to the position; the cursor is of no use afterwards.
  std::vector<std::byte> release();

 private:
  void load(uint64_t end);

  std::string name_;
  const base::FileHandle* file_ = nullptr;
  std::vector<std::byte> bytes_;
  uint64_t size_bytes_ = 0;
  uint64_t position_ = 0;
  const char* noun_ = "the header";
  Place subject_name_;
};

}  // namespace luce::gguf
