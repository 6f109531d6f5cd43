#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "text/rendered_prompt.hpp"

namespace luce::text {

class Vocabulary;

/// A chat as the API gives it, with what else a template may ask for.
struct ChatInput {
  nlohmann::ordered_json messages;  // array
  nlohmann::ordered_json tools;     // array or null
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking;     // beats template_kwargs.enable_thinking; empty: as the template has it
  nlohmann::ordered_json template_kwargs;  // object or null; never replaces messages, tools or add_generation_prompt
  std::tm now{};                           // local time, for templates that print the date
};

struct ChatPrompt : RenderedPrompt {
  bool opens_thinking = false;  // the reply begins inside <think>
  bool prefill = false;         // the reply continues the last message, an assistant's
};

/// Texts of the tokens that templates name.
struct TemplateTokens {
  std::string bos;
  std::string eos;
  std::string unknown;
  std::string padding;

  static TemplateTokens of(const Vocabulary& vocabulary);
};

/// A model's chat template. Immutable and thread-safe: a rendering that fails leaves nothing behind.
class ChatTemplate {
 public:
  /// Throws invalid_file with line and column if the source cannot be parsed.
  explicit ChatTemplate(std::string_view source, const TemplateTokens& tokens = {});
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

  /// The prompt of a chat as clients send it; message_folding.hpp tells what is evened out. Throws invalid_request:
  /// with param() for a malformed message, with the template's own text if it refuses the chat.
  ChatPrompt render(const ChatInput& input) const;
  /// The prompt of messages that are just as the template wants them. Throws as above.
  RenderedPrompt render_as_given(const ChatInput& input) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace luce::text
