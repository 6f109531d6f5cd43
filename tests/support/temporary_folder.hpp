#pragma once

#include <span>
#include <string>
#include <string_view>

namespace luce::support {

/// A folder for files of one test, removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Path of `name` in the folder, whether it exists or not.
  std::string path(const std::string& name = "") const;
  /// Writes a file and gives its path.
  std::string write(const std::string& name, std::span<const std::byte> content) const;
  std::string write(const std::string& name, std::string_view content) const;

 private:
  std::string root_;
};

}  // namespace luce::support
