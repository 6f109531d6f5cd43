#include "server/chat_format.hpp"

#include <type_traits>

namespace luce::server {
namespace {

using namespace completion;

Json logprob_entry(const TextLogprob& token) {
  Json bytes = Json::array();
  for (const char byte : token.bytes) bytes.push_back(static_cast<unsigned char>(byte));
  return {{"token", replace_invalid_utf8(token.bytes)},
          {"logprob", finite_logprob(token.logprob)},
          {"bytes", std::move(bytes)}};
}

Json logprob_entries(const std::vector<TokenText>& tokens) {
  Json entries = Json::array();
  for (const TokenText& each : tokens) {
    Json entry = logprob_entry(each.chosen);
    entry["top_logprobs"] = Json::array();
    for (const TextLogprob& top : each.top) entry["top_logprobs"].push_back(logprob_entry(top));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Json tool_call(const ToolCallBegin& begin) {
  return {{"id", begin.id}, {"type", "function"}, {"function", {{"name", begin.name}, {"arguments", ""}}}};
}

Json indexed(int index, const Json& call) {
  Json entry = {{"index", index}};
  entry.update(call);
  return entry;
}

}  // namespace

ChatFormat::ChatFormat(ReplyIdentity identity, int choices, bool logprobs)
    : identity_(std::move(identity)), logprobs_(logprobs), messages_(static_cast<size_t>(choices)) {}

Json ChatFormat::envelope(const char* object) const {
  return {{"id", identity_.id}, {"object", object}, {"created", identity_.created}, {"model", identity_.model}};
}

Json ChatFormat::chunk(int choice, Json delta) const {
  Json body = envelope("chat.completion.chunk");
  Json entry = {{"index", choice}, {"delta", std::move(delta)}, {"logprobs", nullptr}, {"finish_reason", nullptr}};
  body["choices"] = Json::array({std::move(entry)});
  return body;
}

Json ChatFormat::delta_of(const TextEvent& event) const {
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) return {{"reasoning_content", reasoning->text}};
  if (const auto* content = std::get_if<ContentDelta>(&event)) return {{"content", content->text}};
  if (const auto* begin = std::get_if<ToolCallBegin>(&event))
    return {{"tool_calls", Json::array({indexed(begin->index, tool_call(*begin))})}};
  if (const auto* arguments = std::get_if<ToolCallArguments>(&event))
    return {{"tool_calls", Json::array({indexed(arguments->index, {{"function", {{"arguments", arguments->text}}}})})}};
  return Json::object();
}

std::vector<Json> ChatFormat::chunks(int choice, const TextEvent& event) {
  if (std::holds_alternative<Failure>(event)) return {};
  std::vector<Json> made;
  bool& begun = messages_.at(static_cast<size_t>(choice)).begun;
  if (!begun) made.push_back(chunk(choice, {{"role", "assistant"}, {"content", ""}}));
  begun = true;
  Json body = chunk(choice, delta_of(event));
  Json& entry = body["choices"][0];
  const auto* const content = std::get_if<ContentDelta>(&event);
  if (content != nullptr && logprobs_) entry["logprobs"] = {{"content", logprob_entries(content->tokens)}};
  if (const auto* done = std::get_if<Done>(&event)) entry["finish_reason"] = finish_reason_name(done->end);
  made.push_back(std::move(body));
  return made;
}

Json ChatFormat::usage_chunk(Json usage) {
  Json body = envelope("chat.completion.chunk");
  body["choices"] = Json::array();
  body["usage"] = std::move(usage);
  return body;
}

void ChatFormat::collect(int choice, const TextEvent& event) {
  Message& message = messages_.at(static_cast<size_t>(choice));
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) message.reasoning += reasoning->text;
  if (const auto* content = std::get_if<ContentDelta>(&event)) {
    message.content += content->text;
    for (Json& each : logprob_entries(content->tokens)) message.logprobs.push_back(std::move(each));
  }
  if (const auto* begin = std::get_if<ToolCallBegin>(&event)) message.tool_calls.push_back(tool_call(*begin));
  if (const auto* arguments = std::get_if<ToolCallArguments>(&event)) {
    Json& text = message.tool_calls.at(static_cast<size_t>(arguments->index))["function"]["arguments"];
    text.get_ref<std::string&>() += arguments->text;
  }
  if (const auto* done = std::get_if<Done>(&event)) message.finish_reason = finish_reason_name(done->end);
}

Json ChatFormat::choice_of(int index) const {
  const Message& message = messages_[static_cast<size_t>(index)];
  Json body = {{"role", "assistant"}, {"content", message.content}};
  if (message.content.empty() && !message.tool_calls.empty()) body["content"] = nullptr;
  if (!message.reasoning.empty()) body["reasoning_content"] = message.reasoning;
  if (!message.tool_calls.empty()) body["tool_calls"] = message.tool_calls;
  Json entry = {{"index", index}, {"message", std::move(body)}, {"logprobs", nullptr}};
  if (logprobs_) entry["logprobs"] = {{"content", message.logprobs}};
  entry["finish_reason"] = message.finish_reason;
  return entry;
}

Json ChatFormat::whole(Json usage) {
  Json body = envelope("chat.completion");
  body["choices"] = Json::array();
  for (size_t i = 0; i < messages_.size(); ++i) body["choices"].push_back(choice_of(static_cast<int>(i)));
  body["usage"] = std::move(usage);
  return body;
}

}  // namespace luce::server
