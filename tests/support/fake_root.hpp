#pragma once

#include <map>
#include <string>

#include "support/temporary_folder.hpp"

namespace luce::support {

/// A folder that stands before /proc and /sys.
class FakeRoot {
 public:
  using Files = std::map<std::string, std::string>;  // by path, as "/proc/meminfo"

  explicit FakeRoot(const Files& files);
  /// Writes or replaces a file; readers see the old or the new text, never a part.
  void set(const std::string& name, const std::string& text) const;
  std::string path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace luce::support
