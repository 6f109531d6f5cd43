#include "app/chat_session.hpp"

#include <chrono>
#include <utility>

#include "base/error.hpp"

namespace luce::app {
namespace {

using completion::Json;

constexpr auto kPoll = std::chrono::milliseconds(50);

completion::Reply started(completion::StartResult result, int max_tokens) {
  if (auto* reply = std::get_if<completion::Reply>(&result)) return std::move(*reply);
  if (const auto* overflow = std::get_if<engine::ContextOverflow>(&result))
    throw Error(ErrorKind::context_overflow, completion::overflow_message(*overflow, max_tokens));
  fail(ErrorKind::overloaded, "the engine takes no request now");
}

}  // namespace

ChatSession::ChatSession(const completion::Completer& completer, const ChatSettings& settings,
                         const std::atomic<bool>& interrupted)
    : completer_(completer), settings_(settings), interrupted_(interrupted) {}

void ChatSession::reset() { messages_ = Json::array(); }

bool ChatSession::can_retry() const { return !messages_.empty(); }

Json ChatSession::messages_with_system() const {
  Json messages = Json::array();
  if (!system_.empty()) messages.push_back({{"role", "system"}, {"content", system_}});
  for (const Json& each : messages_) messages.push_back(each);
  return messages;
}

completion::GenerationSettings ChatSession::generation() const {
  completion::GenerationSettings generation;
  generation.sampling = settings_.sampling;
  generation.seed = settings_.seed;
  generation.max_tokens = settings_.max_tokens;
  generation.session_id = "terminal";
  return generation;
}

completion::Done ChatSession::ask(const std::string& text, const AnswerSink& sink) {
  messages_.push_back({{"role", "user"}, {"content", text}});
  try {
    return answer_messages(sink);
  } catch (...) {
    messages_.erase(messages_.size() - 1);
    throw;
  }
}

completion::Done ChatSession::retry(const AnswerSink& sink) {
  while (!messages_.empty() && messages_.back()["role"] != "user") messages_.erase(messages_.size() - 1);
  return answer_messages(sink);
}

completion::Done ChatSession::answer_messages(const AnswerSink& sink) {
  completion::ChatInput input;
  input.messages = messages_with_system();
  std::string answer;
  completion::Done done = run(completer_.prepare(input, generation()), sink, answer);
  messages_.push_back({{"role", "assistant"}, {"content", answer}});
  return done;
}

completion::Done ChatSession::complete(const std::string& text, const AnswerSink& sink) {
  std::string answer;
  return run(completer_.prepare(std::string_view(text), generation()), sink, answer);
}

completion::Done ChatSession::run(const completion::Prompt& prompt, const AnswerSink& sink, std::string& answer) {
  completion::Reply reply = started(completer_.start(prompt, generation(), 0), settings_.max_tokens);
  was_interrupted_ = false;
  while (!was_interrupted_) {
    const auto event = reply.next(kPoll);
    was_interrupted_ = interrupted_;
    if (!event) continue;
    if (const auto* reasoning = std::get_if<completion::ReasoningDelta>(&*event)) sink.reasoning(reasoning->text);
    if (const auto* content = std::get_if<completion::ContentDelta>(&*event)) {
      answer += content->text;
      sink.content(content->text);
    }
    if (const auto* failure = std::get_if<completion::Failure>(&*event)) throw Error(failure->kind, failure->message);
    if (const auto* done = std::get_if<completion::Done>(&*event)) {
      add(done->stats);
      return *done;
    }
  }
  reply.cancel();
  return {};
}

void ChatSession::add(const engine::RequestStats& stats) {
  totals_.prompt_tokens += stats.prompt_tokens;
  totals_.cached_tokens += stats.cached_tokens;
  totals_.generated_tokens += stats.generated_tokens;
  totals_.prompt_seconds += stats.prompt_seconds;
  totals_.decode_seconds += stats.decode_seconds;
  totals_.experts.hits += stats.experts.hits;
  totals_.experts.misses += stats.experts.misses;
  totals_.experts.bytes_fetched += stats.experts.bytes_fetched;
  totals_.experts.stall_ms += stats.experts.stall_ms;
}

}  // namespace luce::app
