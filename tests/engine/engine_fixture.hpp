#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/fake_model.hpp"

namespace luce::engine {

using namespace std::chrono_literals;

struct Outcome {
  std::vector<int32_t> tokens = {};
  std::vector<Token> events = {};
  std::optional<Finished> finished = {};
  std::optional<Failed> failed = {};
};

/// Reads to the terminal event; a test failure if none comes.
inline Outcome read_all(RequestHandle& handle) {
  Outcome outcome;
  while (!handle.ended()) {
    std::optional<Event> event = handle.next_event(20s);
    if (!event) {
      ADD_FAILURE() << "no event within 20 s";
      break;
    }
    if (auto* token = std::get_if<Token>(&*event)) {
      outcome.tokens.push_back(token->id);
      outcome.events.push_back(*token);
    } else if (auto* finished = std::get_if<Finished>(&*event)) {
      outcome.finished = *finished;
    } else {
      outcome.failed = std::get<Failed>(*event);
    }
  }
  EXPECT_FALSE(handle.next_event(0ms).has_value()) << "nothing may follow the end";
  return outcome;
}

inline RequestHandle accepted(SubmitResult result) {
  if (!std::holds_alternative<RequestHandle>(result)) throw std::runtime_error("not accepted");
  return std::get<RequestHandle>(std::move(result));
}

inline std::vector<int32_t> random_tokens(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(random() % FakeModel::kVocabulary));
  return tokens;
}

inline Request greedy(std::vector<int32_t> tokens, int max_tokens) {
  Request request;
  request.tokens = std::move(tokens);
  request.max_tokens = max_tokens;
  request.sampling.temperature = 0;
  return request;
}

inline constexpr model::StepLimits kLimits{.context_tokens = 512, .sequences = 4, .rows = 260, .logit_rows = 4};
inline constexpr model::StepLimits kOneSlot{.context_tokens = 512, .sequences = 1, .rows = 260, .logit_rows = 1};

/// What a fresh engine gives for the request.
inline std::vector<int32_t> fresh_tokens(const Request& request, bool recurrent) {
  FakeModel model(kOneSlot, recurrent);
  Engine engine(model, {});
  RequestHandle handle = accepted(engine.submit(greedy(request.tokens, request.max_tokens)));
  return read_all(handle).tokens;
}

}  // namespace luce::engine
