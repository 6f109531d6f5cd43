#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "server/generation_fields.hpp"

namespace luce::server {

using RawPrompt = std::variant<std::string, std::vector<int32_t>>;

/// A body of POST /v1/completions.
struct CompletionRequest {
  std::string model;
  std::vector<RawPrompt> prompts;  // at least one; choice i belongs to prompt i / n
  completion::GenerationSettings settings;
  DeliveryOptions delivery;  // choices: of each prompt
  bool echo = false;         // the prompt's text begins each choice
};

/// Throws Error{invalid_request} with param() naming the field.
CompletionRequest parse_completion_request(const Json& body, const RequestBounds& bounds);

}  // namespace luce::server
