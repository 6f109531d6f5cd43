#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "text/message_folding.hpp"

namespace luce::text {

/// One message of a chat, checked and evened out. `place` names it in errors, for example "messages[3]".
nlohmann::ordered_json read_message(const nlohmann::ordered_json& message, const std::string& place,
                                    const CallHabits& habits);

/// Content as one text: null, a text, or text parts with nothing between. Throws invalid_request naming other parts.
std::string read_content(const nlohmann::ordered_json& content, const std::string& place);

/// Nothing but white space.
bool is_blank(const std::string& text);

}  // namespace luce::text
