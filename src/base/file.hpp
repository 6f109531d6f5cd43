#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace luce::base {

/// A regular file open for positional reads; closes itself. Reads are thread-safe.
class FileHandle {
 public:
  /// Throws not_found, or io for what is no regular file or cannot be read.
  static FileHandle open(const std::string& path);

  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  /// The descriptor, owned by this object; for asynchronous reads.
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }
  /// Size when it was opened.
  uint64_t size_bytes() const { return size_bytes_; }

  /// Fills `out` from `offset_bytes`; throws io if the system refuses or the file has become shorter.
  void read_exact(uint64_t offset_bytes, std::span<std::byte> out) const;

 private:
  FileHandle(int descriptor, std::string path, uint64_t size_bytes);

  int descriptor_ = -1;
  std::string path_;
  uint64_t size_bytes_ = 0;
};

/// A range of a file mapped read-only; unmaps itself. Touching it after the file was cut kills the process (SIGBUS).
class MappedFile {
 public:
  /// Any offset is fine, page alignment is done inside. The range must lie within the file.
  static MappedFile map(const FileHandle& file, uint64_t offset_bytes, uint64_t bytes);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile(void* base, uint64_t mapped_bytes, std::span<const std::byte> bytes);

  void* base_ = nullptr;
  uint64_t mapped_bytes_ = 0;
  std::span<const std::byte> bytes_;
};

}  // namespace luce::base
