#pragma once

#include "server/field_reader.hpp"

namespace luce::server {

/// A body of POST /v1/messages (Anthropic API) as one of /v1/chat/completions, which is checked further by
/// parse_chat_request(). Tool results become messages of their own, thinking blocks reasoning. Throws
/// Error{invalid_request} with param() naming the field.
Json chat_of_messages(const Json& body);

}  // namespace luce::server
