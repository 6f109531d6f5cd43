#include "gguf/split.hpp"

#include <string_view>

#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::gguf {
namespace {

constexpr std::string_view kSuffix = ".gguf";

std::string tail(uint32_t number, uint32_t count) { return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count); }

}  // namespace

SplitPosition read_split(const std::string& path, const Metadata& metadata) {
  SplitPosition position;
  position.count = metadata.find_u32("split.count").value_or(1);
  position.number = metadata.find_u32("split.no").value_or(0);
  if (position.count == 0) position.count = 1;
  if (position.count > 65535 || position.number >= position.count) {
    fail(ErrorKind::invalid_file,
         "{}: split.no is {} and split.count is {}, expected a part below a count of at most {}", path, position.number,
         position.count, 65535);
  }
  return position;
}

SplitNames::SplitNames(const std::string& path, SplitPosition position) : count_(position.count) {
  const std::string expected_tail = tail(position.number, position.count);
  if (!path.ends_with(expected_tail)) {
    fail(ErrorKind::invalid_file,
         "{}: is part {} of a model split into {} files, so its name should end in '{}'; rename the parts to that "
         "pattern and keep them in one folder",
         path, position.number + 1, position.count, expected_tail);
  }
  base_ = path.substr(0, path.size() - expected_tail.size());
}

std::string SplitNames::make(std::string base, uint32_t number, uint32_t count) {
  if (base.ends_with(kSuffix)) base.resize(base.size() - kSuffix.size());
  return base + tail(number, count);
}

}  // namespace luce::gguf
