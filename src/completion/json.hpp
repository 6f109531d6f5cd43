#pragma once

#include <nlohmann/json.hpp>

namespace luce::completion {

/// Keys keep the order in which a client or model wrote them.
using Json = nlohmann::ordered_json;

}  // namespace luce::completion
