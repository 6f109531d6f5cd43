#include "model/loaded_model.hpp"

#include <algorithm>
#include <random>

#include "device/registry.hpp"
#include "experts/gguf_source.hpp"
#include "plan/memory_plan.hpp"

namespace luce::model_test {
namespace {

plan::MemoryPlan plan_for(const model::Blueprint& blueprint, const ModelSetup& setup) {
  plan::MemoryRequest request;
  request.available_bytes = int64_t{16} << 30;
  request.context_tokens = setup.limits.context_tokens;
  request.sequences = setup.limits.sequences;
  request.chunk_rows = setup.limits.rows;
  request.output_rows = setup.limits.logit_rows;
  request.kv_format = setup.kv_format;
  if (!blueprint.expert_layers().empty()) request.expert_share = setup.expert_share;
  return plan::plan_memory(blueprint.shape(), request);
}

}  // namespace

LoadedModel::LoadedModel(const std::string& path, const ModelSetup& setup)
    : file_(std::make_unique<gguf::File>(gguf::File::open(path))),
      device_(device::make_device({.name = "cpu", .threads = setup.threads, .isa = setup.isa})),
      blueprint_(std::make_unique<model::Blueprint>(*file_, *device_)) {
  const plan::MemoryPlan plan = plan_for(*blueprint_, setup);
  if (!blueprint_->expert_layers().empty()) {
    auto source = std::make_unique<experts::GgufExpertSource>(*file_, *device_, blueprint_->hyperparameters().layers);
    experts::CacheSettings cache;
    cache.tier.slots = plan.slots;
    service_ = std::make_unique<experts::CachedExpertService>(std::move(source), *device_, cache);
  }
  model_ = model::load(*blueprint_, *device_, service_.get(), {.limits = setup.limits, .kv_format = setup.kv_format});
}

LoadedModel::~LoadedModel() = default;

std::vector<float> LoadedModel::logits(int slot, std::span<const int32_t> tokens, int first_position, int chunk) {
  std::vector<float> all;
  for (size_t begin = 0; begin < tokens.size(); begin += static_cast<size_t>(chunk)) {
    const auto part = tokens.subspan(begin, std::min(tokens.size() - begin, static_cast<size_t>(chunk)));
    const std::span<const float> step = model_->forward(single(slot, part, first_position + static_cast<int>(begin)));
    all.insert(all.end(), step.begin(), step.end());
  }
  return all;
}

model::Batch single(int slot, std::span<const int32_t> tokens, int first_position) {
  model::Batch batch;
  append(batch, slot, tokens, first_position);
  batch.logit_rows.clear();
  for (int row = 0; row < batch.rows(); ++row) batch.logit_rows.push_back(row);
  return batch;
}

void append(model::Batch& batch, int slot, std::span<const int32_t> tokens, int first_position) {
  batch.spans.push_back({.slot = slot,
                         .first_row = batch.rows(),
                         .rows = static_cast<int>(tokens.size()),
                         .first_position = first_position,
                         .row_class = tokens.size() > 1 ? device::RowClass::prompt : device::RowClass::decode});
  batch.tokens.insert(batch.tokens.end(), tokens.begin(), tokens.end());
  batch.logit_rows.push_back(batch.rows() - 1);
}

std::vector<int32_t> random_tokens(int count, int vocabulary, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<int32_t> tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back(static_cast<int32_t>(generator() % static_cast<uint32_t>(vocabulary)));
  return tokens;
}

}  // namespace luce::model_test
