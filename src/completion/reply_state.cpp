#include "completion/reply_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace luce::completion {

Reply::State::State(engine::RequestHandle handle, const text::Vocabulary& vocabulary,
                    std::shared_ptr<const ReplyPlan> plan, const GenerationSettings& settings)
    : handle_(std::move(handle)),
      vocabulary_(vocabulary),
      plan_(std::move(plan)),
      logprobs_(settings.sampling.logprobs),
      detokenizer_(vocabulary, {.show_control = true}),
      reader_(plan_->reader(settings.stop)) {
  if (plan_->chat) markup_tokens_ = token_ids(plan_->format->markup_tokens, vocabulary);
}

std::optional<TextEvent> Reply::State::next(std::chrono::milliseconds timeout) {
  const engine::Clock::time_point deadline = engine::Clock::now() + timeout;
  while (ready_.empty()) {
    if (ended_ || handle_.ended()) return std::nullopt;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - engine::Clock::now());
    const std::optional<engine::Event> event = handle_.next_event(std::max(left, std::chrono::milliseconds(0)));
    if (!event) return std::nullopt;
    take(*event);
  }
  TextEvent event = std::move(ready_.front());
  ready_.pop_front();
  ended_ = std::holds_alternative<Done>(event) || std::holds_alternative<Failure>(event);
  return event;
}

void Reply::State::take(const engine::Event& event) {
  if (const auto* token = std::get_if<engine::Token>(&event)) return take_token(*token);
  if (const auto* finished = std::get_if<engine::Finished>(&event))
    return take_end(finished->reason == engine::FinishReason::length, finished->stats);
  const auto& failed = std::get<engine::Failed>(event);
  if (reader_->stopped()) return take_end(false, failed.stats);  // it had all that it wanted before
  ready_.push_back(Failure{.kind = failed.kind, .message = failed.message});
}

bool Reply::State::is_shown(int32_t token) const {
  if (!vocabulary_.contains(token)) return false;
  return vocabulary_.type(token) != text::TokenType::control || markup_tokens_.contains(token);
}

TokenText Reply::State::token_text(const engine::Token& token) const {
  TokenText text{.chosen = {.bytes = detokenizer_.token_bytes(token.id), .logprob = token.logprob}};
  for (const sampling::TokenLogprob& other : token.top)
    text.top.push_back({.bytes = detokenizer_.token_bytes(other.token), .logprob = other.logprob});
  return text;
}

void Reply::State::take_token(const engine::Token& token) {
  if (reader_->stopped()) return;  // generated before the engine heard of the stop
  ++usage_.completion_tokens;
  if (reader_->reasoning_end() == kStillReasoning) reasoning_tokens_at_.push_back(text_bytes_);
  if (is_shown(token.id)) {
    const std::string text = detokenizer_.push(token.id);
    text_bytes_ += text.size();
    add(reader_->push(text, logprobs_ ? std::optional(token_text(token)) : std::nullopt));
  }
  if (reader_->stopped()) handle_.stop();
}

void Reply::State::take_end(bool cut, const engine::RequestStats& stats) {
  const bool by_limit = cut && !reader_->stopped();
  if (!reader_->stopped()) add(reader_->push(detokenizer_.flush(), std::nullopt));
  add(reader_->finish(by_limit));
  usage_.reasoning_tokens = static_cast<int>(std::count_if(reasoning_tokens_at_.begin(), reasoning_tokens_at_.end(),
                                                           [&](size_t at) { return at < reader_->reasoning_end(); }));
  usage_.prompt_tokens = stats.prompt_tokens;
  usage_.cached_tokens = stats.cached_tokens;
  ready_.push_back(Done{
      .end = reply_end(*reader_, by_limit), .stop_string = reader_->stop_string(), .usage = usage_, .stats = stats});
}

void Reply::State::add(std::vector<TextEvent> events) {
  ready_.insert(ready_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
}

}  // namespace luce::completion
