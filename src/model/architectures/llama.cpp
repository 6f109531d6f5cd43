#include "model/architectures/architectures.hpp"
#include "model/blocks/attention.hpp"
#include "model/blocks/mixture_of_experts.hpp"

namespace luce::model {
namespace {

struct Layer {
  device::Tensor attention_norm, feed_forward_norm;
  Attention attention;
  FeedForward feed_forward;  // without experts
  MixtureOfExperts mixture;  // with experts
};

class Llama final : public Network {
 public:
  Llama(const Hyperparameters& h, WeightReader& weights) : h_(h) {
    // Llama 3.1 files give the divisors of its long-context frequencies as one tensor for all layers.
    frequency_factors_ = weights.optional_values("rope_freqs.weight", {h.rotary_dimensions / 2});
    for (int index = 0; index < h.layers; ++index) layers_.push_back(read(weights, index));
  }

  std::vector<LayerMemory> memory() const override { return {layers_.size(), attention_memory(h_)}; }

  void layer(Step& step, int index) const override {
    const Layer& layer = layers_[static_cast<size_t>(index)];
    add_residual(step, [&] {
      const device::Tensor normed = normalise(step, step.x, layer.attention_norm, h_.norm_epsilon);  // [rows, width]
      return attention(step, h_, layer.attention, index, normed);
    });
    add_residual(step, [&] {
      const device::Tensor normed = normalise(step, step.x, layer.feed_forward_norm, h_.norm_epsilon);  // [rows, width]
      return h_.experts > 0 ? mixture_of_experts(step, h_, layer.mixture, index, normed)
                            : feed_forward(step, layer.feed_forward, normed);
    });
  }

 private:
  Layer read(WeightReader& weights, int index) const {
    const std::string prefix = layer_prefix(index);
    Layer layer;
    layer.attention_norm = weights.values(prefix + "attn_norm.weight", {h_.width});
    layer.feed_forward_norm = weights.values(prefix + "ffn_norm.weight", {h_.width});
    layer.attention = read_attention(h_, weights, prefix, false);
    layer.attention.rotary_style = device::RotaryStyle::neighbours;
    layer.attention.frequency_factors = frequency_factors_;
    if (h_.experts > 0) {
      layer.mixture = read_mixture(h_, weights, prefix, index);
    } else {
      layer.feed_forward = read_feed_forward(weights, prefix, "", {h_.feed_forward, h_.width});
    }
    return layer;
  }

  Hyperparameters h_;
  device::Tensor frequency_factors_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Network> make_llama(const Hyperparameters& h, WeightReader& weights) {
  return std::make_unique<Llama>(h, weights);
}

}  // namespace luce::model
