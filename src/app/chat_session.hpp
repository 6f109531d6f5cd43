#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "app/settings.hpp"
#include "completion/completer.hpp"
#include "completion/text_event.hpp"

namespace luce::app {

/// Where the parts of an answer go.
struct AnswerSink {
  std::function<void(const std::string&)> reasoning;
  std::function<void(const std::string&)> content;
};

/// A conversation with one model: messages so far and the totals of all answers.
class ChatSession {
 public:
  /// `interrupted` ends the answer that runs. Both must outlive the session.
  ChatSession(const completion::Completer& completer, const ChatSettings& settings,
              const std::atomic<bool>& interrupted);

  /// Adds the user's message and the answer to the conversation; if it was interrupted, what there is of it.
  completion::Done ask(const std::string& text, const AnswerSink& sink);
  /// Answers the last message of the user once more.
  completion::Done retry(const AnswerSink& sink);
  bool can_retry() const;
  /// Continues a text as it is, without chat template and outside of the conversation.
  completion::Done complete(const std::string& text, const AnswerSink& sink);

  void set_system(const std::string& text) { system_ = text; }
  void set_temperature(float temperature) { settings_.sampling.temperature = temperature; }
  void reset();

  bool was_interrupted() const { return was_interrupted_; }
  const engine::RequestStats& totals() const { return totals_; }

 private:
  completion::Json messages_with_system() const;
  completion::GenerationSettings generation() const;
  completion::Done run(const completion::Prompt& prompt, const AnswerSink& sink, std::string& answer);
  completion::Done answer_messages(const AnswerSink& sink);
  void add(const engine::RequestStats& stats);

  const completion::Completer& completer_;
  ChatSettings settings_;
  const std::atomic<bool>& interrupted_;
  std::string system_;
  completion::Json messages_ = completion::Json::array();
  engine::RequestStats totals_;
  bool was_interrupted_ = false;
};

}  // namespace luce::app
