#pragma once

#include <nlohmann/json.hpp>

namespace luce::text {

/// How a template wants the tool calls of earlier turns.
struct CallHabits {
  bool arguments_as_text = false;  // as JSON text instead of an object
  bool null_content = false;       // content beside calls is null instead of "" when there is none
};

/// The messages of a chat as templates expect them. Content becomes one text; `developer` becomes `system`; leading
/// system messages are joined with an empty line between; arguments of tool calls become objects, or stay the text
/// they are if that is no JSON object; null and empty keys go, as do blank system messages and blank assistant
/// messages at the end. Throws invalid_request whose param() names the message at fault.
nlohmann::ordered_json even_out(const nlohmann::ordered_json& messages, const CallHabits& habits);

// Changes for templates that refuse what they are given. Each gives false if there was nothing to change.

/// System messages behind the first other message become user messages, wrapped in <system-reminder>.
bool fold_late_systems(nlohmann::ordered_json& messages);
/// Arguments that are no JSON object become the only member of one.
bool wrap_broken_arguments(nlohmann::ordered_json& messages);
/// Ids of calls, in calls and results alike, become nine letters and digits (templates of Mistral take no other); equal
/// ids stay equal.
bool shorten_call_ids(nlohmann::ordered_json& messages);
/// Neighbouring user messages, and neighbouring assistant messages without calls, become one, an empty line between.
bool merge_neighbours(nlohmann::ordered_json& messages);
/// The system message goes into the first user message, an empty line between.
bool move_system_to_user(nlohmann::ordered_json& messages);

/// True if the last message is an assistant's for the model to continue.
bool ends_with_prefill(const nlohmann::ordered_json& messages);

}  // namespace luce::text
