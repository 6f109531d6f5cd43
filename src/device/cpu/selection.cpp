#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/lines.hpp"
#include "device/cpu/ops.hpp"

namespace luce::device::cpu {
namespace {

// A logit that is no number ranks last, so that the choice is always top_k different experts.
float rank_of(float logit) { return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit; }

void choose_largest(const float* logits, int64_t experts, int32_t* ids, int top_k) {
  int chosen = 0;
  for (int32_t e = 0; e < experts; ++e) {
    const float rank = rank_of(logits[e]);
    if (chosen == top_k && rank <= rank_of(logits[ids[top_k - 1]])) continue;
    int at = chosen < top_k ? chosen++ : top_k - 1;
    for (; at > 0 && rank > rank_of(logits[ids[at - 1]]); --at) ids[at] = ids[at - 1];
    ids[at] = e;
  }
}

/// How one row is chosen and weighed.
struct RowGate {
  int top_k;
  float temperature;

  RowGate(const SelectExperts& op, int64_t row) : top_k(op.top_k), temperature(1) {
    if (!op.change.changes() || op.classes[row] != RowClass::decode) return;
    top_k = op.change.top_k_of(op.top_k);
    temperature = op.change.temperature;
  }
};

void softmax_weights(const SelectExperts& op, const RowGate& gate, const float* logits, const int32_t* ids,
                     float* weights) {
  const float largest = logits[ids[0]];
  const auto part = [&](int64_t e) { return std::exp((logits[e] - largest) / gate.temperature); };
  float total = 0;
  if (!op.renormalise)
    for (int64_t e = 0; e < op.logits.shape[1]; ++e) total += part(e);
  for (int k = 0; k < gate.top_k; ++k) {
    weights[k] = part(ids[k]);
    if (op.renormalise) total += weights[k];
  }
  for (int k = 0; k < gate.top_k; ++k) weights[k] = weights[k] / total * op.weight_scale;
}

void sigmoid_weights(const SelectExperts& op, const RowGate& gate, const float* logits, const int32_t* ids,
                     float* weights) {
  float total = 0;
  for (int k = 0; k < gate.top_k; ++k) {
    weights[k] = 1.0F / (1.0F + std::exp(-logits[ids[k]] / gate.temperature));
    total += weights[k];
  }
  const float divisor = op.renormalise ? std::max(total, std::numeric_limits<float>::min()) : 1.0F;
  for (int k = 0; k < gate.top_k; ++k) weights[k] = weights[k] / divisor * op.weight_scale;
}

void weigh(const SelectExperts& op, const RowGate& gate, const float* logits, const int32_t* ids, float* weights) {
  const auto function = op.gating == RouterGating::softmax ? softmax_weights : sigmoid_weights;
  function(op, gate, logits, ids, weights);
}

void apply_rule(const SelectExperts& op, const Lines& logits, const Lines& ids, const Lines& weights) {
  op.rule->begin(op.layer, static_cast<int>(logits.count()), op.top_k);
  for (int64_t row = 0; row < logits.count(); ++row) {
    const RowGate gate(op, row);
    const auto chosen = static_cast<size_t>(gate.top_k);
    const SelectionRow choice{.layer = op.layer,
                              .row = static_cast<int>(row),
                              .row_class = op.classes[row],
                              .logits = {logits[row], static_cast<size_t>(logits.width())},
                              .weights = {weights[row], chosen},
                              .ids = {ids.ints(row), chosen}};
    if (op.rule->revise(choice)) weigh(op, gate, logits[row], ids.ints(row), weights[row]);
  }
}

}  // namespace

void select_experts(const Machine& machine, const SelectExperts& op) {
  const Lines logits(op.logits), ids(op.ids), weights(op.weights);
  LUCE_CHECK(op.classes != nullptr || !op.change.changes(), "a changed router needs to know which rows decode");
  LUCE_CHECK(op.top_k >= 1 && op.top_k <= logits.width(), "top_k lies between 1 and the number of experts");
  machine.pool.parallel_for(logits.count(), grain_for(logits.width() * 4), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const RowGate gate(op, row);
      choose_largest(logits[row], logits.width(), ids.ints(row), gate.top_k);
      weigh(op, gate, logits[row], ids.ints(row), weights[row]);
      std::fill(ids.ints(row) + gate.top_k, ids.ints(row) + op.top_k, kNoExpert);
      std::fill(weights[row] + gate.top_k, weights[row] + op.top_k, 0.0F);
    }
  });
  if (op.rule != nullptr) apply_rule(op, logits, ids, weights);
}

}  // namespace luce::device::cpu
