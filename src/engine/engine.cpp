#include "engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "engine/step_loop.hpp"
#include "engine/ticket.hpp"

namespace luce::engine {

namespace {

void check_tokens(const Request& request, int vocabulary) {
  if (request.tokens.empty())
    throw Error(ErrorKind::invalid_request, "the prompt is empty: give at least one token", "prompt");
  const auto foreign = std::find_if(request.tokens.begin(), request.tokens.end(),
                                    [&](int32_t token) { return token < 0 || token >= vocabulary; });
  if (foreign == request.tokens.end()) return;
  throw Error(ErrorKind::invalid_request,
              fmt::format("prompt token {} at position {} is outside of the vocabulary of {} tokens", *foreign,
                          foreign - request.tokens.begin(), vocabulary),
              "prompt");
}

}  // namespace

Engine::Engine(model::Model& model, EngineSettings settings)
    : vocabulary_(model.vocabulary_size()),
      context_tokens_(model.limits().context_tokens),
      loop_(std::make_unique<StepLoop>(model, std::move(settings))) {}

Engine::~Engine() = default;

SubmitResult Engine::submit(Request request) {
  check_tokens(request, vocabulary_);
  if (request.tokens.size() >= static_cast<size_t>(context_tokens_)) {
    loop_->count_refused(base::traits(ErrorKind::context_overflow).label);
    return ContextOverflow{.prompt_tokens = static_cast<int>(request.tokens.size()), .context_tokens = context_tokens_};
  }
  std::sort(request.turn_ends.begin(), request.turn_ends.end());
  const size_t most_events = static_cast<size_t>(context_tokens_) + 1;
  auto ticket = std::make_shared<Ticket>(most_events);
  switch (loop_->push({.request = std::move(request), .ticket = ticket, .submitted = Clock::now()})) {
    case Admission::full: return QueueFull{};
    case Admission::closed: return Stopping{};
    case Admission::held: return Held{loop_->held_why()};
    case Admission::accepted: break;
  }
  return RequestHandle(std::move(ticket));
}

void Engine::hold(std::optional<Hold> order) { loop_->hold(std::move(order)); }

bool Engine::drain(std::chrono::milliseconds timeout) { return loop_->drain(timeout); }

void Engine::stop() { loop_->stop(); }

EngineStatus Engine::status() const { return loop_->status(); }

}  // namespace luce::engine
