#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/format.hpp"

namespace luce::synthetic {

/// A format, and another for the layers to which Q4_K_M-like recipes give more bits (the same where there is none).
struct FormatPair {
  tensor::Format usual = tensor::Format::f32;
  tensor::Format more_bits = tensor::Format::f32;
};

/// "Q4_K" or "Q4_K,Q6_K"; throws usage for unknown names and formats that do not compute.
FormatPair parse_formats(const std::string& text);

/// Shape and formats of a model to be made up. Zero means that the architecture has no such thing.
struct ModelSpec {
  std::string arch = "qwen35moe";
  std::string name = "synthetic";
  uint32_t layers = 4;
  uint32_t hidden = 64;
  uint32_t heads = 4;
  uint32_t kv_heads = 2;
  uint32_t head_dim = 32;
  uint32_t ffn = 32;  // of dense layers
  uint32_t experts = 16;
  uint32_t top_k = 4;
  uint32_t expert_ffn = 32;
  uint32_t shared_ffn = 32;
  uint32_t vocab = 2048;
  uint32_t context = 4096;
  uint32_t rope_dims = 8;
  float rope_base = 1e7F;

  uint32_t full_attention_interval = 4;
  uint32_t ssm_conv = 4;
  uint32_t ssm_inner = 64;  // value heads times their width
  uint32_t ssm_state = 16;  // width of a key head
  uint32_t ssm_value_heads = 4;
  uint32_t ssm_key_heads = 2;

  FormatPair gate_up{};
  FormatPair down{};
  FormatPair attention{};
  FormatPair shared{};  // shared experts and dense feed-forward layers
  tensor::Format output = tensor::Format::f32;
  tensor::Format embedding = tensor::Format::f32;

  bool fused_gate_up = false;
  bool tied_output = false;  // the token embedding is the output matrix
  bool mtp = false;
  uint64_t seed = 1;

  bool is_moe() const { return experts > 0; }
  /// Gated delta networks between layers of full attention.
  bool is_hybrid() const { return arch == "qwen35moe" || arch == "qwen35"; }
  bool has_full_attention(uint32_t layer) const {
    return !is_hybrid() || (layer + 1) % full_attention_interval == 0 || layer >= layers;
  }
  /// Layers and the block for multi-token prediction.
  uint32_t blocks() const { return layers + (mtp ? 1 : 0); }
  uint32_t key_width() const { return ssm_key_heads * ssm_state; }
};

/// Names of presets: 35b-a3b, 30b-a3b, 4b, nano.
std::vector<std::string> preset_names();
/// Throws usage for an unknown name.
ModelSpec preset(const std::string& name);

/// Throws usage, naming the flag, for shapes that no model can have.
void check(const ModelSpec& spec);

}  // namespace luce::synthetic
