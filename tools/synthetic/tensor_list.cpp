#include "synthetic/tensor_list.hpp"

#include <cmath>
#include <utility>

namespace luce::synthetic {
namespace {

using tensor::Format;
using tensor::Shape;

constexpr Distribution kNorm = {Distribution::Kind::normal, 1.0F, 0.1F};

Format fitting(Format wanted, int64_t width) {
  for (const Format format : {wanted, Format::q8_0}) {
    if (width % tensor::info(format).block_elements == 0) return format;
  }
  return Format::f16;
}

/// Collects the tensors of one block after the other.
class Planner {
 public:
  explicit Planner(const ModelSpec& spec) : spec_(spec), hidden_(spec.hidden) {}

  std::vector<PlannedTensor> plan() {
    matrix("token_embd.weight", {spec_.vocab, hidden_}, spec_.embedding,
           spec_.tied_output ? 2.0F * spread(hidden_) : 0.5F);
    vector("output_norm.weight", hidden_, kNorm);
    // Twice the usual spread makes the next token less of a coin toss.
    if (!spec_.tied_output) matrix("output.weight", {spec_.vocab, hidden_}, spec_.output, 2.0F * spread(hidden_));
    for (uint32_t block = 0; block < spec_.blocks(); ++block) plan_block(block);
    return std::move(tensors_);
  }

 private:
  static float spread(int64_t inputs) { return 1.0F / std::sqrt(static_cast<float>(inputs)); }

  void plan_block(uint32_t block) {
    prefix_ = "blk." + std::to_string(block) + ".";
    more_bits_ = gets_more_bits(block, spec_.layers);
    vector("attn_norm.weight", hidden_, kNorm);
    if (spec_.has_full_attention(block)) {
      plan_attention();
    } else {
      plan_delta_network();
    }
    vector(spec_.is_hybrid() ? "post_attention_norm.weight" : "ffn_norm.weight", hidden_, kNorm);
    if (spec_.is_moe()) {
      plan_experts();
    } else {
      plan_feed_forward("", spec_.ffn);
    }
    if (block >= spec_.layers) plan_next_token();
  }

  void plan_attention() {
    const int64_t query_width = int64_t{spec_.heads} * spec_.head_dim;
    const int64_t kv_width = int64_t{spec_.kv_heads} * spec_.head_dim;
    // In hybrid models a gate for each output lies beside the queries.
    layer_matrix("attn_q.weight", {spec_.is_hybrid() ? 2 * query_width : query_width, hidden_}, spec_.attention);
    layer_matrix("attn_k.weight", {kv_width, hidden_}, spec_.attention);
    layer_matrix("attn_v.weight", {kv_width, hidden_}, spec_.attention);
    layer_matrix("attn_output.weight", {hidden_, query_width}, spec_.attention);
    if (spec_.arch == "llama") return;
    vector("attn_q_norm.weight", spec_.head_dim, kNorm);
    vector("attn_k_norm.weight", spec_.head_dim, kNorm);
  }

  void plan_delta_network() {
    const int64_t mixed_width = 2 * int64_t{spec_.key_width()} + spec_.ssm_inner;
    const int64_t value_heads = spec_.ssm_value_heads;
    layer_matrix("attn_qkv.weight", {mixed_width, hidden_}, spec_.attention);
    layer_matrix("attn_gate.weight", {spec_.ssm_inner, hidden_}, spec_.attention);
    matrix(prefix_ + "ssm_conv1d.weight", {mixed_width, spec_.ssm_conv}, Format::f32, spread(spec_.ssm_conv));
    vector("ssm_dt.bias", value_heads, {Distribution::Kind::time_steps});
    vector("ssm_a", value_heads, {Distribution::Kind::decay_rates});
    layer_matrix("ssm_beta.weight", {value_heads, hidden_}, spec_.attention);
    layer_matrix("ssm_alpha.weight", {value_heads, hidden_}, spec_.attention);
    vector("ssm_norm.weight", spec_.ssm_inner / value_heads, kNorm);
    layer_matrix("ssm_out.weight", {hidden_, spec_.ssm_inner}, spec_.attention);
  }

  void plan_experts() {
    const int64_t experts = spec_.experts;
    const int64_t width = spec_.expert_ffn;
    matrix(prefix_ + "ffn_gate_inp.weight", {experts, hidden_}, Format::f32, 2.0F * spread(hidden_));
    if (spec_.fused_gate_up) {
      layer_matrix("ffn_gate_up_exps.weight", {experts, 2 * width, hidden_}, spec_.gate_up);
    } else {
      layer_matrix("ffn_gate_exps.weight", {experts, width, hidden_}, spec_.gate_up);
      layer_matrix("ffn_up_exps.weight", {experts, width, hidden_}, spec_.gate_up);
    }
    layer_matrix("ffn_down_exps.weight", {experts, hidden_, width}, spec_.down);
    if (spec_.arch != "qwen35moe") return;
    vector("ffn_gate_inp_shexp.weight", hidden_, {Distribution::Kind::normal, 0.0F, spread(hidden_)});
    plan_feed_forward("_shexp", spec_.shared_ffn);
  }

  void plan_feed_forward(const std::string& suffix, int64_t width) {
    layer_matrix("ffn_gate" + suffix + ".weight", {width, hidden_}, spec_.shared);
    layer_matrix("ffn_up" + suffix + ".weight", {width, hidden_}, spec_.shared);
    layer_matrix("ffn_down" + suffix + ".weight", {hidden_, width}, spec_.shared);
  }

  void plan_next_token() {
    layer_matrix("nextn.eh_proj.weight", {hidden_, 2 * hidden_}, spec_.attention);
    vector("nextn.enorm.weight", hidden_, kNorm);
    vector("nextn.hnorm.weight", hidden_, kNorm);
    vector("nextn.shared_head_norm.weight", hidden_, kNorm);
  }

  void layer_matrix(const std::string& name, Shape shape, const FormatPair& formats) {
    matrix(prefix_ + name, shape, more_bits_ ? formats.more_bits : formats.usual, spread(shape.width()));
  }

  void matrix(const std::string& name, Shape shape, Format format, float sigma) {
    tensors_.push_back({{name, fitting(format, shape.width()), shape}, {Distribution::Kind::normal, 0.0F, sigma}});
  }

  void vector(const std::string& name, int64_t length, Distribution values) {
    tensors_.push_back({{prefix_ + name, Format::f32, {length}}, values});
  }

  const ModelSpec& spec_;
  int64_t hidden_;
  std::string prefix_;
  bool more_bits_ = false;
  std::vector<PlannedTensor> tensors_;
};

}  // namespace

bool gets_more_bits(uint32_t layer, uint32_t layers) {
  const uint32_t eighth = layers / 8;
  return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
}

std::vector<PlannedTensor> plan_tensors(const ModelSpec& spec) { return Planner(spec).plan(); }

}  // namespace luce::synthetic
