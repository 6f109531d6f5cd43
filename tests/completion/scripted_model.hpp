#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace luce::completion {

/// A model that says what the test wants: token after token of a script to every sequence, then the last one for ever.
class ScriptedModel : public model::Model {
 public:
  ScriptedModel(int vocabulary, std::vector<int32_t> script, int context_tokens = 4096)
      : vocabulary_(vocabulary),
        limits_{.context_tokens = context_tokens, .sequences = 2, .rows = 514, .logit_rows = 2},
        script_(std::move(script)),
        said_(2, 0) {}

  const std::string& architecture() const override { return architecture_; }
  const model::StepLimits& limits() const override { return limits_; }
  int vocabulary_size() const override { return vocabulary_; }
  int moe_layers() const override { return 0; }

  std::span<const float> forward(const model::Batch& batch) override {
    if (before_step) before_step();
    logits_.clear();
    for (const model::SequenceSpan& span : batch.spans) {
      const int last_row = span.first_row + span.rows - 1;
      if (std::find(batch.logit_rows.begin(), batch.logit_rows.end(), last_row) == batch.logit_rows.end()) continue;
      size_t& said = said_[span.slot];
      if (span.row_class == device::RowClass::prompt) said = 0;
      say(script_[std::min(said++, script_.size() - 1)]);
    }
    return logits_;
  }

  std::function<void()> before_step;

 private:
  void say(int32_t token) {
    logits_.resize(logits_.size() + static_cast<size_t>(vocabulary_), 0.0f);
    logits_[logits_.size() - static_cast<size_t>(vocabulary_) + static_cast<size_t>(token)] = 30.0f;
  }

  const std::string architecture_ = "scripted";
  int vocabulary_;
  model::StepLimits limits_;
  std::vector<int32_t> script_;
  std::vector<size_t> said_;
  std::vector<float> logits_;
};

}  // namespace luce::completion
