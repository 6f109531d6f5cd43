#include "completion/reply/marker_scan.hpp"

#include <algorithm>

#include "completion/reply/incoming.hpp"

namespace luce::completion {

MarkerScan scan_markers(std::string_view text, std::span<const std::string> markers, bool closed) {
  MarkerScan scan{.text_bytes = text.size(), .marker = -1};
  for (size_t i = 0; i < markers.size(); ++i) {
    const size_t found =
        text.substr(0, scan.marker < 0 ? text.size() : scan.text_bytes + markers[i].size() - 1).find(markers[i]);
    if (found == std::string_view::npos || (scan.marker >= 0 && found >= scan.text_bytes)) continue;
    scan = {.text_bytes = found, .marker = static_cast<int>(i)};
  }
  if (scan.marker >= 0 || closed) return scan;
  for (const std::string& marker : markers)
    scan.text_bytes = std::min(scan.text_bytes, text.size() - partial_suffix(text, marker));
  return scan;
}

}  // namespace luce::completion
