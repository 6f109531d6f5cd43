#pragma once

#include <optional>
#include <string>

#include "app/chat_session.hpp"
#include "app/line_editor.hpp"
#include "app/model_assembly.hpp"

namespace luce::app {

/// A line about speed and cache, from the figures of one answer or of several.
std::string stats_line(const engine::RequestStats& stats, const ModelAssembly& assembly);

/// Talks with a person: reads lines from standard input, streams answers to standard output, obeys /commands. Colours
/// only where output is a terminal.
class ChatTerminal {
 public:
  ChatTerminal(ChatSession& session, const ModelAssembly& assembly);

  /// Until the end of input or /quit.
  void talk();
  /// One answer to standard output; a line feed ends it.
  void answer_once(const std::string& prompt, bool raw);

 private:
  bool read_message(std::string& text);
  bool obey(const std::string& line);
  void show_help() const;
  void answer(const std::string& text);
  AnswerSink sink();
  void end_answer(const completion::Done& done);
  std::string dim(const std::string& text) const;

  ChatSession& session_;
  const ModelAssembly& assembly_;
  bool output_is_terminal_;
  bool input_is_terminal_;
  std::optional<LineEditor> editor_;  // while a person types at a terminal
  bool in_reasoning_ = false;
  char last_character_ = '\n';
};

}  // namespace luce::app
