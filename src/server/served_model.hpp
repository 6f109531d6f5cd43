#pragma once

#include <cstdint>
#include <string>

#include "completion/completer.hpp"
#include "engine/engine.hpp"

namespace luce::server {

/// What the routes know of the loaded model. The pointers are not owned and outlive the server.
struct ServedModel {
  std::string name;        // in /v1/models and in every answer; never a path
  int64_t created = 0;     // seconds since 1970
  int context_tokens = 0;  // of one request
  int64_t trained_context = 0;
  int vocabulary = 0;           // tokens
  int longest_token_bytes = 0;  // 0: unknown
  const completion::Completer* completer = nullptr;
  const engine::Engine* engine = nullptr;
};

}  // namespace luce::server
