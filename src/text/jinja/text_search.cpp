#include "text/jinja/text_search.hpp"

#include <cstring>
#include <vector>

namespace luce::text::jinja {

size_t find_first(Heap& heap, std::string_view text, std::string_view needle, size_t from) {
  if (from > text.size()) return kNotFound;
  if (needle.empty()) return from;
  if (needle.size() > text.size() - from) return kNotFound;
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  const size_t at = found == nullptr ? kNotFound : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  heap.work_on_bytes((found == nullptr ? text.size() : at) - from + needle.size());
  return at;
}

// Knuth, Morris and Pratt, from the end.
size_t find_last(Heap& heap, std::string_view text, std::string_view needle) {
  const size_t size = needle.size();
  if (size == 0) return text.size();
  if (size > text.size()) return kNotFound;
  heap.work_on_bytes(4 * size);
  const auto from_end = [](std::string_view of, size_t i) { return of[of.size() - 1 - i]; };
  std::vector<size_t> border(size, 0);
  for (size_t i = 1, matched = 0; i < size; ++i) {
    while (matched > 0 && from_end(needle, i) != from_end(needle, matched)) matched = border[matched - 1];
    if (from_end(needle, i) == from_end(needle, matched)) ++matched;
    border[i] = matched;
  }
  for (size_t i = 0, matched = 0; i < text.size(); ++i) {
    while (matched > 0 && from_end(text, i) != from_end(needle, matched)) matched = border[matched - 1];
    if (from_end(text, i) == from_end(needle, matched)) ++matched;
    if (matched < size) continue;
    heap.work_on_bytes(4 * i);
    return text.size() - 1 - i;
  }
  heap.work_on_bytes(4 * text.size());
  return kNotFound;
}

}  // namespace luce::text::jinja
