#include "base/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace luce::base {
namespace {

// Linux moves at most this many bytes in one call.
constexpr uint64_t kMostBytesPerRead = 0x7ffff000;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

[[noreturn]] void fail_to_open(const std::string& path, int error_number) {
  if (error_number == ENOENT || error_number == ENOTDIR) {
    fail(ErrorKind::not_found, "{}: no such file; check the path", path);
  }
  fail(ErrorKind::io, "{}: cannot be opened for reading: {}", path, reason(error_number));
}

const char* kind_of_node(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode) || S_ISSOCK(mode)) return "a pipe or socket";
  return "a device";
}

}  // namespace

FileHandle FileHandle::open(const std::string& path) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail_to_open(path, errno);
  FileHandle file(descriptor, path, 0);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) fail(ErrorKind::io, "{}: its size is not known: {}", path, reason(errno));
  if (!S_ISREG(status.st_mode)) {
    fail(ErrorKind::io, "{}: a regular file was expected, this is {}", path, kind_of_node(status.st_mode));
  }
  file.size_bytes_ = static_cast<uint64_t>(status.st_size);
  return file;
}

FileHandle::FileHandle(int descriptor, std::string path, uint64_t size_bytes)
    : descriptor_(descriptor), path_(std::move(path)), size_bytes_(size_bytes) {}

FileHandle::FileHandle(FileHandle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileHandle::read_exact(uint64_t offset_bytes, std::span<std::byte> out) const {
  if (offset_bytes > size_bytes_ || out.size() > size_bytes_ - offset_bytes) {
    fail(ErrorKind::io, "{}: bytes {} to {} were asked for, the file has {}", path_, offset_bytes,
         offset_bytes + out.size(), size_bytes_);
  }
  while (!out.empty()) {
    const size_t wanted = std::min<uint64_t>(out.size(), kMostBytesPerRead);
    const ssize_t got = ::pread(descriptor_, out.data(), wanted, static_cast<off_t>(offset_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorKind::io, "{}: reading at byte {} failed: {}", path_, offset_bytes, reason(errno));
    if (got == 0) {
      fail(ErrorKind::io, "{}: ends at byte {} though it had {} when it was opened; was it cut or replaced?", path_,
           offset_bytes, size_bytes_);
    }
    offset_bytes += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
}

MappedFile MappedFile::map(const FileHandle& file, uint64_t offset_bytes, uint64_t bytes) {
  if (offset_bytes > file.size_bytes() || bytes > file.size_bytes() - offset_bytes) {
    fail(ErrorKind::io, "{}: {} bytes at byte {} cannot be mapped, the file has {}", file.path(), bytes, offset_bytes,
         file.size_bytes());
  }
  if (bytes == 0) return MappedFile(nullptr, 0, {});
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t lead_bytes = offset_bytes % page_bytes;
  const uint64_t mapped_bytes = bytes + lead_bytes;
  void* base = ::mmap(nullptr, mapped_bytes, PROT_READ, MAP_SHARED, file.descriptor(),
                      static_cast<off_t>(offset_bytes - lead_bytes));
  if (base == MAP_FAILED) {
    fail(ErrorKind::io, "{}: {} bytes at byte {} cannot be mapped: {}", file.path(), bytes, offset_bytes,
         reason(errno));
  }
  return MappedFile(base, mapped_bytes, {static_cast<const std::byte*>(base) + lead_bytes, bytes});
}

MappedFile::MappedFile(void* base, uint64_t mapped_bytes, std::span<const std::byte> bytes)
    : base_(base), mapped_bytes_(mapped_bytes), bytes_(bytes) {}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (base_ != nullptr) ::munmap(base_, mapped_bytes_);
}

}  // namespace luce::base
