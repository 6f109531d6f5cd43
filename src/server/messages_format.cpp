#include "server/messages_format.hpp"

namespace luce::server {
namespace {

using namespace completion;

const char* stop_reason(const Done& done) {
  if (done.end == ReplyEnd::tool_calls) return "tool_use";
  if (done.end == ReplyEnd::length) return "max_tokens";
  return done.stop_string.empty() ? "end_turn" : "stop_sequence";
}

Json stop_sequence(const Done& done) {
  return done.stop_string.empty() || done.end != ReplyEnd::stop ? Json() : Json(done.stop_string);
}

Json usage_of(const Usage& usage) {
  return {{"input_tokens", usage.prompt_tokens - usage.cached_tokens},
          {"cache_creation_input_tokens", 0},
          {"cache_read_input_tokens", usage.cached_tokens},
          {"output_tokens", usage.completion_tokens}};
}

Json tool_block(const ToolCallBegin& begin) {
  return {{"type", "tool_use"}, {"id", begin.id}, {"name", begin.name}, {"input", Json::object()}};
}

}  // namespace

Json MessagesFormat::message() const {
  return {{"id", identity_.id},       {"type", "message"},      {"role", "assistant"},     {"model", identity_.model},
          {"content", Json::array()}, {"stop_reason", nullptr}, {"stop_sequence", nullptr}};
}

void MessagesFormat::open(Block kind, Json block, std::vector<Json>& events) {
  const bool goes_on = block_ == kind && kind != Block::tool;
  if (goes_on) return;
  close(events);
  block_ = kind;
  events.push_back({{"type", "content_block_start"}, {"index", ++index_}, {"content_block", std::move(block)}});
}

void MessagesFormat::close(std::vector<Json>& events) {
  if (block_ == Block::none) return;
  if (block_ == Block::thinking) add_delta({{"type", "signature_delta"}, {"signature", ""}}, events);
  events.push_back({{"type", "content_block_stop"}, {"index", index_}});
  block_ = Block::none;
}

void MessagesFormat::add_delta(Json delta, std::vector<Json>& events) const {
  events.push_back({{"type", "content_block_delta"}, {"index", index_}, {"delta", std::move(delta)}});
}

void MessagesFormat::add_end(const Done& done, std::vector<Json>& events) {
  close(events);
  events.push_back({{"type", "message_delta"},
                    {"delta", {{"stop_reason", stop_reason(done)}, {"stop_sequence", stop_sequence(done)}}},
                    {"usage", usage_of(done.usage)}});
  events.push_back({{"type", "message_stop"}});
}

std::vector<Json> MessagesFormat::chunks(int, const TextEvent& event) {
  std::vector<Json> events;
  if (std::holds_alternative<Failure>(event)) return events;
  if (!begun_) {
    Json start = message();
    start["usage"] = usage_of({.prompt_tokens = prompt_tokens_});
    events.push_back({{"type", "message_start"}, {"message", std::move(start)}});
    begun_ = true;
  }
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    open(Block::thinking, {{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}, events);
    add_delta({{"type", "thinking_delta"}, {"thinking", reasoning->text}}, events);
  } else if (const auto* content = std::get_if<ContentDelta>(&event)) {
    open(Block::text, {{"type", "text"}, {"text", ""}}, events);
    add_delta({{"type", "text_delta"}, {"text", content->text}}, events);
  } else if (const auto* begin = std::get_if<ToolCallBegin>(&event)) {
    open(Block::tool, tool_block(*begin), events);
  } else if (const auto* arguments = std::get_if<ToolCallArguments>(&event)) {
    add_delta({{"type", "input_json_delta"}, {"partial_json", arguments->text}}, events);
  } else if (const auto* done = std::get_if<Done>(&event)) {
    add_end(*done, events);
  }
  return events;
}

Json MessagesFormat::failure_chunk(Json error) {
  return {{"type", "error"},
          {"error", {{"type", "api_error"}, {"message", error["error"].value("message", Json(""))}}}};
}

void MessagesFormat::collect(int, const TextEvent& event) {
  const auto append = [this](const char* type, const char* key, const std::string& text) {
    if (content_.empty() || content_.back()["type"] != type) content_.push_back({{"type", type}, {key, ""}});
    content_.back()[key].get_ref<std::string&>() += text;
  };
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) append("thinking", "thinking", reasoning->text);
  if (const auto* content = std::get_if<ContentDelta>(&event)) append("text", "text", content->text);
  if (const auto* begin = std::get_if<ToolCallBegin>(&event)) content_.push_back(tool_block(*begin));
  arguments_.resize(content_.size());
  if (const auto* arguments = std::get_if<ToolCallArguments>(&event)) arguments_.back() += arguments->text;
  if (const auto* done = std::get_if<Done>(&event)) done_ = *done;
}

Json MessagesFormat::whole(Json) {
  for (size_t i = 0; i < content_.size(); ++i) {
    if (content_[i]["type"] == "thinking") content_[i]["signature"] = "";
    if (content_[i]["type"] != "tool_use") continue;
    Json input = Json::parse(arguments_[i], nullptr, false);
    // What a limit cut cannot be read.
    if (input.is_object()) content_[i]["input"] = std::move(input);
  }
  Json body = message();
  body["content"] = content_;
  body["stop_reason"] = stop_reason(done_);
  body["stop_sequence"] = stop_sequence(done_);
  body["usage"] = usage_of(done_.usage);
  return body;
}

}  // namespace luce::server
