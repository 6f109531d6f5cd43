#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.hpp"
#include "server/served_model.hpp"

namespace luce::server {

/// Something that was asked for, and whether it is so.
struct Condition {
  std::string name;
  std::string state;  // active, degraded or inactive
  std::string reason;
};

enum class Phase { loading, ready, stopping };

/// GET /health: 200 {"status":"ok"} only while requests are taken.
HttpResponse health_response(Phase phase, const ServedModel* model, const std::vector<Condition>& conditions);

/// GET /v1/models and, with a name, GET /v1/models/NAME (percent-encoded).
HttpResponse models_response(const ServedModel& model);
HttpResponse model_response(const ServedModel& model, std::string_view encoded_name);

}  // namespace luce::server
