#include "completion/reply/marker_scan.hpp"

#include <algorithm>

#include "completion/reply/incoming.hpp"

namespace luce::completion {

namespace {

int marker_at(std::string_view text, std::span<const std::string> markers) {
  for (size_t i = 0; i < markers.size(); ++i)
    if (text.starts_with(markers[i])) return static_cast<int>(i);
  return -1;
}

}  // namespace

MarkerScan scan_markers(std::string_view text, std::span<const std::string> markers, bool closed) {
  std::string first_bytes;
  for (const std::string& marker : markers) first_bytes.push_back(marker.front());
  for (size_t at = text.find_first_of(first_bytes); at != std::string_view::npos;
       at = text.find_first_of(first_bytes, at + 1)) {
    if (const int marker = marker_at(text.substr(at), markers); marker >= 0)
      return {.text_bytes = at, .marker = marker};
  }
  MarkerScan scan{.text_bytes = text.size(), .marker = -1};
  if (closed) return scan;
  for (const std::string& marker : markers)
    scan.text_bytes = std::min(scan.text_bytes, text.size() - partial_suffix(text, marker));
  return scan;
}

}  // namespace luce::completion
