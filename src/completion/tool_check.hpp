#pragma once

#include "completion/input.hpp"

namespace luce::completion {

/// The tools of a chat request with what templates rely on filled in; null if there are none. Throws
/// Error{invalid_request} with param() naming the entry.
Json checked_tools(const Json& tools);

/// Throws Error{invalid_request} with param "tool_choice" if it asks for what `tools`, checked, do not offer.
void check_tool_choice(const ToolChoice& choice, const Json& tools);

}  // namespace luce::completion
