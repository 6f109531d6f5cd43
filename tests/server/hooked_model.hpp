#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "model/model.hpp"

namespace luce::server {

/// Faults and delays that a test brings about while requests run.
struct ModelHooks {
  std::atomic<int> prompt_step_ms = 0;
  std::atomic<int> decode_step_ms = 0;
  std::atomic<int> fail_after_decodes = -1;  // further decode steps that succeed; below 0: all
  std::atomic<bool> nan_logits = false;
  std::atomic<int64_t> prompt_rows = 0;  // computed so far
};

/// Another model with hooks.
class HookedModel final : public model::Model {
 public:
  HookedModel(model::Model& inner, ModelHooks& hooks) : inner_(inner), hooks_(hooks) {}

  const std::string& architecture() const override { return inner_.architecture(); }
  const model::StepLimits& limits() const override { return inner_.limits(); }
  int vocabulary_size() const override { return inner_.vocabulary_size(); }
  int moe_layers() const override { return inner_.moe_layers(); }
  bool has_recurrent_state() const override { return inner_.has_recurrent_state(); }
  size_t state_bytes() const override { return inner_.state_bytes(); }
  void save_state(int slot, std::span<std::byte> to) const override { inner_.save_state(slot, to); }
  void load_state(int slot, std::span<const std::byte> from) override { inner_.load_state(slot, from); }

  std::span<const float> forward(const model::Batch& batch) override {
    int prompt = 0;
    int decode = 0;
    for (const model::SequenceSpan& span : batch.spans)
      (span.row_class == device::RowClass::prompt ? prompt : decode) += span.rows;
    hooks_.prompt_rows += prompt;
    std::this_thread::sleep_for(std::chrono::milliseconds(prompt > 0 ? hooks_.prompt_step_ms : hooks_.decode_step_ms));
    if (decode > 0 && hooks_.fail_after_decodes >= 0 && hooks_.fail_after_decodes-- == 0)
      fail(ErrorKind::device, "the test made this step fail");
    const std::span<const float> logits = inner_.forward(batch);
    if (!hooks_.nan_logits) return logits;
    nan_.assign(logits.size(), std::numeric_limits<float>::quiet_NaN());
    return nan_;
  }

 private:
  model::Model& inner_;
  ModelHooks& hooks_;
  std::vector<float> nan_;
};

}  // namespace luce::server
