#include "server/generation_fields.hpp"

#include <algorithm>
#include <charconv>

#include "base/format.hpp"

namespace luce::server {
namespace {

constexpr int kMostTokens = 1 << 30;
constexpr size_t kMostStops = 16;
constexpr size_t kMostStopBytes = 256;
constexpr size_t kMostSessionBytes = 256;
constexpr size_t kMostTagBytes = 64;

void parse_sampling(const FieldReader& fields, sampling::SamplingSettings& out) {
  const auto take = [&fields](const char* name, NumberRange range, float& into) {
    if (const auto value = fields.number(name, range)) into = static_cast<float>(*value);
  };
  take("temperature", {0, 100}, out.temperature);
  take("top_p", {0, 1}, out.top_p);
  take("min_p", {0, 1}, out.min_p);
  take("presence_penalty", {-2, 2}, out.presence_penalty);
  take("frequency_penalty", {-2, 2}, out.frequency_penalty);
  take("repeat_penalty", {0.01, 100}, out.repeat_penalty);
  take("repetition_penalty", {0.01, 100}, out.repeat_penalty);
  if (const auto top_k = fields.integer("top_k", -1, kMostTokens)) out.top_k = std::max(0, *top_k);
  if (const auto last = fields.integer("repeat_last_n", -1, kMostTokens)) out.repeat_last_tokens = *last;
}

std::optional<uint64_t> parse_seed(const FieldReader& fields) {
  const Json* const seed = fields.find("seed");
  if (seed == nullptr) return std::nullopt;
  if (!seed->is_number()) refuse_field("seed", fmt::format("must be an integer, not {}", seed->type_name()));
  if (!seed->is_number_integer()) refuse_field("seed", "must be an integer of 64 bits");
  if (seed->is_number_unsigned()) return seed->get<uint64_t>();
  // llama-server's clients ask for a random seed with -1.
  const int64_t number = seed->get<int64_t>();
  return number == -1 ? std::nullopt : std::optional(static_cast<uint64_t>(number));
}

int parse_max_tokens(const FieldReader& fields) {
  const auto newer = fields.integer("max_completion_tokens", -1, kMostTokens);
  const auto older = fields.integer("max_tokens", -1, kMostTokens);
  return newer ? *newer : older.value_or(-1);
}

std::string parse_stop_string(const Json& value) {
  if (!value.is_string()) refuse_field("stop", "must be a string or an array of strings");
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) refuse_field("stop", "must not hold an empty string");
  if (text.size() > kMostStopBytes) refuse_field("stop", fmt::format("has a string of over {} bytes", kMostStopBytes));
  return text;
}

std::vector<std::string> parse_stop(const FieldReader& fields) {
  const Json* const stop = fields.find("stop");
  if (stop == nullptr) return {};
  if (stop->is_string()) return {parse_stop_string(*stop)};
  if (!stop->is_array()) refuse_field("stop", "must be a string or an array of strings");
  if (stop->size() > kMostStops) refuse_field("stop", fmt::format("must have at most {} strings", kMostStops));
  std::vector<std::string> strings;
  for (const Json& each : *stop) strings.push_back(parse_stop_string(each));
  return strings;
}

int32_t parse_token_id(const std::string& text, int vocabulary) {
  int32_t id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0 || id >= vocabulary)
    refuse_field("logit_bias", fmt::format("must have token ids from 0 to {} as keys", vocabulary - 1));
  return id;
}

std::vector<sampling::LogitBias> parse_logit_bias(const FieldReader& fields, const RequestBounds& bounds) {
  const Json* const map = fields.object("logit_bias");
  if (map == nullptr) return {};
  std::vector<sampling::LogitBias> biases;
  for (const auto& [key, value] : map->items()) {
    if (!value.is_number() || !(std::abs(value.get<double>()) <= 100))
      refuse_field("logit_bias", "must have numbers from -100 to 100 as values");
    biases.push_back({parse_token_id(key, bounds.vocabulary), value.get<float>()});
  }
  return biases;
}

/// The session that a message names, for clients that cannot send metadata.
std::string session_of_messages(const FieldReader& fields) {
  const Json* const messages = fields.find("messages");
  if (messages == nullptr || !messages->is_array()) return {};
  for (const Json& each : *messages) {
    if (!each.is_object()) continue;
    const auto found = each.find("session_id");
    if (found != each.end() && found->is_string() && found->size() <= kMostSessionBytes)
      return found->get<std::string>();
  }
  return {};
}

void parse_metadata(const FieldReader& fields, completion::GenerationSettings& out) {
  out.session_id = session_of_messages(fields);
  if (const auto session = fields.string("session_id", kMostSessionBytes)) out.session_id = *session;
  const Json* const metadata = fields.object("metadata");
  if (metadata == nullptr) return;
  const FieldReader inner(*metadata, "metadata.");
  if (const auto session = inner.string("session_id", kMostSessionBytes)) out.session_id = *session;
  if (const auto tag = inner.string("task_tag", kMostTagBytes)) out.task_tag = *tag;
}

completion::OutputConstraint parse_output(const FieldReader& fields) {
  completion::OutputConstraint output;
  if (const auto grammar = fields.string("grammar", size_t{1} << 20); grammar && !grammar->empty())
    output = {completion::OutputFormat::grammar, nullptr, *grammar};
  const Json* const format = fields.object("response_format");
  if (format == nullptr) return output;
  const FieldReader inner(*format, "response_format.");
  const std::string type = inner.string("type", 64).value_or("");
  if (type == "text") return output;
  if (output.format == completion::OutputFormat::grammar)
    refuse_field("response_format", "cannot be combined with 'grammar'");
  if (type == "json_object") return {completion::OutputFormat::json_object, nullptr, {}};
  if (type != "json_schema") refuse_field("response_format.type", "must be text, json_object or json_schema");
  const Json* const wrapped = inner.object("json_schema");
  const Json* const schema = wrapped == nullptr ? inner.find("schema") : FieldReader(*wrapped).find("schema");
  if (schema == nullptr) refuse_field("response_format.json_schema", "must be an object that has a schema");
  return {completion::OutputFormat::json_schema, *schema, {}};
}

}  // namespace

completion::GenerationSettings parse_generation(const Json& body, const RequestBounds& bounds) {
  const FieldReader fields(body);
  completion::GenerationSettings settings;
  parse_sampling(fields, settings.sampling);
  settings.seed = parse_seed(fields);
  settings.max_tokens = parse_max_tokens(fields);
  settings.stop = parse_stop(fields);
  settings.sampling.logit_bias = parse_logit_bias(fields, bounds);
  settings.ignore_eos = fields.boolean("ignore_eos").value_or(false);
  settings.use_prompt_cache = fields.boolean("cache_prompt").value_or(true);
  settings.thinking_budget_tokens = fields.integer("thinking_budget_tokens", 0, kMostTokens);
  parse_metadata(fields, settings);
  settings.output = parse_output(fields);
  return settings;
}

DeliveryOptions parse_delivery(const Json& body, const RequestBounds& bounds) {
  const FieldReader fields(body);
  DeliveryOptions delivery;
  delivery.choices = fields.integer("n", 1, bounds.choices).value_or(1);
  delivery.stream = fields.boolean("stream").value_or(false);
  const Json* const options = fields.object("stream_options");
  if (options != nullptr)
    delivery.include_usage = FieldReader(*options, "stream_options.").boolean("include_usage").value_or(false);
  return delivery;
}

std::string parse_model(const Json& body) { return FieldReader(body).string("model", 1024).value_or(""); }

}  // namespace luce::server
