#include <utf8proc.h>

#include <array>

#include "text/jinja/text_operations.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

struct Expansion {
  char32_t from;
  std::string_view upper;
  std::string_view title;
};

// Characters that become several when their case changes.
constexpr std::array<Expansion, 11> kExpansions = {{{0xDF, "SS", "Ss"},
                                                    {0x149, "\xCA\xBCN", "\xCA\xBCN"},
                                                    {0x1F0, "J\xCC\x8C", "J\xCC\x8C"},
                                                    {0x587, "\xD4\xB5\xD5\x92", "\xD4\xB5\xD6\x82"},
                                                    {0xFB00, "FF", "Ff"},
                                                    {0xFB01, "FI", "Fi"},
                                                    {0xFB02, "FL", "Fl"},
                                                    {0xFB03, "FFI", "Ffi"},
                                                    {0xFB04, "FFL", "Ffl"},
                                                    {0xFB05, "ST", "St"},
                                                    {0xFB06, "ST", "St"}}};

const Expansion* expansion_of(char32_t c) {
  for (const Expansion& candidate : kExpansions) {
    if (candidate.from == c) return &candidate;
  }
  return nullptr;
}

using Map = utf8proc_int32_t (*)(utf8proc_int32_t);

void put(std::string& out, Map map, char32_t c) {
  append_utf8(out, static_cast<char32_t>(map(static_cast<utf8proc_int32_t>(c))));
}

bool is_cased(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

std::string upper(char32_t c) {
  std::string out;
  const Expansion* expansion = expansion_of(c);
  if (expansion != nullptr) return std::string(expansion->upper);
  put(out, utf8proc_toupper, c);
  return out;
}

std::string title(char32_t c) {
  std::string out;
  const Expansion* expansion = expansion_of(c);
  if (expansion != nullptr) return std::string(expansion->title);
  put(out, utf8proc_totitle, c);
  return out;
}

std::string lower(char32_t c) {
  if (c == 0x130) return "i\xCC\x87";
  std::string out;
  put(out, utf8proc_tolower, c);
  return out;
}

std::string folded(char32_t c) {
  std::array<utf8proc_int32_t, 8> parts{};
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), parts.size(),
                                             static_cast<utf8proc_option_t>(UTF8PROC_CASEFOLD), nullptr);
  std::string out;
  for (utf8proc_ssize_t i = 0; i < count && i < static_cast<utf8proc_ssize_t>(parts.size()); ++i) {
    append_utf8(out, static_cast<char32_t>(parts[static_cast<size_t>(i)]));
  }
  return out;
}

// The Greek sigma has a form of its own at the end of a word.
bool is_final_sigma(std::string_view text, size_t at, bool after_cased) {
  if (!after_cased) return false;
  const size_t next = at + 2;
  return next >= text.size() || !is_cased(decode_utf8(text, next).code_point);
}

std::string changed(Casing casing, char32_t c, bool after_cased, bool first) {
  switch (casing) {
    case Casing::upper: return upper(c);
    case Casing::lower: return lower(c);
    case Casing::capitalized: return first ? title(c) : lower(c);
    case Casing::title: return after_cased ? lower(c) : title(c);
    case Casing::swapped:
      return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LU ? lower(c) : upper(c);
    case Casing::folded: return folded(c);
  }
  return {};
}

}  // namespace

String change_case(Heap& heap, const String& text, Casing casing) {
  StringBuilder out(heap);
  const std::string_view view = text.view();
  heap.work(view.size() / 8);
  bool after_cased = false;
  for (size_t at = 0; at < view.size();) {
    const Utf8Char step = decode_utf8(view, at);
    const bool lowers = casing == Casing::lower || (casing == Casing::capitalized && at > 0) || casing == Casing::title;
    if (lowers && step.code_point == 0x3A3 && is_final_sigma(view, at, after_cased)) {
      out.append("\xCF\x82", text.origin_at(at));
    } else {
      out.append(changed(casing, step.code_point, after_cased, at == 0), text.origin_at(at));
    }
    after_cased = is_cased(step.code_point);
    at += step.size_bytes;
  }
  return out.finish();
}

}  // namespace luce::text::jinja
