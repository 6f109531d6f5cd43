#include "model/architectures/architectures.hpp"
#include "model/blocks/hybrid_mixer.hpp"
#include "model/blocks/mixture_of_experts.hpp"

namespace luce::model {
namespace {

struct Layer {
  device::Tensor mixer_norm, feed_forward_norm;
  HybridMixer mixer;
  MixtureOfExperts mixture;
};

class Qwen35Moe final : public Network {
 public:
  Qwen35Moe(const Hyperparameters& h, WeightReader& weights) : h_(h) {
    for (int index = 0; index < h.layers; ++index) layers_.push_back(read(weights, index));
  }

  std::vector<LayerMemory> memory() const override { return hybrid_memory(h_); }

  void layer(Step& step, int index) const override {
    const Layer& layer = layers_[static_cast<size_t>(index)];
    add_residual(step, [&] {
      const device::Tensor normed = normalise(step, step.x, layer.mixer_norm, h_.norm_epsilon);  // [rows, width]
      return mix(step, h_, layer.mixer, index, normed);
    });
    add_residual(step, [&] {
      const device::Tensor normed = normalise(step, step.x, layer.feed_forward_norm, h_.norm_epsilon);  // [rows, width]
      return mixture_of_experts(step, h_, layer.mixture, index, normed);
    });
  }

 private:
  Layer read(WeightReader& weights, int index) const {
    const std::string prefix = layer_prefix(index);
    Layer layer;
    layer.mixer_norm = weights.values(prefix + "attn_norm.weight", {h_.width});
    layer.feed_forward_norm = weights.values(prefix + "post_attention_norm.weight", {h_.width});
    layer.mixer = read_mixer(h_, weights, prefix, index);
    layer.mixture = read_mixture(h_, weights, prefix, index);
    read_shared_expert(h_, weights, prefix, layer.mixture);
    return layer;
  }

  Hyperparameters h_;
  std::vector<Layer> layers_;
};

}  // namespace

std::unique_ptr<Network> make_qwen35moe(const Hyperparameters& h, WeightReader& weights) {
  return std::make_unique<Qwen35Moe>(h, weights);
}

}  // namespace luce::model
