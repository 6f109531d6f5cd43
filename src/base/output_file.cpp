#include "base/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace luce::base {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), temporary_path_(path + ".part") {
  descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(ErrorKind::io, "{}: cannot be created: {}", temporary_path_, reason(errno));
  buffer_.reserve(kBufferBytes);
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_path_.c_str());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_path_(std::move(other.temporary_path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_bytes_(other.size_bytes_),
      buffer_(std::move(other.buffer_)) {}

void OutputFile::append(std::span<const std::byte> bytes) {
  size_bytes_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes) {
    write_all(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void OutputFile::append_zeros(uint64_t count) {
  const std::vector<std::byte> zeros(std::min<uint64_t>(count, kBufferBytes / 2));
  while (count > 0) {
    const uint64_t now = std::min<uint64_t>(count, zeros.size());
    append(std::span(zeros).first(now));
    count -= now;
  }
}

void OutputFile::commit() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    const int error_number = errno;
    ::unlink(temporary_path_.c_str());
    fail(ErrorKind::io, "{}: closing failed: {}", temporary_path_, reason(error_number));
  }
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    fail(ErrorKind::io, "{}: cannot be renamed to {}: {}", temporary_path_, path_, reason(errno));
  }
}

void OutputFile::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void OutputFile::write_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fail(ErrorKind::io, "{}: writing failed after {} bytes: {}", temporary_path_, size_bytes_, reason(errno));
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

}  // namespace luce::base
