#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "experts/cached_expert_service.hpp"
#include "model/blueprint.hpp"

namespace luce::model_test {

struct ModelSetup {
  model::StepLimits limits{.context_tokens = 512, .sequences = 3, .rows = 128, .logit_rows = 128};
  tensor::Format kv_format = tensor::Format::f16;
  double expert_share = 1.0;  // 0 is one slot per layer
  int threads = 2;
  std::string isa = "auto";
};

/// A model file from device to logits, without an engine.
class LoadedModel {
 public:
  LoadedModel(const std::string& path, const ModelSetup& setup);
  ~LoadedModel();

  model::Model& model() { return *model_; }
  device::Device& device() { return *device_; }
  const model::Blueprint& blueprint() const { return *blueprint_; }
  experts::CachedExpertService* experts() { return service_.get(); }
  size_t vocabulary() const { return static_cast<size_t>(model_->vocabulary_size()); }

  /// Logits [tokens, vocabulary] of `tokens` put after `first_position` of a slot, in chunks of at most `chunk` rows.
  std::vector<float> logits(int slot, std::span<const int32_t> tokens, int first_position, int chunk);

 private:
  std::unique_ptr<gguf::File> file_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<model::Blueprint> blueprint_;
  std::unique_ptr<experts::CachedExpertService> service_;
  std::unique_ptr<model::Model> model_;
};

/// One sequence's rows with the logits of all of them.
model::Batch single(int slot, std::span<const int32_t> tokens, int first_position);

/// Appends a sequence to a batch; asks for the logits of its last row.
void append(model::Batch& batch, int slot, std::span<const int32_t> tokens, int first_position);

/// `count` tokens below `vocabulary`, the same for the same seed.
std::vector<int32_t> random_tokens(int count, int vocabulary, uint32_t seed);

}  // namespace luce::model_test
