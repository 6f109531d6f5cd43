#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gguf/metadata.hpp"

namespace luce::gguf {

/// Which part of a split model a file is.
struct SplitPosition {
  uint32_t number = 0;  // from 0
  uint32_t count = 1;
};

/// Reads split.no and split.count; a file without them is part 0 of 1.
SplitPosition read_split(const std::string& path, const Metadata& metadata);

/// Names the parts of a model after the path of any of them: <base>-00001-of-00003.gguf and so on.
class SplitNames {
 public:
  /// Throws invalid_file if the name does not follow that pattern or disagrees with `position`.
  SplitNames(const std::string& path, SplitPosition position);
  /// Writes names for `count` new parts; a ".gguf" at the end of `base` is dropped.
  static std::string make(std::string base, uint32_t number, uint32_t count);

  std::string path(uint32_t number) const { return make(base_, number, count_); }

 private:
  std::string base_;
  uint32_t count_;
};

}  // namespace luce::gguf
