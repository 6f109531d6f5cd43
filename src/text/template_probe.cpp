#include "text/template_probe.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;

// The id has the nine characters that some templates insist on.
Json conversation(const CallHabits& habits) {
  Json arguments = Json::object({{"probe_key", "probe_value"}});
  if (habits.arguments_as_text) arguments = arguments.dump();
  Json call = Json::object({{"id", "call12345"}, {"type", "function"}});
  call["function"] = Json::object({{"name", "probe_call"}, {"arguments", arguments}});
  Json assistant = Json::object({{"role", "assistant"}, {"content", ""}});
  if (habits.null_content) assistant["content"] = nullptr;
  assistant["tool_calls"] = Json::array({call});
  Json messages = Json::array();
  messages.push_back(Json::object({{"role", "user"}, {"content", "probe"}}));
  messages.push_back(assistant);
  messages.push_back(Json::object(
      {{"role", "tool"}, {"tool_call_id", "call12345"}, {"name", "probe_call"}, {"content", "probe_result"}}));
  return messages;
}

// The call is there, and its arguments are neither Python's text of a dict nor JSON written twice.
bool shows_call(const std::string& prompt, const CallHabits& habits) {
  const auto has = [&](const char* text) { return prompt.find(text) != std::string::npos; };
  if (!has("probe_call") || !has("probe_value")) return false;
  return !has("'probe_key'") && !has("\\\"probe_key") && !(habits.null_content && has("None"));
}

CallHabits probe_calls(const ProbeRender& render) {
  for (const bool as_text : {false, true}) {
    for (const bool null_content : {false, true}) {
      const CallHabits habits{as_text, null_content};
      const auto prompt = render(conversation(habits), true);
      if (prompt && shows_call(*prompt, habits)) return habits;
    }
  }
  return {};
}

Json message(const char* role, const char* content) { return Json::object({{"role", role}, {"content", content}}); }

// A refusal is no drop: then the messages are changed when it happens.
bool drops_probe(const ProbeRender& render, const Json& messages) {
  const auto prompt = render(messages, false);
  return prompt && prompt->find("probe_system") == std::string::npos;
}

}  // namespace

TemplateHabits probe_habits(const ProbeRender& render) {
  TemplateHabits habits;
  habits.calls = probe_calls(render);
  const Json system = message("system", "probe_system");
  const Json user = message("user", "probe_user");
  habits.drops_system = drops_probe(render, Json::array({system, user}));
  habits.drops_late_systems =
      drops_probe(render, Json::array({user, message("assistant", "probe_answer"), system, user}));
  return habits;
}

}  // namespace luce::text
