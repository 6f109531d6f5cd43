#include "server/chat_request.hpp"

#include <algorithm>

#include "base/format.hpp"

namespace luce::server {
namespace {

using completion::ToolChoice;
using completion::ToolMode;

std::string function_name(const Json& tool) {
  if (!tool.is_object()) return {};
  const auto function = tool.find("function");
  if (function == tool.end() || !function->is_object()) return {};
  const auto name = function->find("name");
  return name == function->end() || !name->is_string() ? std::string() : name->get<std::string>();
}

bool offers(const Json& tools, const std::string& name) {
  return std::any_of(tools.begin(), tools.end(), [&name](const Json& each) { return function_name(each) == name; });
}

ToolChoice parse_choice_word(const std::string& word) {
  if (word == "auto") return {ToolMode::automatic, {}};
  if (word == "none") return {ToolMode::none, {}};
  if (word == "required") return {ToolMode::required, {}};
  refuse_field("tool_choice", "must be none, auto, required or a function");
}

ToolChoice parse_tool_choice(const FieldReader& fields, const Json& tools) {
  const Json* const choice = fields.find("tool_choice");
  if (choice == nullptr) return {};
  ToolChoice parsed;
  if (choice->is_string()) {
    parsed = parse_choice_word(choice->get<std::string>());
  } else {
    parsed = {ToolMode::named, function_name(*choice)};
    if (parsed.name.empty()) refuse_field("tool_choice", "must be none, auto, required or {type, function: {name}}");
    if (!offers(tools, parsed.name))
      refuse_field("tool_choice", fmt::format("names '{:.64}', which is not among the tools", parsed.name));
  }
  if (parsed.mode == ToolMode::required && tools.empty())
    refuse_field("tool_choice", "is required but there are no tools");
  return parsed;
}

// What templates know: gpt-oss takes three efforts, others only whether there is reasoning at all.
const char* template_effort(const std::string& effort) {
  if (effort == "none" || effort == "minimal" || effort == "low") return "low";
  if (effort == "medium") return "medium";
  if (effort == "high" || effort == "xhigh") return "high";
  refuse_field("reasoning_effort", "must be none, minimal, low, medium, high or xhigh");
}

void parse_thinking(const FieldReader& fields, completion::ChatInput& input) {
  const auto effort = fields.string("reasoning_effort", 64);
  input.enable_thinking = effort == "none" ? std::optional(false) : fields.boolean("enable_thinking");
  if (!effort) return;
  const char* const known = template_effort(*effort);
  if (!input.template_kwargs.is_object()) input.template_kwargs = Json::object();
  if (!input.template_kwargs.contains("reasoning_effort")) input.template_kwargs["reasoning_effort"] = known;
}

void parse_logprobs(const FieldReader& fields, sampling::SamplingSettings& out) {
  out.logprobs = fields.boolean("logprobs").value_or(false);
  const auto top = fields.integer("top_logprobs", 0, 20);
  if (top.value_or(0) > 0 && !out.logprobs) refuse_field("top_logprobs", "needs 'logprobs' to be true");
  out.top_logprobs = top.value_or(0);
}

Json take(Json& body, const char* name) {
  const auto found = body.find(name);
  return found == body.end() ? Json() : std::move(*found);
}

}  // namespace

ChatRequest parse_chat_request(Json body, const RequestBounds& bounds) {
  const FieldReader fields(body);
  ChatRequest request;
  request.model = parse_model(body);
  request.settings = parse_generation(body, bounds);
  request.delivery = parse_delivery(body, bounds);
  parse_logprobs(fields, request.settings.sampling);
  request.input.parallel_tool_calls = fields.boolean("parallel_tool_calls").value_or(true);
  fields.object("chat_template_kwargs");
  const Json* const messages = fields.find("messages");
  if (messages == nullptr || !messages->is_array()) refuse_field("messages", "must be an array of messages");
  if (const Json* tools = fields.find("tools"); tools != nullptr && !tools->is_array())
    refuse_field("tools", "must be an array");
  request.input.tools = take(body, "tools");
  request.input.tool_choice = parse_tool_choice(fields, request.input.tools);
  request.input.messages = take(body, "messages");
  request.input.template_kwargs = take(body, "chat_template_kwargs");
  parse_thinking(fields, request.input);
  return request;
}

}  // namespace luce::server
