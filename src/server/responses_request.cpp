#include "server/responses_request.hpp"

#include <utility>

#include "base/format.hpp"
#include "base/log.hpp"

namespace luce::server {
namespace {

constexpr size_t kMostShownType = 40;  // bytes: types come from the client

std::string text_at(const Json& object, const char* name, const std::string& place) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) refuse_field(fmt::format("{}.{}", place, name), "must be a string");
  return *found;
}

Json content_at(const Json& item, const char* name, const std::string& place) {
  const Json content = item.value(name, Json());
  if (!content.is_string() && !content.is_array())
    refuse_field(fmt::format("{}.{}", place, name), "must be a string or an array of parts");
  return content;
}

std::string joined_texts(const Json& parts) {
  std::string text;
  if (parts.is_array())
    for (const Json& part : parts)
      if (part.is_object() && part.value("text", Json()).is_string()) text += part["text"].get<std::string>();
  return text;
}

/// The items of an input as messages: reasoning and calls join the assistant's message beside them.
class InputItems {
 public:
  Json take_all(const Json& items) {
    for (size_t i = 0; i < items.size(); ++i) take(items[i], fmt::format("input[{}]", i));
    return std::move(messages_);
  }

 private:
  void take(const Json& item, const std::string& place) {
    if (!item.is_object()) refuse_field(place, "must be an object");
    const std::string type = item.contains("type") ? text_at(item, "type", place) : "message";
    if (type == "message") {
      add_message(item, place);
    } else if (type == "reasoning") {
      reasoning_ += joined_texts(item.value("content", Json())) + joined_texts(item.value("summary", Json()));
    } else if (type == "function_call") {
      Json& calls = assistant()["tool_calls"];
      calls.push_back(
          {{"id", text_at(item, "call_id", place)},
           {"type", "function"},
           {"function", {{"name", text_at(item, "name", place)}, {"arguments", text_at(item, "arguments", place)}}}});
    } else if (type == "function_call_output") {
      messages_.push_back({{"role", "tool"},
                           {"tool_call_id", text_at(item, "call_id", place)},
                           {"content", content_at(item, "output", place)}});
    } else {
      refuse_field(place + ".type",
                   fmt::format("is {}, which is not offered: only messages, reasoning and function calls are",
                               type.substr(0, kMostShownType)));
    }
  }

  void add_message(const Json& item, const std::string& place) {
    const std::string role = text_at(item, "role", place);
    if (role == "assistant") {
      assistant(true)["content"] = content_at(item, "content", place);
      return;
    }
    Json message = item;
    message.erase("type");
    message["content"] = content_at(item, "content", place);
    messages_.push_back(std::move(message));
  }

  // The assistant's message that goes on, or a new one with the reasoning before it.
  Json& assistant(bool fresh = false) {
    const bool goes_on = !fresh && !messages_.empty() && messages_.back()["role"] == "assistant" && reasoning_.empty();
    if (!goes_on) messages_.push_back({{"role", "assistant"}, {"content", ""}});
    if (!reasoning_.empty()) messages_.back()["reasoning_content"] = std::exchange(reasoning_, {});
    return messages_.back();
  }

  Json messages_ = Json::array();
  std::string reasoning_;
};

Json messages_of(const FieldReader& fields) {
  Json messages = Json::array();
  if (const Json* text = fields.find("instructions"); text != nullptr) {
    if (!text->is_string()) refuse_field("instructions", "must be a string");
    messages.push_back({{"role", "system"}, {"content", *text}});
  }
  const Json* const input = fields.find("input");
  if (input == nullptr) refuse_field("input", "must be a string or an array of items");
  if (input->is_string()) {
    messages.push_back({{"role", "user"}, {"content", *input}});
    return messages;
  }
  if (!input->is_array() || input->empty()) refuse_field("input", "must be a string or an array of items");
  for (Json& message : InputItems().take_all(*input)) messages.push_back(std::move(message));
  return messages;
}

Json tools_of(const Json& tools) {
  if (!tools.is_array()) refuse_field("tools", "must be an array");
  Json out = Json::array();
  std::string skipped;
  for (size_t i = 0; i < tools.size(); ++i) {
    const std::string place = fmt::format("tools[{}]", i);
    if (!tools[i].is_object()) refuse_field(place, "must be an object");
    const std::string type = text_at(tools[i], "type", place);
    if (type != "function") {
      skipped += (skipped.empty() ? "" : ", ") + type.substr(0, kMostShownType);
      continue;
    }
    Json function = tools[i];
    function.erase("type");
    out.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  if (!skipped.empty()) base::log_warning("tools of these types are not offered and were left out: {}", skipped);
  return out;
}

void take_tool_choice(const FieldReader& fields, Json& chat) {
  const Json* const choice = fields.find("tool_choice");
  if (choice == nullptr) return;
  if (choice->is_string()) {
    chat["tool_choice"] = *choice;
    return;
  }
  if (!choice->is_object() || choice->value("type", Json()) != "function")
    refuse_field("tool_choice", "must be none, auto, required or a function");
  chat["tool_choice"] = {{"type", "function"}, {"function", {{"name", text_at(*choice, "name", "tool_choice")}}}};
}

void take_text_format(const FieldReader& fields, Json& chat) {
  const Json* const text = fields.object("text");
  if (text == nullptr) return;
  const Json* const format = FieldReader(*text, "text.").object("format");
  if (format == nullptr) return;
  const std::string type = FieldReader(*format, "text.format.").string("type", 64).value_or("");
  if (type != "text" && type != "json_object" && type != "json_schema")
    refuse_field("text.format.type", "must be text, json_object or json_schema");
  chat["response_format"] = {{"type", type}};
  if (type == "json_schema") chat["response_format"]["json_schema"] = *format;
}

}  // namespace

Json chat_of_responses(const Json& body) {
  const FieldReader fields(body);
  Json chat = Json::object();
  for (const char* same : {"model", "temperature", "top_p", "stream", "metadata", "parallel_tool_calls", "seed",
                           "session_id", "chat_template_kwargs"})
    if (body.contains(same)) chat[same] = body[same];
  for (const char* stored : {"previous_response_id", "conversation"})
    if (fields.find(stored) != nullptr)
      refuse_field(stored, "is not offered: responses are not stored; send the input");
  if (fields.boolean("background").value_or(false)) refuse_field("background", "is not offered");
  if (const auto most = fields.integer("max_output_tokens", -1, 1 << 30)) chat["max_tokens"] = *most;
  if (const Json* reasoning = fields.object("reasoning"); reasoning != nullptr)
    if (const auto effort = FieldReader(*reasoning, "reasoning.").string("effort", 64))
      chat["reasoning_effort"] = *effort;
  chat["messages"] = messages_of(fields);
  if (const Json* tools = fields.find("tools"); tools != nullptr) chat["tools"] = tools_of(*tools);
  take_tool_choice(fields, chat);
  take_text_format(fields, chat);
  return chat;
}

}  // namespace luce::server
