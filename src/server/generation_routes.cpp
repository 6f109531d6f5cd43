#include "server/generation_routes.hpp"

#include <functional>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "server/chat_format.hpp"
#include "server/chat_request.hpp"
#include "server/completion_format.hpp"
#include "server/completion_request.hpp"
#include "server/error_body.hpp"
#include "server/json_limits.hpp"
#include "server/messages_format.hpp"
#include "server/messages_request.hpp"
#include "server/responses_format.hpp"
#include "server/responses_request.hpp"

namespace luce::server {
namespace {

/// Replies that have been admitted, or why they were not.
struct Admission {
  std::vector<completion::Reply> replies;
  std::optional<ApiError> refusal;
};

ApiError overflow_error(const engine::ContextOverflow& overflow, int max_tokens) {
  ApiError error = api_error(ErrorKind::context_overflow, completion::overflow_message(overflow, max_tokens));
  error.prompt_tokens = overflow.prompt_tokens;
  error.context_tokens = overflow.context_tokens;
  return error;
}

std::optional<ApiError> refusal_of(const completion::StartResult& result, int max_tokens) {
  if (std::holds_alternative<engine::QueueFull>(result))
    return api_error(ErrorKind::overloaded, "All places in the queue are taken; try again in a moment.");
  if (const auto* held = std::get_if<engine::Held>(&result))
    return api_error(ErrorKind::overloaded, "No new requests are taken for now: " + held->why + ".");
  if (std::holds_alternative<engine::Stopping>(result))
    return api_error(ErrorKind::overloaded, "The server is stopping.");
  if (const auto* overflow = std::get_if<engine::ContextOverflow>(&result))
    return overflow_error(*overflow, max_tokens);
  return std::nullopt;
}

Admission admit(const completion::Completer& completer, const std::vector<completion::Prompt>& prompts,
                const completion::GenerationSettings& settings, int choices_each) {
  Admission admission;
  for (const completion::Prompt& prompt : prompts) {
    for (int choice = 0; choice < choices_each; ++choice) {
      completion::StartResult result = completer.start(prompt, settings, choice);
      admission.refusal = refusal_of(result, settings.max_tokens);
      if (admission.refusal) return admission;
      admission.replies.push_back(std::move(std::get<completion::Reply>(result)));
    }
  }
  return admission;
}

void check_model(const std::string& asked, const ServedModel& model, bool strict) {
  if (!strict || asked.empty() || asked == model.name) return;
  throw Error(ErrorKind::not_found, "The model asked for is not served here; the one that is: '" + model.name + "'.",
              "model");
}

/// Bytes of all texts in a value.
size_t text_bytes(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  size_t bytes = 0;
  if (value.is_structured())
    for (const Json& each : value) bytes += text_bytes(each);
  return bytes;
}

/// A text that cannot fit however well it is tokenised is refused before that costs any work.
std::optional<ApiError> refuse_by_bytes(size_t bytes, const ServedModel& model, int max_tokens) {
  if (model.longest_token_bytes <= 0) return std::nullopt;
  const size_t least_tokens = bytes / static_cast<size_t>(model.longest_token_bytes);
  if (least_tokens < static_cast<size_t>(model.context_tokens)) return std::nullopt;
  return overflow_error({static_cast<int>(least_tokens), model.context_tokens}, max_tokens);
}

/// As Completer::prepare; what a template says without naming a field is about the messages.
completion::Prompt prepare_chat(const ChatRequest& request, const completion::Completer& completer) {
  try {
    return completer.prepare(request.input, request.settings);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::invalid_request || !error.param().empty()) throw;
    throw Error(error.kind(), error.what(), "messages");
  }
}

/// A chat of any API, read.
struct ParsedChat {
  const ChatRequest& request;
  const ServedModel& model;
  const GenerationRouteSettings& settings;
};

using FormatMaker = std::function<std::unique_ptr<ReplyFormat>(const completion::Prompt&)>;

RequestBounds bounds_of(const ServedModel& model, const GenerationRouteSettings& settings) {
  return {model.vocabulary, settings.most_choices};
}

void deliver(Exchange& exchange, RequestRecord& record, Admission admission, ReplyFormat& format,
             DeliverySettings settings) {
  if (admission.refusal) return exchange.respond_error(*admission.refusal);
  ReplyDelivery delivery(exchange, format, settings);
  record.outcome = delivery.run(std::move(admission.replies));
  record.prompt_tokens = delivery.totals().prompt_tokens();
  record.completion_tokens = delivery.totals().completion_tokens();
}

void answer_parsed_chat(Exchange& exchange, RequestRecord& record, const ParsedChat& chat,
                        const FormatMaker& make_format) {
  const ChatRequest& request = chat.request;
  check_model(request.model, chat.model, chat.settings.strict_model);
  if (const auto refusal = refuse_by_bytes(text_bytes(request.input.messages), chat.model, request.settings.max_tokens))
    return exchange.respond_error(*refusal);
  const completion::Prompt prompt = prepare_chat(request, *chat.model.completer);
  Admission admission = admit(*chat.model.completer, {prompt}, request.settings, request.delivery.choices);
  const std::unique_ptr<ReplyFormat> format = make_format(prompt);
  deliver(exchange, record, std::move(admission), *format,
          {request.delivery, request.delivery.choices, chat.settings.keep_alive_interval});
}

std::vector<completion::Prompt> prepare_all(const CompletionRequest& request, const completion::Completer& completer) {
  std::vector<completion::Prompt> prompts;
  for (const RawPrompt& each : request.prompts)
    prompts.push_back(std::visit([&](const auto& raw) { return completer.prepare(raw, request.settings); }, each));
  return prompts;
}

std::vector<std::string> echo_prefixes(const CompletionRequest& request) {
  std::vector<std::string> prefixes;
  for (const RawPrompt& each : request.prompts)
    for (int choice = 0; choice < request.delivery.choices; ++choice)
      prefixes.push_back(request.echo ? std::get<std::string>(each) : std::string());
  return prefixes;
}

}  // namespace

void answer_chat(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                 const GenerationRouteSettings& settings) {
  const ChatRequest request =
      parse_chat_request(parse_json_object(exchange.request().body), bounds_of(model, settings));
  answer_parsed_chat(exchange, record, {request, model, settings}, [&](const completion::Prompt&) {
    return std::make_unique<ChatFormat>(make_identity("chatcmpl-", model.name), request.delivery.choices,
                                        request.settings.sampling.logprobs);
  });
}

void answer_messages(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                     const GenerationRouteSettings& settings) {
  const ChatRequest request =
      parse_chat_request(chat_of_messages(parse_json_object(exchange.request().body)), bounds_of(model, settings));
  answer_parsed_chat(exchange, record, {request, model, settings}, [&](const completion::Prompt& prompt) {
    return std::make_unique<MessagesFormat>(make_identity("msg_", model.name), static_cast<int>(prompt.tokens.size()));
  });
}

HttpResponse count_tokens_response(const std::string& body, const ServedModel& model,
                                   const GenerationRouteSettings& settings) {
  const ChatRequest request = parse_chat_request(chat_of_messages(parse_json_object(body)), bounds_of(model, settings));
  const completion::Prompt prompt = prepare_chat(request, *model.completer);
  return {200, "application/json", Json{{"input_tokens", prompt.tokens.size()}}.dump(), {}};
}

void answer_responses(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                      const GenerationRouteSettings& settings) {
  const ChatRequest request =
      parse_chat_request(chat_of_responses(parse_json_object(exchange.request().body)), bounds_of(model, settings));
  answer_parsed_chat(exchange, record, {request, model, settings}, [&](const completion::Prompt&) {
    return std::make_unique<ResponsesFormat>(make_identity("resp_", model.name));
  });
}

void answer_completion(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                       const GenerationRouteSettings& settings) {
  const CompletionRequest request =
      parse_completion_request(parse_json_object(exchange.request().body), bounds_of(model, settings));
  check_model(request.model, model, settings.strict_model);
  for (const RawPrompt& each : request.prompts) {
    const auto* const text = std::get_if<std::string>(&each);
    if (text == nullptr) continue;
    if (const auto refusal = refuse_by_bytes(text->size(), model, request.settings.max_tokens))
      return exchange.respond_error(*refusal);
  }
  const std::vector<completion::Prompt> prompts = prepare_all(request, *model.completer);
  Admission admission = admit(*model.completer, prompts, request.settings, request.delivery.choices);
  CompletionFormat format(make_identity("cmpl-", model.name), echo_prefixes(request),
                          request.settings.sampling.logprobs);
  deliver(exchange, record, std::move(admission), format,
          {request.delivery, request.delivery.choices, settings.keep_alive_interval});
}

}  // namespace luce::server
