#include "engine/step_loop.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
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
      pacer_(checked_rows(settings_.prompt_rows, "prompt_rows"), settings_.step_seconds_target) {
  checked_rows(settings_.prompt_rows_beside_decode, "prompt_rows_beside_decode");
  thread_ = std::thread([this] { run(); });
}

StepLoop::~StepLoop() { stop(); }

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
  intake_.release(gone.size());
  for (const Waiting& waiting : gone) waiting.ticket->send(end_of(waiting));
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
  for (Sequence& sequence : running_) {
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
  const auto first_ended = std::stable_partition(running_.begin(), running_.end(),
                                                 [](const Sequence& sequence) { return !sequence.ended(); });
  std::vector<Sequence> ended(std::make_move_iterator(first_ended), std::make_move_iterator(running_.end()));
  running_.erase(first_ended, running_.end());
  for (const Sequence& sequence : ended)
    if (!sequence.request().use_prompt_cache) cache_.forget(sequence.slot());
  running_count_ = static_cast<int>(running_.size());
  cached_state_bytes_ = cache_.held_bytes();
  intake_.release(ended.size());
  for (Sequence& sequence : ended) sequence.send_end();
}

std::vector<int> StepLoop::idle_slots() const {
  std::vector<int> idle;
  for (int slot = 0; slot < limits_.sequences; ++slot)
    if (std::none_of(running_.begin(), running_.end(), [&](const Sequence& s) { return s.slot() == slot; }))
      idle.push_back(slot);
  return idle;
}

void StepLoop::admit() {
  while (static_cast<int>(running_.size()) < limits_.sequences) {
    std::optional<Waiting> waiting = intake_.pop();
    if (!waiting) return;
    start(std::move(*waiting), idle_slots());
  }
}

void StepLoop::start(Waiting waiting, std::span<const int> idle_slots) {
  const int slot = cache_.choose(waiting.request, idle_slots);
  const int cached = cache_.open(slot, waiting.request);
  const int most_generated = limits_.context_tokens - static_cast<int>(waiting.request.tokens.size());
  running_.emplace_back(std::move(waiting), slot, cached, most_generated);
  running_count_ = static_cast<int>(running_.size());
}

StepBudget StepLoop::budget() const {
  const bool decodes = std::any_of(running_.begin(), running_.end(), [](const Sequence& s) { return s.decoding(); });
  const int prompt_rows =
      decodes ? std::min(settings_.prompt_rows_beside_decode, pacer_.prompt_rows()) : pacer_.prompt_rows();
  return {.rows = limits_.rows, .prompt_rows = prompt_rows};
}

void StepLoop::step() {
  std::vector<SequenceWork> work;
  for (const Sequence& sequence : running_)
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

model::Batch StepLoop::batch_of(std::span<const PlannedSpan> plan) const {
  model::Batch batch;
  for (const PlannedSpan& span : plan) {
    const std::span<const int32_t> tokens = sequence_in(span.slot).next_tokens(span.rows);
    batch.spans.push_back({.slot = span.slot,
                           .first_row = batch.rows(),
                           .rows = span.rows,
                           .first_position = span.first_position,
                           .row_class = span.row_class});
    batch.tokens.insert(batch.tokens.end(), tokens.begin(), tokens.end());
    if (span.wants_logits) batch.logit_rows.push_back(batch.rows() - 1);
  }
  return batch;
}

void StepLoop::run_plan(std::span<const PlannedSpan> plan) {
  const model::Batch batch = batch_of(plan);
  const ExpertTotals before = expert_totals();
  const Clock::time_point start = Clock::now();
  const std::span<const float> logits = model_.forward(batch);
  const auto decoding = std::count_if(
      plan.begin(), plan.end(), [](const PlannedSpan& span) { return span.row_class == device::RowClass::decode; });
  pacer_.record(batch.rows() - static_cast<int>(decoding), seconds_since(start));
  share_experts(plan, before);
  deliver(plan, logits);
}

void StepLoop::deliver(std::span<const PlannedSpan> plan, std::span<const float> logits) {
  const auto vocabulary = static_cast<size_t>(model_.vocabulary_size());
  for (const PlannedSpan& span : plan) {
    Sequence& sequence = sequence_in(span.slot);
    cache_.advance(span.slot, sequence.next_tokens(span.rows));
    sequence.advance(span.rows);
    if (!span.wants_logits) {
      if (sequence.position() == cache_.next_border(sequence.request(), span.first_position))
        cache_.take_snapshot(span.slot);
      continue;
    }
    const std::span<const float> row = logits.first(vocabulary);
    logits = logits.subspan(vocabulary);
    try {
      sequence.take_logits(row);
    } catch (const std::exception& error) {  // an output constraint may fail; the other sequences go on
      sequence.fail(ErrorKind::internal, error.what());
    }
  }
}

void StepLoop::fail_plan(std::span<const PlannedSpan> plan, ErrorKind kind, const std::string& message) {
  for (const PlannedSpan& span : plan) {
    Sequence& sequence = sequence_in(span.slot);
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
  int rows = 0;
  for (const PlannedSpan& span : plan) rows += span.rows;
  for (const PlannedSpan& span : plan)
    sequence_in(span.slot).add_expert_share(step, static_cast<double>(span.rows) / rows);
}

ExpertTotals StepLoop::expert_totals() const {
  return settings_.expert_totals ? settings_.expert_totals() : ExpertTotals{};
}

const Sequence& StepLoop::sequence_in(int slot) const {
  const auto found =
      std::find_if(running_.begin(), running_.end(), [&](const Sequence& s) { return s.slot() == slot; });
  LUCE_CHECK(found != running_.end(), "a planned span belongs to a running sequence");
  return *found;
}

Sequence& StepLoop::sequence_in(int slot) { return const_cast<Sequence&>(std::as_const(*this).sequence_in(slot)); }

}  // namespace luce::engine
