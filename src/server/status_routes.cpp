#include "server/status_routes.hpp"

#include <nlohmann/json.hpp>

#include "completion/json.hpp"
#include "server/error_body.hpp"

namespace luce::server {
namespace {

using completion::Json;

Json model_object(const ServedModel& model) {
  return {{"id", model.name},
          {"object", "model"},
          {"created", model.created},
          {"owned_by", "luce-spark"},
          {"context_length", model.context_tokens},
          {"max_model_len", model.context_tokens},
          {"meta",
           {{"n_ctx", model.context_tokens}, {"n_ctx_train", model.trained_context}, {"n_vocab", model.vocabulary}}}};
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0;
    decoded += escape ? static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return decoded;
}

HttpResponse json_response(int status, const Json& body) {
  return {status, "application/json", body.dump(-1, ' ', false, Json::error_handler_t::replace), {}};
}

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::loading: return "loading";
    case Phase::ready: return "ok";
    case Phase::stopping: return "stopping";
  }
  return "stopping";
}

}  // namespace

HttpResponse health_response(Phase phase, const ServedModel* model, const std::vector<Condition>& conditions) {
  Json body = {{"status", phase_name(phase)}};
  if (model != nullptr) {
    const engine::EngineStatus status = model->engine->status();
    body["model"] = model->name;
    body["requests"] = {{"running", status.running}, {"queued", status.queued}, {"slots", status.sequence_slots}};
  }
  if (!conditions.empty()) {
    body["conditions"] = Json::array();
    for (const Condition& each : conditions)
      body["conditions"].push_back({{"name", each.name}, {"state", each.state}, {"reason", each.reason}});
  }
  HttpResponse response = json_response(phase == Phase::ready ? 200 : 503, body);
  if (phase != Phase::ready) response.headers.push_back({"Retry-After", "1"});
  return response;
}

HttpResponse models_response(const ServedModel& model) {
  return json_response(200, {{"object", "list"}, {"data", Json::array({model_object(model)})}});
}

HttpResponse model_response(const ServedModel& model, std::string_view encoded_name) {
  if (percent_decoded(encoded_name) == model.name) return json_response(200, model_object(model));
  ApiError error =
      api_error(ErrorKind::not_found, "There is no model of that name here; GET /v1/models lists it.", "model");
  error.code = "model_not_found";
  return error_response(error);
}

}  // namespace luce::server
