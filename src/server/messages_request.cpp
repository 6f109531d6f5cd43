#include "server/messages_request.hpp"

#include <utility>

#include "base/format.hpp"

namespace luce::server {
namespace {

std::string text_at(const Json& object, const char* name, const std::string& place) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) refuse_field(fmt::format("{}.{}", place, name), "must be a string");
  return *found;
}

// A text or a list of blocks; other blocks than text are passed on for the model's own refusal.
Json content_of(const Json& content, const std::string& place) {
  if (content.is_null()) return "";
  if (content.is_string()) return content;
  if (!content.is_array()) refuse_field(place, "must be a string or an array of blocks");
  Json parts = Json::array();
  for (size_t i = 0; i < content.size(); ++i) {
    if (!content[i].is_object()) refuse_field(fmt::format("{}[{}]", place, i), "must be an object");
    parts.push_back(content[i]);
    parts.back().erase("cache_control");
  }
  return parts;
}

Json tool_call_of(const Json& block, const std::string& place) {
  Json input = block.value("input", Json::object());
  if (input.is_null()) input = Json::object();
  return {{"id", text_at(block, "id", place)},
          {"type", "function"},
          {"function", {{"name", text_at(block, "name", place)}, {"arguments", std::move(input)}}}};
}

/// Parts one message into those that the chat API has for it.
class MessageParts {
 public:
  MessageParts(const Json& message, std::string place) : message_(message), place_(std::move(place)) {}

  void add_to(Json& messages) {
    if (!message_.is_object()) refuse_field(place_, "must be an object");
    const std::string role = text_at(message_, "role", place_);
    const Json content = content_of(message_.value("content", Json()), place_ + ".content");
    Json rest = message_;
    rest.erase("content");
    if (content.is_string()) {
      rest["content"] = content;
      messages.push_back(std::move(rest));
      return;
    }
    for (size_t i = 0; i < content.size(); ++i) take(content[i], fmt::format("{}.content[{}]", place_, i), messages);
    const bool only_results = results_ && parts_.empty() && calls_.empty();
    if (only_results) return;
    rest["content"] = std::move(parts_);
    if (!thinking_.empty()) rest["reasoning_content"] = thinking_;
    if (!calls_.empty()) rest["tool_calls"] = std::move(calls_);
    messages.push_back(std::move(rest));
  }

 private:
  void take(const Json& block, const std::string& place, Json& messages) {
    const std::string type = text_at(block, "type", place);
    if (type == "thinking") {
      thinking_ += text_at(block, "thinking", place);
    } else if (type == "tool_use") {
      calls_.push_back(tool_call_of(block, place));
    } else if (type == "tool_result") {
      results_ = true;
      messages.push_back({{"role", "tool"},
                          {"tool_call_id", text_at(block, "tool_use_id", place)},
                          {"content", content_of(block.value("content", Json()), place + ".content")}});
    } else if (type != "redacted_thinking") {
      parts_.push_back(block);
    }
  }

  const Json& message_;
  std::string place_;
  Json parts_ = Json::array();
  Json calls_ = Json::array();
  std::string thinking_;
  bool results_ = false;
};

Json tools_of(const Json& tools) {
  if (!tools.is_array()) refuse_field("tools", "must be an array");
  Json out = Json::array();
  for (size_t i = 0; i < tools.size(); ++i) {
    const std::string place = fmt::format("tools[{}]", i);
    if (!tools[i].is_object()) refuse_field(place, "must be an object");
    Json function = {{"name", text_at(tools[i], "name", place)}};
    if (const auto about = tools[i].find("description"); about != tools[i].end()) function["description"] = *about;
    const auto schema = tools[i].find("input_schema");
    if (schema == tools[i].end() || !schema->is_object())
      refuse_field(place + ".input_schema", "must be an object; tools that a server runs are not offered here");
    function["parameters"] = *schema;
    if (tools[i].value("strict", Json()) == true) function["strict"] = true;
    out.push_back({{"type", "function"}, {"function", std::move(function)}});
  }
  return out;
}

void take_tool_choice(const FieldReader& fields, Json& chat) {
  const Json* const choice = fields.object("tool_choice");
  if (choice == nullptr) return;
  const FieldReader inner(*choice, "tool_choice.");
  const std::string type = inner.string("type", 64).value_or("");
  if (type == "auto" || type == "none")
    chat["tool_choice"] = type;
  else if (type == "any")
    chat["tool_choice"] = "required";
  else if (type == "tool")
    chat["tool_choice"] = {{"type", "function"}, {"function", {{"name", text_at(*choice, "name", "tool_choice")}}}};
  else
    refuse_field("tool_choice.type", "must be auto, any, tool or none");
  if (inner.boolean("disable_parallel_tool_use").value_or(false)) chat["parallel_tool_calls"] = false;
}

void take_thinking(const FieldReader& fields, Json& chat) {
  const Json* const thinking = fields.object("thinking");
  if (thinking == nullptr) return;
  const FieldReader inner(*thinking, "thinking.");
  const std::string type = inner.string("type", 64).value_or("");
  if (type == "adaptive") return;
  if (type != "enabled" && type != "disabled") refuse_field("thinking.type", "must be enabled, disabled or adaptive");
  chat["enable_thinking"] = type == "enabled";
  if (const auto budget = inner.integer("budget_tokens", 0, 1 << 30); budget && type == "enabled")
    chat["thinking_budget_tokens"] = *budget;
}

}  // namespace

Json chat_of_messages(const Json& body) {
  const FieldReader fields(body);
  Json chat = Json::object();
  for (const char* same : {"model", "max_tokens", "temperature", "top_p", "top_k", "stream", "metadata", "seed",
                           "session_id", "chat_template_kwargs"})
    if (body.contains(same)) chat[same] = body[same];
  if (const Json* stops = fields.find("stop_sequences"); stops != nullptr) {
    if (!stops->is_array()) refuse_field("stop_sequences", "must be an array of strings");
    chat["stop"] = *stops;
  }
  Json messages = Json::array();
  if (const Json* system = fields.find("system"); system != nullptr)
    messages.push_back({{"role", "system"}, {"content", content_of(*system, "system")}});
  const Json* const given = fields.find("messages");
  if (given == nullptr || !given->is_array() || given->empty())
    refuse_field("messages", "must be an array with at least one message");
  for (size_t i = 0; i < given->size(); ++i) MessageParts((*given)[i], fmt::format("messages[{}]", i)).add_to(messages);
  chat["messages"] = std::move(messages);
  if (const Json* tools = fields.find("tools"); tools != nullptr) chat["tools"] = tools_of(*tools);
  take_tool_choice(fields, chat);
  take_thinking(fields, chat);
  return chat;
}

}  // namespace luce::server
