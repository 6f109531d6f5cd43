#include "server/completion_format.hpp"

#include <algorithm>

namespace luce::server {
namespace {

using namespace completion;

Json empty_logprobs() {
  return {{"tokens", Json::array()},
          {"token_logprobs", Json::array()},
          {"top_logprobs", Json::array()},
          {"text_offset", Json::array()}};
}

size_t count_characters(const std::string& text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

void append_token(Json& logprobs, const TokenText& token, size_t offset) {
  logprobs["tokens"].push_back(replace_invalid_utf8(token.chosen.bytes));
  logprobs["token_logprobs"].push_back(finite_logprob(token.chosen.logprob));
  Json top = Json::object();
  for (const TextLogprob& each : token.top) top[replace_invalid_utf8(each.bytes)] = finite_logprob(each.logprob);
  logprobs["top_logprobs"].push_back(std::move(top));
  logprobs["text_offset"].push_back(offset);
}

std::string text_of(const TextEvent& event) {
  if (const auto* content = std::get_if<ContentDelta>(&event)) return content->text;
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) return reasoning->text;
  return {};
}

}  // namespace

CompletionFormat::CompletionFormat(ReplyIdentity identity, std::vector<std::string> prefixes, bool logprobs)
    : identity_(std::move(identity)), logprobs_(logprobs), choices_(prefixes.size()) {
  for (size_t i = 0; i < prefixes.size(); ++i) {
    choices_[i].characters = count_characters(prefixes[i]);
    choices_[i].text = prefixes[i];
    choices_[i].unsent = std::move(prefixes[i]);
    if (logprobs) choices_[i].logprobs = empty_logprobs();
  }
}

Json CompletionFormat::envelope() const {
  return {
      {"id", identity_.id}, {"object", "text_completion"}, {"created", identity_.created}, {"model", identity_.model}};
}

Json CompletionFormat::add_logprobs(Choice& choice, const ContentDelta& delta) const {
  if (!logprobs_) return nullptr;
  Json added = empty_logprobs();
  for (const TokenText& each : delta.tokens) {
    append_token(added, each, choice.characters);
    append_token(choice.logprobs, each, choice.characters);
    choice.characters += count_characters(each.chosen.bytes);
  }
  return added;
}

std::vector<Json> CompletionFormat::chunks(int choice, const TextEvent& event) {
  if (std::holds_alternative<Failure>(event)) return {};
  Choice& state = choices_.at(static_cast<size_t>(choice));
  Json entry = {{"index", choice}, {"text", state.unsent + text_of(event)}, {"logprobs", nullptr}};
  state.unsent.clear();
  if (const auto* content = std::get_if<ContentDelta>(&event)) entry["logprobs"] = add_logprobs(state, *content);
  entry["finish_reason"] = nullptr;
  if (const auto* done = std::get_if<Done>(&event)) entry["finish_reason"] = finish_reason_name(done->end);
  Json body = envelope();
  body["choices"] = Json::array({std::move(entry)});
  return {std::move(body)};
}

Json CompletionFormat::usage_chunk(Json usage) {
  Json body = envelope();
  body["choices"] = Json::array();
  body["usage"] = std::move(usage);
  return body;
}

void CompletionFormat::collect(int choice, const TextEvent& event) {
  Choice& state = choices_.at(static_cast<size_t>(choice));
  state.text += text_of(event);
  if (const auto* content = std::get_if<ContentDelta>(&event)) add_logprobs(state, *content);
  if (const auto* done = std::get_if<Done>(&event)) state.finish_reason = finish_reason_name(done->end);
}

Json CompletionFormat::whole(Json usage) {
  Json body = envelope();
  body["choices"] = Json::array();
  for (size_t i = 0; i < choices_.size(); ++i) {
    const Choice& state = choices_[i];
    body["choices"].push_back(
        {{"index", i}, {"text", state.text}, {"logprobs", state.logprobs}, {"finish_reason", state.finish_reason}});
  }
  body["usage"] = std::move(usage);
  return body;
}

}  // namespace luce::server
