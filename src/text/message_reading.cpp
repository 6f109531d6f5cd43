#include "text/message_reading.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& place, const std::string& problem) {
  throw Error(ErrorKind::invalid_request, place + " " + problem, place);
}

std::string read_part(const Json& part, const std::string& place) {
  if (part.is_string()) return part.get<std::string>();
  if (!part.is_object()) refuse(place, fmt::format("must be an object with a type, found {}", part.type_name()));
  const auto type = part.find("type");
  const std::string name = type != part.end() && type->is_string() ? type->get<std::string>() : "text";
  if (name == "refusal" && part.contains("refusal") && part["refusal"].is_string()) return part["refusal"];
  const bool is_text = name == "text" || name == "input_text" || name == "output_text";
  // The type comes from the client; it is short enough to be shown, its data is not.
  if (!is_text) refuse(place, fmt::format("has the type {}, but this model reads text only", name.substr(0, 40)));
  const auto text = part.find("text");
  if (text == part.end() || !text->is_string()) refuse(place + ".text", "must be a text");
  return text->get<std::string>();
}

// Arguments as an object where they can be read as one.
Json read_arguments(const Json& function, const std::string& place, bool as_text) {
  const auto found = function.find("arguments");
  if (found == function.end() || found->is_null()) return as_text ? Json("{}") : Json::object();
  if (as_text) return found->is_string() ? *found : Json(found->dump());
  if (found->is_object()) return *found;
  if (!found->is_string()) refuse(place + ".arguments", "must be a JSON object or its text");
  const std::string& text = found->get_ref<const std::string&>();
  if (is_blank(text)) return Json::object();
  Json parsed = Json::parse(text, nullptr, false);
  if (parsed.is_null()) return Json::object();
  return parsed.is_object() ? parsed : *found;
}

Json read_call(const Json& call, const std::string& place, const CallHabits& habits) {
  if (!call.is_object()) refuse(place, "must be an object");
  const auto function = call.find("function");
  if (function == call.end() || !function->is_object()) refuse(place + ".function", "must be an object");
  const auto name = function->find("name");
  if (name == function->end() || !name->is_string()) refuse(place + ".function.name", "must be a text");
  Json out = call;
  out["function"]["arguments"] = read_arguments(*function, place + ".function", habits.arguments_as_text);
  return out;
}

Json read_calls(const Json& calls, const std::string& place, const CallHabits& habits) {
  if (!calls.is_array()) refuse(place, "must be an array");
  Json out = Json::array();
  for (size_t i = 0; i < calls.size(); ++i) out.push_back(read_call(calls[i], fmt::format("{}[{}]", place, i), habits));
  return out;
}

std::string read_role(const Json& message, const std::string& place) {
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string()) refuse(place + ".role", "must be a text such as \"user\"");
  const std::string name = role->get<std::string>();
  return name == "developer" ? "system" : name;
}

}  // namespace

bool is_blank(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

std::string read_content(const Json& content, const std::string& place) {
  if (content.is_null()) return {};
  if (content.is_string()) return content.get<std::string>();
  if (!content.is_array())
    refuse(place, fmt::format("must be a text or an array of parts, found {}", content.type_name()));
  std::string text;
  for (size_t i = 0; i < content.size(); ++i) text += read_part(content[i], fmt::format("{}[{}]", place, i));
  return text;
}

Json read_message(const Json& message, const std::string& place, const CallHabits& habits) {
  if (!message.is_object()) refuse(place, fmt::format("must be an object, found {}", message.type_name()));
  Json out = Json::object();
  out["role"] = read_role(message, place);
  const auto content = message.find("content");
  out["content"] = content == message.end() ? std::string() : read_content(*content, place + ".content");
  for (const auto& [key, value] : message.items()) {
    if (key == "role" || key == "content" || value.is_null()) continue;
    if (key == "tool_calls") {
      if (!value.empty()) out[key] = read_calls(value, place + ".tool_calls", habits);
    } else {
      out[key] = value;
    }
  }
  const bool empty_beside_calls = out.contains("tool_calls") && is_blank(out["content"].get<std::string>());
  if (empty_beside_calls && habits.null_content) out["content"] = nullptr;
  return out;
}

}  // namespace luce::text
