#include "text/detokenizer.hpp"

#include "text/utf8.hpp"

namespace luce::text {

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  std::string out;
  size_t at = 0;
  while (at < pending_.size()) {
    const Utf8Char step = decode_utf8(pending_, at);
    if (step.status == Utf8Status::incomplete) break;
    append_utf8(out, step.code_point);
    at += step.size_bytes;
  }
  pending_.erase(0, at);
  return out;
}

std::string Utf8Stream::flush() {
  if (pending_.empty()) return {};
  pending_.clear();
  return "\xEF\xBF\xBD";
}

std::string Detokenizer::token_bytes(int32_t id) const {
  if (!vocabulary_.contains(id)) return {};
  const TokenType type = vocabulary_.type(id);
  const bool hidden = type == TokenType::control || type == TokenType::unknown;
  return hidden && !options_.show_control ? std::string() : vocabulary_.bytes(id);
}

std::string Detokenizer::push(int32_t id) {
  std::string bytes = token_bytes(id);
  if (at_start_ && !bytes.empty()) {
    if (bytes.front() == ' ') bytes.erase(0, 1);
    at_start_ = false;
  }
  return stream_.push(bytes);
}

std::string decode(const Vocabulary& vocabulary, std::span<const int32_t> ids, bool show_control) {
  Detokenizer detokenizer(vocabulary, {show_control, vocabulary.add_space_prefix()});
  std::string text;
  for (const int32_t id : ids) text += detokenizer.push(id);
  return text + detokenizer.flush();
}

}  // namespace luce::text
