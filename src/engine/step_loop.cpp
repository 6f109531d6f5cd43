#include "engine/step_loop.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/check.hpp"

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
  metrics_.refused(admission == Admission::full ? "queue_full" : "stopping");
  return admission;
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
  const std::vector<Waiting> gone = intake_.remove_if([&](const Waiting& waiting) {
    return stopping_ || waiting.ticket->wish() != Wish::more || late(waiting.request, now);
  });
  metrics_.queued(-static_cast<int>(gone.size()));
  intake_.release(gone.size());
  for (const Waiting& waiting : gone) {
    Event end = end_of(waiting);
    metrics_.ended(end);
    waiting.ticket->send(std::move(end));
  }
}

Event StepLoop::end_of(const Waiting& waiting) const {
  RequestStats stats{.prompt_tokens = static_cast<int>(waiting.request.tokens.size())};
  stats.queue_seconds = seconds_since(waiting.submitted);
  const Wish wish = waiting.ticket->wish();
  if (wish == Wish::stop) return Finished{.reason = FinishReason::stopped, .stats = stats};
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

StepBudget StepLoop::budget() const {
  const int prompt_rows = running_.any_decodes() ? std::min(settings_.prompt_rows_beside_decode, pacer_.prompt_rows())
                                                 : pacer_.prompt_rows();
  return {.rows = limits_.rows, .prompt_rows = prompt_rows};
}

void StepLoop::step() {
  std::vector<SequenceWork> work;
  for (const Sequence& sequence : running_.all())
    work.push_back(sequence.work(cache_.next_border(sequence.request(), sequence.position())));
  const std::vector<PlannedSpan> plan = scheduler_.plan(work, budget());
  LUCE_CHECK(!plan.empty(), "running sequences give work");
  try {
    run_plan(plan);
  } catch (const Error& error) {
    fail_plan(plan, error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    fail_plan(plan, ErrorKind::out_of_memory, "the step ran out of memory");
  } catch (const std::exception& error) {
    fail_plan(plan, ErrorKind::internal, error.what());
  }
  release_ended();
}

void StepLoop::run_plan(std::span<const PlannedSpan> plan) {
  const model::Batch batch = batch_of(plan, running_);
  const ExpertTotals before = expert_totals();
  const Clock::time_point start = Clock::now();
  const std::span<const float> logits = model_.forward(batch);
  const int prompt_rows = count_rows(plan, device::RowClass::prompt);
  pacer_.record(prompt_rows, seconds_since(start));
  metrics_.prompt_rows(prompt_rows);
  share_experts(plan, before);
  if (settings_.on_step) settings_.on_step(rows_of(plan));
  deliver(plan, logits);
}

void StepLoop::deliver(std::span<const PlannedSpan> plan, std::span<const float> logits) {
  const auto vocabulary = static_cast<size_t>(model_.vocabulary_size());
  for (const PlannedSpan& span : plan) {
    Sequence& sequence = running_.in_slot(span.slot);
    cache_.advance(span.slot, sequence.next_tokens(span.rows));
    sequence.advance(span.rows);
    if (!span.wants_logits) {
      if (sequence.position() == cache_.next_border(sequence.request(), span.first_position))
        cache_.take_snapshot(span.slot);
      continue;
    }
    const std::span<const float> row = logits.first(vocabulary);
    logits = logits.subspan(vocabulary);
    give_logits(sequence, row);
  }
}

void StepLoop::give_logits(Sequence& sequence, std::span<const float> logits) {
  const Clock::time_point previous_at = sequence.latest_token_at();
  const int generated = sequence.stats().generated_tokens;
  try {
    sequence.take_logits(logits);
  } catch (const Error& error) {  // an output constraint may fail; the other sequences go on
    sequence.fail(error.kind(), error.what());
  } catch (const std::exception& error) {
    sequence.fail(ErrorKind::internal, error.what());
  }
  if (sequence.stats().generated_tokens == generated) return;
  if (generated == 0)
    metrics_.first_token(sequence.latest_token_at() - sequence.submitted_at());
  else
    metrics_.next_token(sequence.latest_token_at() - previous_at);
}

void StepLoop::fail_plan(std::span<const PlannedSpan> plan, ErrorKind kind, const std::string& message) {
  for (const PlannedSpan& span : plan) {
    Sequence& sequence = running_.in_slot(span.slot);
    if (!sequence.ended()) sequence.fail(kind, message);
    cache_.forget(span.slot);
  }
}

void StepLoop::share_experts(std::span<const PlannedSpan> plan, const ExpertTotals& before) {
  const ExpertTotals after = expert_totals();
  const ExpertStats step{.hits = static_cast<double>(after.hits - before.hits),
                         .misses = static_cast<double>(after.misses - before.misses),
                         .bytes_fetched = static_cast<double>(after.bytes_fetched - before.bytes_fetched),
                         .stall_ms = 1e3 * (after.stall_seconds - before.stall_seconds),
                         .substituted = static_cast<double>(after.substituted - before.substituted)};
  const int rows = count_rows(plan);
  for (const PlannedSpan& span : plan)
    running_.in_slot(span.slot).add_expert_share(step, static_cast<double>(span.rows) / rows);
}

std::vector<StepRows> StepLoop::rows_of(std::span<const PlannedSpan> plan) {
  std::vector<StepRows> rows;
  for (const PlannedSpan& span : plan) {
    const Sequence& sequence = running_.in_slot(span.slot);
    const bool decode = span.row_class == device::RowClass::decode;
    rows.push_back({sequence.number(), span.rows, decode, &sequence.request()});
  }
  return rows;
}

ExpertTotals StepLoop::expert_totals() const {
  return settings_.expert_totals ? settings_.expert_totals() : ExpertTotals{};
}

}  // namespace luce::engine
