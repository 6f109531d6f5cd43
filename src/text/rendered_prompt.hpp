#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace luce::text {

/// Bytes [begin, end) of a text.
struct Span {
  size_t begin = 0;
  size_t end = 0;
  bool operator==(const Span&) const = default;
};

/// A prompt with the parts marked that came from the client: text in them never becomes a control token.
struct RenderedPrompt {
  std::string text;
  std::vector<Span> plain_spans;  // ascending, not touching
};

/// True if the prompt ends inside a part that `open` began and `close` did not end, so that a reply begins there: no
/// template text but blanks follows the last `open`, which the template wrote itself unless it is part of `prefill`.
bool ends_inside(const RenderedPrompt& prompt, const std::string& open, const std::string& close, bool prefill);

}  // namespace luce::text
