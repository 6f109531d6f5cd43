#include "server/responses_format.hpp"

#include <utility>

namespace luce::server {
namespace {

using namespace completion;

Json usage_of(const Usage& usage) {
  return {{"input_tokens", usage.prompt_tokens},
          {"input_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
          {"output_tokens", usage.completion_tokens},
          {"output_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
}

Json text_part(const char* type) {
  Json part = {{"type", type}, {"text", ""}};
  if (std::string_view(type) == "output_text") part["annotations"] = Json::array();
  return part;
}

}  // namespace

Json ResponsesFormat::response(const char* status) const {
  Json body = {{"id", identity_.id}, {"object", "response"},          {"created_at", identity_.created},
               {"status", status},   {"model", identity_.model},      {"output", output_},
               {"error", nullptr},   {"incomplete_details", nullptr}, {"store", false},
               {"usage", usage_}};
  if (status_ == "incomplete") body["incomplete_details"] = {{"reason", "max_output_tokens"}};
  return body;
}

Json ResponsesFormat::event(const char* type, const Json& fields) {
  Json made = {{"type", type}, {"sequence_number", sequence_++}};
  made.update(fields);
  return made;
}

Json ResponsesFormat::at_item() const {
  Json at = {{"item_id", output_.back()["id"]}, {"output_index", output_.size() - 1}};
  if (item_ != Item::call) at["content_index"] = 0;
  return at;
}

void ResponsesFormat::open(Item kind, Json item, std::vector<Json>& events) {
  const bool goes_on = item_ == kind && kind != Item::call;
  if (goes_on) return;
  close(events);
  item_ = kind;
  item["id"] = make_identity(kind == Item::call ? "fc_" : (kind == Item::message ? "msg_" : "rs_"), "").id;
  item["status"] = "in_progress";
  output_.push_back(std::move(item));
  events.push_back(
      event("response.output_item.added", {{"output_index", output_.size() - 1}, {"item", output_.back()}}));
  if (kind == Item::call) return;
  const char* type = kind == Item::message ? "output_text" : "reasoning_text";
  Json fields = at_item();
  fields["part"] = text_part(type);
  events.push_back(event("response.content_part.added", fields));
  output_.back()["content"] = Json::array({text_part(type)});
}

void ResponsesFormat::close(std::vector<Json>& events) {
  if (item_ == Item::none) return;
  Json& item = output_.back();
  item["status"] = "completed";
  Json fields = at_item();
  if (item_ == Item::call) {
    fields["arguments"] = item["arguments"];
    events.push_back(event("response.function_call_arguments.done", fields));
  } else {
    const Json part = item["content"][0];
    Json text = fields;
    text["text"] = part["text"];
    const bool message = item_ == Item::message;
    events.push_back(event(message ? "response.output_text.done" : "response.reasoning_text.done", text));
    fields["part"] = part;
    events.push_back(event("response.content_part.done", fields));
  }
  events.push_back(event("response.output_item.done", {{"output_index", output_.size() - 1}, {"item", item}}));
  item_ = Item::none;
}

void ResponsesFormat::add_text(const std::string& text, const char* type, std::vector<Json>& events) {
  output_.back()["content"][0]["text"].get_ref<std::string&>() += text;
  Json fields = at_item();
  fields["delta"] = text;
  events.push_back(event(type, fields));
}

void ResponsesFormat::take(const TextEvent& event_of_reply, std::vector<Json>& events) {
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event_of_reply)) {
    open(Item::reasoning, {{"type", "reasoning"}, {"summary", Json::array()}, {"content", Json::array()}}, events);
    add_text(reasoning->text, "response.reasoning_text.delta", events);
  } else if (const auto* content = std::get_if<ContentDelta>(&event_of_reply)) {
    open(Item::message, {{"type", "message"}, {"role", "assistant"}, {"content", Json::array()}}, events);
    add_text(content->text, "response.output_text.delta", events);
  } else if (const auto* begin = std::get_if<ToolCallBegin>(&event_of_reply)) {
    open(Item::call, {{"type", "function_call"}, {"call_id", begin->id}, {"name", begin->name}, {"arguments", ""}},
         events);
  } else if (const auto* arguments = std::get_if<ToolCallArguments>(&event_of_reply)) {
    output_.back()["arguments"].get_ref<std::string&>() += arguments->text;
    Json fields = at_item();
    fields["delta"] = arguments->text;
    events.push_back(event("response.function_call_arguments.delta", fields));
  } else if (const auto* done = std::get_if<Done>(&event_of_reply)) {
    close(events);
    finish(*done);
  }
}

void ResponsesFormat::finish(const Done& done) {
  status_ = done.end == ReplyEnd::length ? "incomplete" : "completed";
  usage_ = usage_of(done.usage);
  if (status_ == "incomplete" && !output_.empty()) output_.back()["status"] = "incomplete";
}

std::vector<Json> ResponsesFormat::chunks(int, const TextEvent& event_of_reply) {
  std::vector<Json> events;
  if (std::holds_alternative<Failure>(event_of_reply)) return events;
  if (!begun_) events.push_back(event("response.created", {{"response", response("in_progress")}}));
  begun_ = true;
  take(event_of_reply, events);
  if (std::holds_alternative<Done>(event_of_reply)) {
    const bool complete = status_ == "completed";
    events.push_back(
        event(complete ? "response.completed" : "response.incomplete", {{"response", response(status_.c_str())}}));
  }
  return events;
}

Json ResponsesFormat::failure_chunk(Json error) {
  Json failed = response("failed");
  failed["error"] = {{"code", "server_error"}, {"message", error["error"].value("message", Json(""))}};
  return event("response.failed", {{"response", std::move(failed)}});
}

void ResponsesFormat::collect(int, const TextEvent& event_of_reply) {
  std::vector<Json> events;
  take(event_of_reply, events);
}

Json ResponsesFormat::whole(Json) { return response(status_.c_str()); }

}  // namespace luce::server
