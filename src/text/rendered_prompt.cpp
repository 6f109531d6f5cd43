#include "text/rendered_prompt.hpp"

#include <algorithm>

namespace luce::text {
namespace {

bool is_plain(const RenderedPrompt& prompt, size_t at) {
  const auto after = std::upper_bound(prompt.plain_spans.begin(), prompt.plain_spans.end(), at,
                                      [](size_t position, const Span& span) { return position < span.begin; });
  return after != prompt.plain_spans.begin() && at < std::prev(after)->end;
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

bool ends_inside(const RenderedPrompt& prompt, const std::string& open, const std::string& close, bool prefill) {
  const std::string& text = prompt.text;
  const size_t opened = text.rfind(open);
  if (open.empty() || opened == std::string::npos) return false;
  const size_t tail = opened + open.size();
  if (!close.empty() && text.find(close, tail) != std::string::npos) return false;
  if (is_plain(prompt, opened) && !prefill) return false;
  for (size_t at = tail; at < text.size(); ++at) {
    if (!is_blank(text[at]) && !(prefill && is_plain(prompt, at))) return false;
  }
  return true;
}

}  // namespace luce::text
