#include "model/blueprint.hpp"

#include "base/error.hpp"
#include "model/frame.hpp"

namespace luce::model {
namespace {

constexpr StepLimits kMeasuredStep{.context_tokens = 1, .sequences = 16, .rows = 16, .logit_rows = 16};
constexpr StepLimits kMeasuredPrompt{.context_tokens = 1, .sequences = 16, .rows = 16, .logit_rows = 0};

plan::LayerShape remembered(const LayerMemory& memory) {
  return {.k_width = memory.key_values, .v_width = memory.value_values, .recurrent_bytes = memory.recurrent_bytes()};
}

int64_t expert_bytes(const device::Device& device, const device::ExpertShape& shape) {
  return static_cast<int64_t>(device.packed_bytes(shape.gate, shape.inner, shape.width) +
                              device.packed_bytes(shape.up, shape.inner, shape.width) +
                              device.packed_bytes(shape.down, shape.width, shape.inner));
}

}  // namespace

Blueprint::Blueprint(const gguf::File& file, const device::Device& device)
    : file_(file), hyperparameters_(read_hyperparameters(file)) {
  const Hyperparameters& h = hyperparameters_;
  WeightReader weights(file, device, Scratch::kNowhere);
  const Frame frame = read_frame(h, weights);
  const std::unique_ptr<Network> network = find_architecture(h.architecture).make(h, weights);
  dense_bytes_ = weights.bytes();
  expert_layers_ = weights.expert_layers();
  note_oddities(weights, frame.tied);

  shape_.architecture = h.architecture;
  shape_.name = h.name;
  shape_.vocabulary = h.vocabulary;
  shape_.hidden = h.width;
  shape_.top_k = h.experts_used;
  shape_.trained_context = h.trained_context;
  shape_.embedding_bytes = frame.tied ? 0 : weights.bytes_of("token_embd.");
  shape_.output_bytes = weights.bytes_of("output") + (frame.tied ? weights.bytes_of("token_embd.") : 0);
  shape_layers(weights, device, network->memory());
  // A step's scratch grows in proportion to its rows and to the rows whose logits are wanted.
  const int64_t both = measure_scratch(h, frame, *network, kMeasuredStep);
  const int64_t rows_only = measure_scratch(h, frame, *network, kMeasuredPrompt);
  shape_.scratch_row_bytes = rows_only / kMeasuredStep.rows;
  const int64_t host_logits = h.vocabulary * static_cast<int64_t>(sizeof(float));
  shape_.scratch_output_bytes = (both - rows_only) / kMeasuredStep.logit_rows + host_logits;
}

void Blueprint::shape_layers(const WeightReader& weights, const device::Device& device,
                             const std::vector<LayerMemory>& memory) {
  for (size_t index = 0; index < memory.size(); ++index) {
    plan::LayerShape layer = remembered(memory[index]);
    layer.dense_bytes = weights.bytes_of("blk." + std::to_string(index) + ".");
    shape_.layers.push_back(layer);
  }
  for (const ExpertLayer& experts : expert_layers_) {
    plan::LayerShape& layer = shape_.layers[static_cast<size_t>(experts.layer)];
    layer.experts = experts.shape.experts;
    layer.expert_bytes = expert_bytes(device, experts.shape);
  }
}

void Blueprint::note_oddities(const WeightReader& weights, bool tied) {
  const std::vector<std::string> unused = weights.unused();
  if (!unused.empty())
    notes_.push_back(std::to_string(unused.size()) + " tensors of the file are not used, the first is " +
                     unused.front());
  if (tied)
    notes_.emplace_back("the file has no output.weight, so token_embd.weight is used in its place (tied weights)");
}

void check_kv_format(const Hyperparameters& h, tensor::Format kv_format) {
  const int64_t block = tensor::info(kv_format).block_elements;
  if (h.key_width % block == 0 && h.value_width % block == 0) return;
  fail(ErrorKind::unsupported,
       "a {} KV cache needs heads whose width is a multiple of {}, the model's are {} and {} wide; use f16",
       tensor::info(kv_format).name, block, h.key_width, h.value_width);
}

}  // namespace luce::model
