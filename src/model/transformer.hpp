#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/blueprint.hpp"
#include "model/frame.hpp"

namespace luce::model {

/// Embedding, the network's layers and the output head over loaded weights.
class Transformer final : public Model {
 public:
  Transformer(const Blueprint& blueprint, device::Device& device, device::ExpertService* experts,
              const LoadSettings& settings, const LoadProgress& progress);

  const std::string& architecture() const override { return hyperparameters_.architecture; }
  const StepLimits& limits() const override { return limits_; }
  int vocabulary_size() const override { return static_cast<int>(hyperparameters_.vocabulary); }
  int moe_layers() const override { return moe_layers_; }
  std::span<const float> forward(const Batch& batch) override;
  bool has_recurrent_state() const override { return memory_->state_bytes() > 0; }
  size_t state_bytes() const override { return static_cast<size_t>(memory_->state_bytes()); }
  void save_state(int slot, std::span<std::byte> to) const override { memory_->save_state(device_, slot, to); }
  void load_state(int slot, std::span<const std::byte> from) override { memory_->load_state(device_, slot, from); }

 private:
  device::Tensor run(const Batch& batch, Scratch& scratch);
  void check(const Batch& batch) const;
  void write_inputs(const Batch& batch, const StepInputs& inputs);
  void write_indices(const device::Tensor& to, const std::vector<int32_t>& values);

  device::Device& device_;
  device::ExpertService* experts_;
  Hyperparameters hyperparameters_;
  StepLimits limits_;
  int moe_layers_ = 0;
  std::unique_ptr<device::Allocation> weights_;
  Frame frame_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<SequenceMemory> memory_;
  std::unique_ptr<device::Allocation> scratch_memory_;
  std::vector<device::RowClass> classes_;  // [rows]
  std::vector<float> logits_;              // [logit_rows, vocabulary]
};

}  // namespace luce::model
