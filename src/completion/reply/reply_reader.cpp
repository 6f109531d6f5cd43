#include "completion/reply/reply_reader.hpp"

#include <random>

namespace luce::completion {

ReplyEnd reply_end(const ReplyReader& reader, bool cut) {
  if (cut) return ReplyEnd::length;
  return reader.has_calls() ? ReplyEnd::tool_calls : ReplyEnd::stop;
}

std::string random_letters(int count) {
  static constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  thread_local std::mt19937_64 random((uint64_t{std::random_device{}()} << 32) | std::random_device{}());
  std::string letters;
  for (int i = 0; i < count; ++i) letters.push_back(kLetters[random() % kLetters.size()]);
  return letters;
}

std::string random_call_id() { return "call_" + random_letters(24); }

}  // namespace luce::completion
