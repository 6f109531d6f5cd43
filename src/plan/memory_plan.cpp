#include "plan/memory_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/byte_size.hpp"
#include "base/error.hpp"
#include "plan/hit_model.hpp"
#include "plan/slot_split.hpp"

namespace luce::plan {
namespace {

using base::format_bytes;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kMaxBytes = int64_t{1} << 50;  // above any machine, and sums over layers stay far from overflow

int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > kMaxBytes)
    fail(ErrorKind::out_of_memory,
         "memory plan: {} x {} bytes is beyond any machine; lower the context or the number of sequences", a, b);
  return result;
}

void require(bool in_range, std::string_view what, int64_t value) {
  if (!in_range) fail(ErrorKind::usage, "memory plan: {} is {}, which is out of range", what, value);
}

void check_request(const MemoryRequest& request) {
  const int64_t budget = request.budget_bytes.value_or(request.available_bytes);
  require(budget >= 0 && budget <= kMaxBytes, "the memory budget in bytes", budget);
  require(request.context_tokens > 0, "the context in tokens", request.context_tokens);
  require(request.sequences > 0, "the number of sequences", request.sequences);
  require(request.chunk_rows >= 0, "the rows of a step", request.chunk_rows);
  require(request.output_rows >= 0, "the rows of a step with logits", request.output_rows);
  require(request.experts_per_layer.value_or(1) > 0, "the number of resident experts per layer",
          request.experts_per_layer.value_or(1));
  const double share = request.expert_share.value_or(0.0);
  if (!(share >= 0.0 && share <= 1.0))
    fail(ErrorKind::usage, "memory plan: the expert share is {}; give 0 % to 100 %", share);
}

int64_t expert_layers(const ModelShape& shape) {
  return std::count_if(shape.layers.begin(), shape.layers.end(), [](const LayerShape& l) { return l.experts > 0; });
}

int64_t all_experts(const ModelShape& shape) {
  int64_t sum = 0;
  for (const LayerShape& layer : shape.layers) sum += layer.experts;
  return sum;
}

/// Expert bytes if layer i holds count(i) experts.
template <typename Count>
int64_t expert_bytes(const ModelShape& shape, Count count) {
  int64_t sum = 0;
  for (size_t i = 0; i < shape.layers.size(); ++i) sum += product(count(i), shape.layers[i].expert_bytes);
  return sum;
}

int64_t scratch_bytes(const ModelShape& shape, const MemoryRequest& request) {
  const int64_t rows = std::max(request.chunk_rows, request.sequences);
  return shape.scratch_fixed_bytes + product(rows, shape.scratch_row_bytes) +
         product(std::max(request.output_rows, request.sequences), shape.scratch_output_bytes);
}

void plan_fixed_parts(const ModelShape& shape, const MemoryRequest& request, MemoryPlan& plan) {
  const auto part = [&plan](Part p) -> int64_t& { return plan.part_bytes[static_cast<size_t>(p)]; };
  int64_t recurrent = 0;
  part(Part::dense_weights) = shape.embedding_bytes + shape.output_bytes;
  for (const LayerShape& layer : shape.layers) {
    part(Part::dense_weights) += layer.dense_bytes;
    recurrent += layer.recurrent_bytes;
  }
  part(Part::kv_cache) = product(request.sequences, kv_bytes(shape, request.kv_format, request.context_tokens));
  part(Part::recurrent_state) = product(request.sequences, recurrent);
  part(Part::scratch) = scratch_bytes(shape, request);
  part(Part::tokenizer) = request.tokenizer_bytes;
  part(Part::staging) = expert_layers(shape) > 0 ? request.staging_bytes : 0;
  part(Part::overhead) = request.overhead_bytes;
}

/// What to do about a budget below the `needed_bytes`.
std::string advice(const ModelShape& shape, const MemoryRequest& request, int64_t needed_bytes, int64_t budget_bytes) {
  const int64_t missing = needed_bytes - budget_bytes;
  // What the process itself takes differs a little from start to start.
  const int64_t enough_mib = needed_bytes / kMiB + 2;
  const int64_t kv_all = product(request.sequences, kv_bytes(shape, request.kv_format, request.context_tokens));
  const int64_t kv_token = kv_all / request.context_tokens;
  const int64_t tokens_less = kv_token > 0 ? (missing + kv_token - 1) / kv_token : request.context_tokens;
  if (tokens_less < request.context_tokens)
    return fmt::format("give at least {} MiB, or lower the context from {} to at most {} tokens", enough_mib,
                       request.context_tokens, request.context_tokens - tokens_less);
  return fmt::format("give at least {} MiB, or take a smaller model", enough_mib);
}

void require_minimum(const ModelShape& shape, const MemoryRequest& request, MemoryPlan plan) {
  plan.part_bytes[static_cast<size_t>(Part::expert_slots)] =
      expert_bytes(shape, [&](size_t i) { return shape.layers[i].experts > 0 ? 1 : 0; });
  const int64_t total = plan.total_bytes();
  if (total <= plan.budget_bytes) return;
  std::string parts;
  for (const Part part : kAllParts)
    if (plan.bytes(part) > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name(part), plan.bytes(part));
  fail(
      ErrorKind::out_of_memory,
      "{} does not fit: with one expert per layer it needs {}, the budget is {}; {} (in bytes: {}, together {}, budget "
      "{})",
      shape.name, format_bytes(total), format_bytes(plan.budget_bytes),
      advice(shape, request, total, plan.budget_bytes), parts, total, plan.budget_bytes);
}

/// The most slots that the request wants, at least one per layer.
int64_t wanted_slots(const ModelShape& shape, const MemoryRequest& request) {
  int64_t wanted = all_experts(shape);
  if (request.expert_share) wanted = std::min(wanted, std::lround(*request.expert_share * static_cast<double>(wanted)));
  if (request.experts_per_layer) wanted = std::min(wanted, product(*request.experts_per_layer, expert_layers(shape)));
  return std::max(wanted, expert_layers(shape));
}

void plan_slots(const ModelShape& shape, const MemoryRequest& request, MemoryPlan& plan) {
  const int64_t wanted = wanted_slots(shape, request);
  plan.slots = split_slots(shape.layers, {plan.budget_bytes - plan.total_bytes(), wanted});
  const auto held = [&plan](size_t i) { return plan.slots[i]; };
  const int64_t held_bytes = expert_bytes(shape, held);
  const int64_t all_bytes = expert_bytes(shape, [&](size_t i) { return shape.layers[i].experts; });
  plan.part_bytes[static_cast<size_t>(Part::expert_slots)] = held_bytes;
  plan.total_slots = std::accumulate(plan.slots.begin(), plan.slots.end(), int64_t{0});
  plan.total_experts = all_experts(shape);
  plan.share_resident = all_bytes > 0 ? static_cast<double>(held_bytes) / static_cast<double>(all_bytes) : 1.0;
  plan.token_cycle_bytes = token_cycle_bytes(shape);
  plan.expected_hit_ratio = expected_hit_ratio(plan.share_resident);
  if ((request.expert_share || request.experts_per_layer) && plan.total_slots < wanted)
    plan.warnings.push_back(fmt::format("{} resident experts were asked for, but the budget of {} holds {}", wanted,
                                        format_bytes(plan.budget_bytes), plan.total_slots));
}

void warn_of_few_slots(const ModelShape& shape, MemoryPlan& plan) {
  if (plan.total_experts == 0 || plan.total_slots == plan.total_experts) return;
  const double per_layer = static_cast<double>(plan.total_slots) / static_cast<double>(expert_layers(shape));
  if (plan.bytes(Part::expert_slots) < plan.token_cycle_bytes) {
    plan.warnings.push_back(
        fmt::format("the expert slots take {}, less than the {} of experts that one token reads: nearly "
                    "every access will be a miss, and the model runs at the speed of its file",
                    format_bytes(plan.bytes(Part::expert_slots)), format_bytes(plan.token_cycle_bytes)));
  }
  if (per_layer >= 3.0 * shape.top_k) return;
  const double share = share_for_hit_ratio(0.9);
  const int64_t all_bytes = expert_bytes(shape, [&](size_t i) { return shape.layers[i].experts; });
  plan.warnings.push_back(fmt::format(
      "{:.1f} resident experts per layer are fewer than three times top-k ({}): expect a hit ratio of about {:.2f}; "
      "0.9 would take about {:.0f} % of the experts, {} MiB of slots",
      per_layer, shape.top_k, plan.expected_hit_ratio, 100.0 * share,
      std::lround(share * static_cast<double>(all_bytes)) / kMiB));
}

}  // namespace

std::string_view name(Part part) {
  constexpr std::array<std::string_view, kParts> kNames = {"dense weights",    "KV cache",    "recurrent state",
                                                           "scratch",          "tokenizer",   "staging",
                                                           "process overhead", "expert slots"};
  return kNames[static_cast<size_t>(part)];
}

int64_t MemoryPlan::total_bytes() const { return std::accumulate(part_bytes.begin(), part_bytes.end(), int64_t{0}); }

int64_t reserve_bytes(int64_t available_bytes) { return std::clamp(available_bytes / 20, 64 * kMiB, 2048 * kMiB); }

int64_t kv_bytes(const ModelShape& shape, tensor::Format format, int64_t tokens) {
  int64_t sum = 0;
  for (const LayerShape& layer : shape.layers)
    for (const int64_t width : {layer.k_width, layer.v_width}) {
      if (width % tensor::info(format).block_elements != 0)
        fail(ErrorKind::unsupported,
             "KV cache in {} needs rows of a multiple of {} values, but a row of {} has {}; choose f16",
             tensor::info(format).name, tensor::info(format).block_elements, shape.name, width);
      sum += product(tokens, tensor::packed_bytes(format, width));
    }
  return sum;
}

int64_t token_cycle_bytes(const ModelShape& shape) {
  return expert_bytes(shape, [&](size_t i) { return std::min(shape.layers[i].experts, shape.top_k); });
}

MemoryPlan plan_memory(const ModelShape& shape, const MemoryRequest& request) {
  check_request(request);
  MemoryPlan plan;
  plan.reserve_bytes = reserve_bytes(request.available_bytes);
  plan.budget_bytes = request.budget_bytes.value_or(std::max<int64_t>(0, request.available_bytes - plan.reserve_bytes));
  plan_fixed_parts(shape, request, plan);
  require_minimum(shape, request, plan);
  plan_slots(shape, request, plan);
  warn_of_few_slots(shape, plan);
  return plan;
}

}  // namespace luce::plan
