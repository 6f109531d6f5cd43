#include "experts/profile_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"

namespace luce::experts {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{64} << 20;  // a profile of 100 layers of 1024 experts has 2 MB
constexpr size_t kPieceBytes = size_t{64} << 10;

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::string target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

[[noreturn]] void fail_save(const std::string& path, const char* what, int error_number) {
  fail(ErrorKind::io, "{}: {} failed: {}; check the folder's rights and free space", path, what,
       std::generic_category().message(error_number));
}

/// Throws after removing what was begun.
class Draft {
 public:
  Draft(ProfileDisk& disk, std::string path) : disk_(disk), path_(std::move(path)), descriptor_(disk.create(path_)) {
    if (descriptor_ < 0) fail_save(path_, "creating", errno);
  }
  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = disk_.write(descriptor_, text.substr(0, kPieceBytes));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) give_up("writing", written == 0 ? ENOSPC : errno);
      text.remove_prefix(static_cast<size_t>(written));
    }
  }
  void finish(const std::string& target) {
    if (disk_.sync(descriptor_) != 0) give_up("syncing", errno);
    const int closed = disk_.close(std::exchange(descriptor_, -1));
    if (closed != 0) give_up("closing", errno);
    if (disk_.rename(path_, target) != 0) give_up("renaming", errno);
  }

 private:
  [[noreturn]] void give_up(const char* what, int error_number) {
    if (descriptor_ >= 0) disk_.close(descriptor_);
    disk_.remove(path_);
    fail_save(path_, what, error_number);
  }

  ProfileDisk& disk_;
  std::string path_;
  int descriptor_;
};

}  // namespace

int ProfileDisk::create(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

ssize_t ProfileDisk::write(int descriptor, std::string_view bytes) {
  return ::write(descriptor, bytes.data(), bytes.size());
}

int ProfileDisk::sync(int descriptor) { return ::fsync(descriptor); }

int ProfileDisk::close(int descriptor) { return ::close(descriptor); }

int ProfileDisk::rename(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str());
}

int ProfileDisk::sync_folder(const std::string& path) {
  const int descriptor = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  const int result = ::fsync(descriptor);
  ::close(descriptor);
  return result;
}

int ProfileDisk::remove(const std::string& path) { return ::unlink(path.c_str()); }

void replace_file(ProfileDisk& disk, const std::string& path, std::string_view text) {
  const std::string target = target_of(path);
  Draft draft(disk, target + ".tmp");
  draft.write(text);
  draft.finish(target);
  // The new file is in place; a file system that cannot sync folders loses at most this save in a power cut.
  disk.sync_folder(target);
}

std::string read_whole_file(const std::string& path) {
  const base::FileHandle file = base::FileHandle::open(path);
  if (file.size_bytes() > kMaxBytes)
    fail(ErrorKind::invalid_file, "it has {} bytes, no profile is that large", file.size_bytes());
  std::string text(file.size_bytes(), '\0');
  file.read_exact(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace luce::experts
