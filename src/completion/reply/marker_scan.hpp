#pragma once

#include <span>
#include <string>
#include <string_view>

namespace luce::completion {

/// Where markup begins in a text: `text_bytes` before it are text, whatever follows. `marker` is the index of the first
/// of the markers that is there, or -1 if none is complete.
struct MarkerScan {
  size_t text_bytes = 0;
  int marker = -1;
};

/// `closed`: nothing follows, so a part of a marker at the end is text.
MarkerScan scan_markers(std::string_view text, std::span<const std::string> markers, bool closed);

}  // namespace luce::completion
