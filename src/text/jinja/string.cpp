#include "text/jinja/string.hpp"

#include <algorithm>
#include <utility>

#include "text/jinja/error.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {

String String::literal(std::string text) {
  if (text.empty()) return {};
  auto data = std::make_shared<Data>();
  data->ascii = text::is_ascii(text);
  data->bytes = std::move(text);
  return String(std::move(data));
}

Origin String::origin_at(size_t byte) const {
  const std::span<const Span> spans = plain_spans();
  const auto span = std::upper_bound(spans.begin(), spans.end(), byte,
                                     [](size_t position, const Span& candidate) { return position < candidate.end; });
  return span != spans.end() && span->begin <= byte ? Origin::plain : Origin::trusted;
}

size_t String::length() const { return is_ascii() ? size() : count_code_points(view()); }

size_t String::offset_of(size_t index) const {
  if (is_ascii()) return std::min(index, size());
  const std::string_view text = view();
  size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += utf8_size(text[at]);
  return std::min(at, text.size());
}

StringBuilder::~StringBuilder() { heap_.give(charged_bytes_); }

void StringBuilder::grow(size_t bytes) {
  if (bytes > heap_.limits().string_bytes - std::min(bytes_.size(), heap_.limits().string_bytes)) {
    raise_limit("the template makes a text of more than {} MiB", heap_.limits().string_bytes >> 20);
  }
  heap_.work_on_bytes(bytes);
  heap_.take(bytes);
  charged_bytes_ += bytes;
}

void StringBuilder::mark(size_t begin, size_t end) {
  if (begin == end) return;
  if (!plain_.empty() && plain_.back().end == begin) {
    plain_.back().end = end;
    return;
  }
  heap_.take(sizeof(Span));
  charged_bytes_ += sizeof(Span);
  plain_.push_back({begin, end});
}

void StringBuilder::append(std::string_view text, Origin origin) {
  grow(text.size());
  if (origin == Origin::plain) mark(size(), size() + text.size());
  bytes_ += text;
}

void StringBuilder::append(const String& text, size_t begin, size_t end) {
  grow(end - begin);
  const std::span<const Span> spans = text.plain_spans();
  const size_t shift = size();
  auto span = std::upper_bound(spans.begin(), spans.end(), begin,
                               [](size_t position, const Span& candidate) { return position < candidate.end; });
  for (; span != spans.end() && span->begin < end; ++span) {
    mark(shift + std::max(span->begin, begin) - begin, shift + std::min(span->end, end) - begin);
  }
  bytes_ += text.view().substr(begin, end - begin);
}

void StringBuilder::append_times(const String& text, size_t count) {
  if (text.empty() || count == 0) return;
  const size_t limit = heap_.limits().string_bytes;
  if (count > limit / text.size()) raise_limit("the template makes a text of more than {} MiB", limit >> 20);
  if (!text.plain_spans().empty()) {
    for (size_t i = 0; i < count; ++i) append(text);
    return;
  }
  grow(text.size() * count);
  bytes_.reserve(bytes_.size() + text.size() * count);
  for (size_t i = 0; i < count; ++i) bytes_ += text.view();
}

void StringBuilder::shorten(size_t size) {
  bytes_.resize(std::min(size, bytes_.size()));
  while (!plain_.empty() && plain_.back().begin >= bytes_.size()) plain_.pop_back();
  if (!plain_.empty()) plain_.back().end = std::min(plain_.back().end, bytes_.size());
}

String StringBuilder::finish(bool markup) {
  if (bytes_.empty() && !markup) return {};
  heap_.take(sizeof(String::Data));
  charged_bytes_ += sizeof(String::Data);
  auto data = std::make_shared<String::Data>();
  data->ascii = text::is_ascii(bytes_);
  data->bytes = std::move(bytes_);
  data->plain = std::move(plain_);
  data->markup = markup;
  data->heap = &heap_;
  data->charged_bytes = std::exchange(charged_bytes_, 0);
  bytes_.clear();
  plain_.clear();
  return String(std::move(data));
}

RenderedPrompt StringBuilder::release() {
  RenderedPrompt prompt{std::move(bytes_), std::move(plain_)};
  bytes_.clear();
  plain_.clear();
  return prompt;
}

String make_string(Heap& heap, std::string_view text, Origin origin) {
  StringBuilder builder(heap);
  builder.append(text, origin);
  return builder.finish();
}

String slice(Heap& heap, const String& text, size_t begin, size_t end) {
  if (begin == 0 && end == text.size()) return text;
  StringBuilder builder(heap);
  builder.append(text, begin, end);
  return builder.finish();
}

String concatenate(Heap& heap, const String& a, const String& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  StringBuilder builder(heap);
  builder.append(a);
  builder.append(b);
  return builder.finish();
}

}  // namespace luce::text::jinja
