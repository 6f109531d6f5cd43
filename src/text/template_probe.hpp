#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "text/message_folding.hpp"

namespace luce::text {

/// What a template does with messages, as found out by showing it some.
struct TemplateHabits {
  CallHabits calls;
  bool drops_system = false;        // a system message at the begin is left out without a word
  bool drops_late_systems = false;  // as are those behind the first other message
};

/// Renders messages, beside one tool or none; nothing if the template refuses them.
using ProbeRender = std::function<std::optional<std::string>(const nlohmann::ordered_json& messages, bool with_tool)>;

TemplateHabits probe_habits(const ProbeRender& render);

}  // namespace luce::text
