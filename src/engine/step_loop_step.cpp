// How a step runs: its plan, the forward pass, and what each sequence gets of it.
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "engine/step_loop.hpp"

namespace luce::engine {

namespace {

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

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
  if (settings_.before_step) settings_.before_step(rows_of(plan));
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
                         .substituted = static_cast<double>(after.substituted - before.substituted),
                         .dropped = static_cast<double>(after.dropped - before.dropped),
                         .reweighted = static_cast<double>(after.reweighted - before.reweighted)};
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
