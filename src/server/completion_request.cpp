#include "server/completion_request.hpp"

#include "base/format.hpp"

namespace luce::server {
namespace {

[[noreturn]] void refuse_prompt() {
  refuse_field("prompt", "must be a string, an array of strings, of token ids, or of arrays of token ids");
}

int32_t parse_token(const Json& value, int vocabulary) {
  if (!value.is_number_integer()) refuse_prompt();
  const auto id = value.get<double>();
  if (id < 0 || id >= vocabulary)
    refuse_field("prompt", fmt::format("has token id {:g}; the vocabulary has 0 to {}", id, vocabulary - 1));
  return static_cast<int32_t>(id);
}

std::vector<int32_t> parse_tokens(const Json& array, int vocabulary) {
  std::vector<int32_t> tokens;
  tokens.reserve(array.size());
  for (const Json& each : array) tokens.push_back(parse_token(each, vocabulary));
  return tokens;
}

RawPrompt parse_one(const Json& value, int vocabulary) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) refuse_prompt();
  return parse_tokens(value, vocabulary);
}

std::vector<RawPrompt> parse_prompts(const FieldReader& fields, const RequestBounds& bounds) {
  const Json* const prompt = fields.find("prompt");
  if (prompt == nullptr) refuse_prompt();
  if (prompt->is_string()) return {prompt->get<std::string>()};
  if (!prompt->is_array() || prompt->empty()) refuse_prompt();
  if (prompt->front().is_number()) return {parse_tokens(*prompt, bounds.vocabulary)};
  if (prompt->size() > static_cast<size_t>(bounds.choices))
    refuse_field("prompt",
                 fmt::format("has {} prompts; at most {} are taken at a time", prompt->size(), bounds.choices));
  std::vector<RawPrompt> prompts;
  const bool strings = prompt->front().is_string();
  for (const Json& each : *prompt) {
    if (each.is_string() != strings) refuse_prompt();
    prompts.push_back(parse_one(each, bounds.vocabulary));
  }
  return prompts;
}

void refuse_unsupported(const FieldReader& fields, const CompletionRequest& request) {
  if (!fields.string("suffix", 1 << 20).value_or("").empty()) refuse_field("suffix", "is not supported");
  const int best_of = fields.integer("best_of", 1, 1 << 20).value_or(request.delivery.choices);
  if (best_of != request.delivery.choices) refuse_field("best_of", "must equal 'n': choices are not ranked");
  for (const RawPrompt& prompt : request.prompts)
    if (request.echo && !std::holds_alternative<std::string>(prompt))
      refuse_field("echo", "is supported only for prompts given as text");
}

}  // namespace

CompletionRequest parse_completion_request(const Json& body, const RequestBounds& bounds) {
  const FieldReader fields(body);
  CompletionRequest request;
  request.model = parse_model(body);
  request.settings = parse_generation(body, bounds);
  request.delivery = parse_delivery(body, bounds);
  const auto logprobs = fields.integer("logprobs", 0, 20);
  request.settings.sampling.logprobs = logprobs.has_value();
  request.settings.sampling.top_logprobs = logprobs.value_or(0);
  request.echo = fields.boolean("echo").value_or(false);
  request.prompts = parse_prompts(fields, bounds);
  refuse_unsupported(fields, request);
  if (request.prompts.size() * static_cast<size_t>(request.delivery.choices) > static_cast<size_t>(bounds.choices))
    refuse_field("n", fmt::format("times the prompts must be at most {}", bounds.choices));
  return request;
}

}  // namespace luce::server
