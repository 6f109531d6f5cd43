#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "text/message_folding.hpp"

namespace luce::text {

/// Renders messages beside one tool; nothing if the template refuses them.
using ProbeRender = std::function<std::optional<std::string>(const nlohmann::ordered_json& messages)>;

/// Learns how a template wants earlier tool calls by showing it one in each form.
CallHabits probe_calls(const ProbeRender& render);

}  // namespace luce::text
