#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace luce::experts {

/// The calls a save makes, one each, so that tests can fail or kill at every one. Results and errno are as in POSIX.
class ProfileDisk {
 public:
  virtual ~ProfileDisk() = default;
  /// Opens a new or emptied file for writing.
  virtual int create(const std::string& path);
  virtual ssize_t write(int descriptor, std::string_view bytes);
  virtual int sync(int descriptor);
  virtual int close(int descriptor);
  virtual int rename(const std::string& from, const std::string& to);
  /// Makes renames in the folder of this file last.
  virtual int sync_folder(const std::string& path);
  virtual int remove(const std::string& path);
};

/// Replaces the file as a whole: whenever the process or the machine stops, the path holds the old text or the new one.
/// A link is followed. Throws Error{io}; the old file is then as it was.
void replace_file(ProfileDisk& disk, const std::string& path, std::string_view text);

/// Throws Error{not_found | io}, and Error{invalid_file} for what is larger than any profile.
std::string read_whole_file(const std::string& path);

}  // namespace luce::experts
