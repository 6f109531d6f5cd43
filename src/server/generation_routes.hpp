#pragma once

#include <chrono>
#include <string>

#include "server/exchange.hpp"
#include "server/request_record.hpp"
#include "server/served_model.hpp"

namespace luce::server {

struct GenerationRouteSettings {
  std::chrono::milliseconds keep_alive_interval{10'000};  // comments in a silent stream
  bool strict_model = false;                              // an unknown model name is 404, not ignored
  int most_choices = 8;
};

/// POST /v1/chat/completions: everything that can be refused is refused before a byte is sent.
void answer_chat(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                 const GenerationRouteSettings& settings);

/// POST /v1/messages of the Anthropic API.
void answer_messages(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                     const GenerationRouteSettings& settings);
/// POST /v1/messages/count_tokens.
HttpResponse count_tokens_response(const std::string& body, const ServedModel& model,
                                   const GenerationRouteSettings& settings);

/// POST /v1/responses of the OpenAI API; nothing is stored.
void answer_responses(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                      const GenerationRouteSettings& settings);

/// POST /v1/completions.
void answer_completion(Exchange& exchange, RequestRecord& record, const ServedModel& model,
                       const GenerationRouteSettings& settings);

}  // namespace luce::server
