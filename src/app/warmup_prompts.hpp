#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace luce::app {

/// One request of a warm-up: what a client would post to /v1/chat/completions, without model and max_tokens.
struct WarmupPrompt {
  std::string name;
  nlohmann::ordered_json body;
};

/// Prompts of the main kinds of use: chat, questions on a text, summaries, code, translation, structured output.
std::vector<WarmupPrompt> standard_prompts();

/// Prompts of a file, one a line: text of a user, or a JSON object that is posted as it is, such as one with "messages"
/// and "metadata". Empty lines are skipped. Throws Error{usage}.
std::vector<WarmupPrompt> read_prompts(const std::string& path);

}  // namespace luce::app
