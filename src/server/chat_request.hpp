#pragma once

#include <string>

#include "server/generation_fields.hpp"

namespace luce::server {

/// A body of POST /v1/chat/completions, checked but for messages and tools, whose shapes Completer::prepare checks.
struct ChatRequest {
  std::string model;
  completion::ChatInput input;
  completion::GenerationSettings settings;
  DeliveryOptions delivery;
};

/// Throws Error{invalid_request} with param() naming the field.
ChatRequest parse_chat_request(Json body, const RequestBounds& bounds);

}  // namespace luce::server
