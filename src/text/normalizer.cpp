#include "text/normalizer.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "text/utf8.hpp"

namespace luce::text {
namespace {

// All characters below U+0300 compose with nothing before them.
bool surely_normalized(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

int combining_class(utf8proc_int32_t code_point) { return utf8proc_get_property(code_point)->combining_class; }

std::vector<utf8proc_int32_t> decompose(std::string_view text) {
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size());
  std::array<utf8proc_int32_t, 32> parts{};  // the longest canonical decomposition has 4
  for (size_t at = 0; at < text.size();) {
    const Utf8Char step = decode_utf8(text, at);
    const auto code_point = static_cast<utf8proc_int32_t>(step.code_point);
    const auto count = utf8proc_decompose_char(code_point, parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
                                               UTF8PROC_DECOMPOSE, nullptr);
    if (count > 0 && count <= static_cast<utf8proc_ssize_t>(parts.size())) {
      out.insert(out.end(), parts.begin(), parts.begin() + count);
    } else {
      out.push_back(code_point);
    }
    at += step.size_bytes;
  }
  return out;
}

// utf8proc's own ordering takes quadratic time on long runs of marks.
void sort_marks(std::vector<utf8proc_int32_t>& text) {
  for (size_t begin = 0; begin < text.size();) {
    if (combining_class(text[begin]) == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<ptrdiff_t>(begin), text.begin() + static_cast<ptrdiff_t>(end),
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

}  // namespace

std::string normalize_nfc(std::string_view text) {
  if (surely_normalized(text)) return std::string(text);
  std::vector<utf8proc_int32_t> code_points = decompose(text);
  sort_marks(code_points);
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  const auto count =
      utf8proc_normalize_utf32(code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()), options);
  std::string out;
  out.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    append_utf8(out, static_cast<char32_t>(code_points[static_cast<size_t>(i)]));
  return out;
}

}  // namespace luce::text
