#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "completion/input.hpp"
#include "completion/text_event.hpp"
#include "completion/thinking_budget.hpp"
#include "engine/engine.hpp"

namespace luce::text {
class ChatTemplate;
class Tokenizer;
}  // namespace luce::text

namespace luce::completion {

struct ReplyPlan;
struct ReplyFormat;
class TokenTable;

/// A prompt ready to run any number of times.
struct Prompt {
  std::string text = {};  // empty when it was given as tokens
  std::vector<int32_t> tokens = {};
  std::vector<int> turn_ends = {};             // positions for Request::turn_ends
  std::shared_ptr<const ReplyPlan> plan = {};  // how its reply is read: reasoning, tool calls, constraint
};

/// One running reply. Read by one thread; cancel() may come from any. Its destructor cancels what still runs.
class Reply {
 public:
  Reply(Reply&&) noexcept;
  Reply& operator=(Reply&&) noexcept;
  ~Reply();

  /// The next event; nothing when `timeout` passes first or Done or Failure was already given.
  std::optional<TextEvent> next(std::chrono::milliseconds timeout);
  bool ended() const;
  void cancel();

 private:
  friend class Completer;
  class State;
  explicit Reply(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// As engine::SubmitResult.
using StartResult = std::variant<Reply, engine::QueueFull, engine::Stopping, engine::ContextOverflow, engine::Held>;

/// The sentence of the OpenAI API that clients match on to shorten their chat.
std::string overflow_message(const engine::ContextOverflow& overflow, int max_tokens);

/// Text in, text events out, for one loaded model. Thread-safe.
class Completer {
 public:
  /// All must outlive the completer. `chat_template` is null for a model without one: then chats are refused.
  /// `template_source` is its text, which tells how replies are written; empty: the vocabulary's own.
  Completer(engine::Engine& engine, const text::Tokenizer& tokenizer, const text::ChatTemplate* chat_template,
            std::string_view template_source = {});

  /// Renders and tokenises a chat. Throws Error{invalid_request} with param() naming the field at fault.
  Prompt prepare(const ChatInput& input, const GenerationSettings& settings) const;
  /// A raw prompt for text completion; special tokens in it count as such.
  Prompt prepare(std::string_view text, const GenerationSettings& settings) const;
  Prompt prepare(std::vector<int32_t> tokens, const GenerationSettings& settings) const;

  /// Starts choice number `choice` of a reply.
  StartResult start(const Prompt& prompt, const GenerationSettings& settings, int choice) const;

 private:
  std::shared_ptr<const TokenTable> token_table() const;
  std::unique_ptr<sampling::TokenConstraint> constraint(const ReplyPlan& plan,
                                                        const GenerationSettings& settings) const;
  ThinkingBudget::Tags thinking_tags(const ReplyPlan& plan) const;

  engine::Engine& engine_;
  const text::Tokenizer& tokenizer_;
  const text::ChatTemplate* chat_template_;
  std::shared_ptr<const ReplyFormat> format_;
  mutable std::once_flag token_table_once_;  // made when output is first constrained
  mutable std::shared_ptr<const TokenTable> token_table_;
};

}  // namespace luce::completion
