#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "model/model.hpp"

namespace luce::engine {

/// A model whose next token follows from all tokens of the sequence, through KV rows and, if wanted, through a
/// recurrent state: any mistake in positions, slots or states changes the output.
class FakeModel : public model::Model {
 public:
  FakeModel(model::StepLimits limits, bool recurrent, size_t state_padding = 0)
      : limits_(limits),
        recurrent_(recurrent),
        state_padding_(state_padding),
        kv_(static_cast<size_t>(limits.sequences),
            std::vector<int32_t>(static_cast<size_t>(limits.context_tokens), -1)),
        states_(static_cast<size_t>(limits.sequences)) {}

  const std::string& architecture() const override { return architecture_; }
  const model::StepLimits& limits() const override { return limits_; }
  int vocabulary_size() const override { return kVocabulary; }
  int moe_layers() const override { return 0; }

  std::span<const float> forward(const model::Batch& batch) override {
    if (before_step) before_step(batch);
    {
      const std::lock_guard lock(mutex_);
      batches_.push_back(batch);
    }
    check(batch);
    logits_.clear();
    for (const model::SequenceSpan& span : batch.spans) run(batch, span);
    return logits_;
  }

  bool has_recurrent_state() const override { return recurrent_; }
  size_t state_bytes() const override { return sizeof(State) + state_padding_; }
  void save_state(int slot, std::span<std::byte> to) const override {
    std::memcpy(to.data(), &states_[slot], sizeof(State));
  }
  void load_state(int slot, std::span<const std::byte> from) override {
    if (from.size() != state_bytes()) fail(ErrorKind::internal, "a snapshot has the wrong size");
    std::memcpy(&states_[slot], from.data(), sizeof(State));
  }

  std::vector<model::Batch> batches() const {
    const std::lock_guard lock(mutex_);
    return batches_;
  }
  int prompt_rows() const {
    int rows = 0;
    for (const model::Batch& batch : batches())
      for (const model::SequenceSpan& span : batch.spans)
        if (span.row_class == device::RowClass::prompt) rows += span.rows;
    return rows;
  }

  static constexpr int kVocabulary = 300;
  /// Called at the start of forward(), on the step thread.
  std::function<void(const model::Batch&)> before_step;
  std::atomic<bool> give_nan = false;

 private:
  struct State {
    uint64_t hash = 0;
    int position = 0;
  };

  static uint64_t mix(uint64_t hash, int32_t token) {
    hash = (hash ^ static_cast<uint64_t>(token + 1)) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
  }

  void check(const model::Batch& batch) const {
    int rows = 0;
    for (const model::SequenceSpan& span : batch.spans) {
      if (span.first_row != rows || span.rows < 1) fail(ErrorKind::internal, "spans do not cover the rows in order");
      if (span.first_position + span.rows > limits_.context_tokens) fail(ErrorKind::internal, "beyond the context");
      rows += span.rows;
    }
    if (rows != batch.rows() || rows > limits_.rows) fail(ErrorKind::internal, "wrong number of rows {}", rows);
  }

  void run(const model::Batch& batch, const model::SequenceSpan& span) {
    State& state = states_[span.slot];
    if (span.first_position == 0) state = {};
    if (recurrent_ && state.position != span.first_position)
      fail(ErrorKind::internal, "state of position {} used at {}", state.position, span.first_position);
    for (int i = 0; i < span.rows; ++i) {
      const int row = span.first_row + i;
      kv_[span.slot][span.first_position + i] = batch.tokens[row];
      state.hash = mix(state.hash, batch.tokens[row]);
      ++state.position;
      if (std::find(batch.logit_rows.begin(), batch.logit_rows.end(), row) != batch.logit_rows.end())
        give_logits(span.slot, span.first_position + i);
    }
  }

  void give_logits(int slot, int position) {
    uint64_t hash = recurrent_ ? states_[slot].hash : 0;
    for (int i = 0; i <= position; ++i) hash = mix(hash, kv_[slot][i]);
    for (int i = 0; i < kVocabulary; ++i) {
      hash = mix(hash, i);
      logits_.push_back(give_nan ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(hash % 1000) / 100.0f);
    }
  }

  const std::string architecture_ = "fake";
  const model::StepLimits limits_;
  const bool recurrent_;
  const size_t state_padding_;
  std::vector<std::vector<int32_t>> kv_;
  std::vector<State> states_;
  std::vector<float> logits_;
  mutable std::mutex mutex_;
  std::vector<model::Batch> batches_;
};

}  // namespace luce::engine
