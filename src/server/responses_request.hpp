#pragma once

#include "server/field_reader.hpp"

namespace luce::server {

/// A body of POST /v1/responses as one of /v1/chat/completions, which is checked further by parse_chat_request(). Tools
/// that the server would have to run are left out with a warning in the log; what needs stored responses is refused.
/// Throws Error{invalid_request} with param() naming the field.
Json chat_of_responses(const Json& body);

}  // namespace luce::server
