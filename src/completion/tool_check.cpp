#include "completion/tool_check.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::completion {

namespace {

constexpr size_t kMostTools = 1024;

[[noreturn]] void refuse(const std::string& param, const std::string& what) {
  throw Error(ErrorKind::invalid_request, fmt::format("{} {}", param, what), param);
}

Json checked_function(const Json& function, const std::string& place) {
  if (!function.is_object()) refuse(place, "must be an object with a name");
  const auto name = function.find("name");
  if (name == function.end() || !name->is_string() || name->get_ref<const std::string&>().empty())
    refuse(place + ".name", "must be a string that is not empty");
  Json checked = function;
  Json& parameters = checked["parameters"];
  if (parameters.is_null()) parameters = {{"type", "object"}, {"properties", Json::object()}};
  if (!parameters.is_object()) refuse(place + ".parameters", "must be a JSON schema, that is an object");
  return checked;
}

Json checked_tool(const Json& tool, const std::string& place) {
  if (!tool.is_object()) refuse(place, "must be an object");
  const auto type = tool.find("type");
  if (type == tool.end() || *type != "function") refuse(place + ".type", "must be \"function\"");
  if (!tool.contains("function")) refuse(place + ".function", "is missing");
  Json checked = tool;
  checked["function"] = checked_function(tool["function"], place + ".function");
  return checked;
}

}  // namespace

Json checked_tools(const Json& tools) {
  if (tools.is_null()) return nullptr;
  if (!tools.is_array()) refuse("tools", "must be an array");
  if (tools.size() > kMostTools)
    refuse("tools", fmt::format("holds {} entries; the most is {}", tools.size(), kMostTools));
  Json checked = Json::array();
  for (size_t i = 0; i < tools.size(); ++i)
    if (!tools[i].is_null()) checked.push_back(checked_tool(tools[i], fmt::format("tools[{}]", i)));
  return checked.empty() ? Json() : checked;
}

void check_tool_choice(const ToolChoice& choice, const Json& tools) {
  if (choice.mode == ToolMode::automatic || choice.mode == ToolMode::none) return;
  if (tools.is_null()) refuse("tool_choice", "asks for a call, but the request offers no tools");
  if (choice.mode == ToolMode::required) return;
  const bool offered = std::any_of(tools.begin(), tools.end(),
                                   [&](const Json& tool) { return tool["function"]["name"] == choice.name; });
  if (!offered)
    refuse("tool_choice", fmt::format("names the function \"{}\", which tools does not offer", choice.name));
}

}  // namespace luce::completion
