#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace luce::base {

/// A file being written front to back under a temporary name beside its own; it gets its name when it is complete.
class OutputFile {
 public:
  /// Creates `path`.part; throws io.
  explicit OutputFile(const std::string& path);
  /// Deletes the temporary file if commit() was not reached.
  ~OutputFile();

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;

  void append(std::span<const std::byte> bytes);
  void append_zeros(uint64_t count);
  /// Bytes appended so far.
  uint64_t size_bytes() const { return size_bytes_; }
  /// Writes what is buffered and renames the file to its path, replacing what was there.
  void commit();

 private:
  void flush();
  void write_all(std::span<const std::byte> bytes);

  std::string path_;
  std::string temporary_path_;
  int descriptor_ = -1;
  uint64_t size_bytes_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace luce::base
