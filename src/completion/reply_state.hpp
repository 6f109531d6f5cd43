#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_set>

#include "completion/completer.hpp"
#include "completion/reply/reply_reader.hpp"
#include "completion/reply_plan.hpp"
#include "text/detokenizer.hpp"

namespace luce::completion {

/// Reads the engine's tokens of one reply and gives its text events.
class Reply::State {
 public:
  State(engine::RequestHandle handle, const text::Vocabulary& vocabulary, std::shared_ptr<const ReplyPlan> plan,
        const GenerationSettings& settings);

  std::optional<TextEvent> next(std::chrono::milliseconds timeout);
  bool ended() const { return ended_; }
  void cancel() { handle_.cancel(); }

 private:
  void take(const engine::Event& event);
  void take_token(const engine::Token& token);
  void take_end(bool cut, const engine::RequestStats& stats);
  void add(std::vector<TextEvent> events);
  bool is_shown(int32_t token) const;
  TokenText token_text(const engine::Token& token) const;

  engine::RequestHandle handle_;
  const text::Vocabulary& vocabulary_;
  std::shared_ptr<const ReplyPlan> plan_;
  bool logprobs_;
  std::unordered_set<int32_t> markup_tokens_;  // control tokens that the reader needs to see
  text::Detokenizer detokenizer_;
  std::unique_ptr<ReplyReader> reader_;
  std::deque<TextEvent> ready_;
  Usage usage_;
  size_t text_bytes_ = 0;                      // that the reader was given
  std::vector<size_t> reasoning_tokens_at_{};  // where the text of tokens in the reasoning begins
  bool ended_ = false;
};

}  // namespace luce::completion
