#include "engine/step_loop.hpp"

#include <algorithm>
#include <utility>

namespace luce::engine {

namespace {

constexpr const char* kCancelled = "the request was cancelled: its client left";
constexpr const char* kStopping = "the request was cancelled: the server is stopping";
constexpr const char* kLate = "the request was cancelled: its deadline has passed";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool late(const Request& request, Clock::time_point now) { return request.deadline && now >= *request.deadline; }

int checked_rows(int rows, const char* name) {
  if (rows >= kChunkGrid && rows % kChunkGrid == 0) return rows;
  fail(ErrorKind::usage, "engine: {} must be a multiple of {}, not {}", name, kChunkGrid, rows);
}

const model::StepLimits& checked(const model::StepLimits& limits) {
  if (limits.sequences >= 1 && limits.rows >= limits.sequences + 1 && limits.logit_rows >= limits.sequences)
    return limits;
  fail(ErrorKind::usage, "engine: a step of {} rows and {} logit rows cannot serve {} sequences; raise its rows",
       limits.rows, limits.logit_rows, limits.sequences);
}

}  // namespace

StepLoop::StepLoop(model::Model& model, EngineSettings settings)
    : model_(model),
      settings_(std::move(settings)),
      limits_(checked(model.limits())),
      intake_(static_cast<size_t>(limits_.sequences + std::max(0, settings_.queue_capacity))),
      cache_(model, settings_.prompt_cache_bytes),
      running_(limits_.sequences),
      metrics_(settings_.registry),
      pacer_(checked_rows(settings_.prompt_rows, "prompt_rows"), settings_.step_seconds_target) {
  checked_rows(settings_.prompt_rows_beside_decode, "prompt_rows_beside_decode");
  thread_ = std::thread([this] { run(); });
}

StepLoop::~StepLoop() { stop(); }

Admission StepLoop::push(Waiting waiting) {
  metrics_.queued(+1);  // first, so that the gauge never falls below zero
  const Admission admission = intake_.push(std::move(waiting));
  if (admission == Admission::accepted) return admission;
  metrics_.queued(-1);
  metrics_.refused(admission == Admission::full ? "queue_full" : admission == Admission::held ? "held" : "stopping");
  return admission;
}

std::string StepLoop::held_why() const {
  const std::optional<Hold> hold = intake_.held();
  return hold ? hold->why : "";
}

bool StepLoop::drain(std::chrono::milliseconds timeout) {
  intake_.close();
  return intake_.wait_until_idle(timeout);
}

void StepLoop::stop() {
  stopping_ = true;
  intake_.close();
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

EngineStatus StepLoop::status() const {
  return {.queued = static_cast<int>(intake_.waiting()),
          .running = running_count_,
          .sequence_slots = limits_.sequences,
          .context_tokens = limits_.context_tokens,
          .cached_state_bytes = cached_state_bytes_};
}

void StepLoop::run() {
  while (true) {
    if (running_.empty()) intake_.wait_for_work();
    sweep();
    admit();
    if (!running_.empty())
      step();
    else if (intake_.closed() && intake_.waiting() == 0)
      return;
  }
}

void StepLoop::sweep() {
  sweep_waiting();
  sweep_running();
  release_ended();
}

void StepLoop::sweep_waiting() {
  const Clock::time_point now = Clock::now();
  const std::optional<Hold> hold = intake_.held();
  const bool refusing = hold && hold->refuse;
  const std::vector<Waiting> gone = intake_.remove_if([&](const Waiting& waiting) {
    return stopping_ || waiting.ticket->wish() != Wish::more || late(waiting.request, now) ||
           (refusing && now - waiting.submitted > settings_.patience);
  });
  metrics_.queued(-static_cast<int>(gone.size()));
  intake_.release(gone.size());
  for (const Waiting& waiting : gone) {
    Event end = end_of(waiting, hold);
    metrics_.ended(end);
    waiting.ticket->send(std::move(end));
  }
}

Event StepLoop::end_of(const Waiting& waiting, const std::optional<Hold>& hold) const {
  RequestStats stats{.prompt_tokens = static_cast<int>(waiting.request.tokens.size())};
  stats.queue_seconds = seconds_since(waiting.submitted);
  const Wish wish = waiting.ticket->wish();
  if (wish == Wish::stop) return Finished{.reason = FinishReason::stopped, .stats = stats};
  if (wish == Wish::more && !stopping_ && !late(waiting.request, Clock::now()) && hold)
    return Failed{.kind = ErrorKind::overloaded, .message = hold->why, .stats = stats};
  const char* why = stopping_ ? kStopping : wish == Wish::cancel ? kCancelled : kLate;
  return Failed{.kind = ErrorKind::cancelled, .message = why, .stats = stats};
}

void StepLoop::sweep_running() {
  const Clock::time_point now = Clock::now();
  for (Sequence& sequence : running_.all()) {
    const Wish wish = sequence.wish();
    if (wish == Wish::stop)
      sequence.finish(FinishReason::stopped);
    else if (stopping_)
      sequence.fail(ErrorKind::cancelled, kStopping);
    else if (wish == Wish::cancel)
      sequence.fail(ErrorKind::cancelled, kCancelled);
    else if (late(sequence.request(), now))
      sequence.fail(ErrorKind::cancelled, kLate);
  }
}

// The slot is free before the reader hears of the end, so that its next request finds room.
void StepLoop::release_ended() {
  std::vector<Sequence> ended = running_.take_ended();
  for (const Sequence& sequence : ended)
    if (!sequence.request().use_prompt_cache) cache_.forget(sequence.slot());
  running_count_ = running_.count();
  cached_state_bytes_ = cache_.held_bytes();
  metrics_.set_running(running_.count());
  metrics_.set_cached_state(cache_.held_bytes());
  for (const Sequence& sequence : ended) metrics_.ended(sequence.end());
  intake_.release(ended.size());
  for (Sequence& sequence : ended) sequence.send_end();
}

void StepLoop::admit() {
  while (!running_.full()) {
    std::optional<Waiting> waiting = intake_.pop();
    if (!waiting) break;
    metrics_.queued(-1);
    start(std::move(*waiting));
  }
  running_count_ = running_.count();
  metrics_.set_running(running_.count());
}

void StepLoop::start(Waiting waiting) {
  const int slot = cache_.choose(waiting.request, running_.idle_slots());
  const int cached = cache_.open(slot, waiting.request);
  metrics_.cached_tokens(cached);
  const int most_generated = limits_.context_tokens - static_cast<int>(waiting.request.tokens.size());
  waiting.number = next_number_++;
  running_.add(Sequence(std::move(waiting), slot, cached, most_generated));
}

}  // namespace luce::engine
