#include "synthetic/model_spec.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace luce::synthetic {
namespace {

using tensor::Format;

void use_q4_k_m(ModelSpec& spec) {
  spec.gate_up = {Format::q4_k, Format::q4_k};
  spec.down = {Format::q4_k, Format::q6_k};
  spec.attention = {Format::q4_k, Format::q6_k};
  spec.shared = {Format::q4_k, Format::q6_k};
  spec.output = Format::q6_k;
  spec.embedding = Format::q4_k;
}

ModelSpec spec_35b_a3b() {
  ModelSpec spec{.arch = "qwen35moe",
                 .name = "synthetic-35b-a3b",
                 .layers = 40,
                 .hidden = 2048,
                 .heads = 16,
                 .kv_heads = 2,
                 .head_dim = 256,
                 .ffn = 512,
                 .experts = 256,
                 .top_k = 8,
                 .expert_ffn = 512,
                 .shared_ffn = 512,
                 .vocab = 248320,
                 .context = 262144,
                 .rope_dims = 64,
                 .rope_base = 1e7F,
                 .full_attention_interval = 4,
                 .ssm_conv = 4,
                 .ssm_inner = 4096,
                 .ssm_state = 128,
                 .ssm_value_heads = 32,
                 .ssm_key_heads = 16};
  use_q4_k_m(spec);
  return spec;
}

ModelSpec spec_30b_a3b() {
  ModelSpec spec{.arch = "qwen3moe",
                 .name = "synthetic-30b-a3b",
                 .layers = 48,
                 .hidden = 2048,
                 .heads = 32,
                 .kv_heads = 4,
                 .head_dim = 128,
                 .ffn = 6144,
                 .experts = 128,
                 .top_k = 8,
                 .expert_ffn = 768,
                 .shared_ffn = 0,
                 .vocab = 151936,
                 .context = 40960,
                 .rope_dims = 128,
                 .rope_base = 1e6F};
  use_q4_k_m(spec);
  return spec;
}

ModelSpec spec_4b() {
  ModelSpec spec{.arch = "qwen35",
                 .name = "synthetic-4b",
                 .layers = 32,
                 .hidden = 2560,
                 .heads = 16,
                 .kv_heads = 4,
                 .head_dim = 256,
                 .ffn = 9216,
                 .experts = 0,
                 .top_k = 0,
                 .expert_ffn = 0,
                 .shared_ffn = 0,
                 .vocab = 248320,
                 .context = 262144,
                 .rope_dims = 64,
                 .rope_base = 1e7F,
                 .full_attention_interval = 4,
                 .ssm_conv = 4,
                 .ssm_inner = 4096,
                 .ssm_state = 128,
                 .ssm_value_heads = 32,
                 .ssm_key_heads = 16};
  use_q4_k_m(spec);
  spec.tied_output = true;
  spec.embedding = Format::q6_k;
  return spec;
}

ModelSpec spec_nano() { return {.name = "synthetic-nano"}; }

struct Preset {
  const char* name;
  ModelSpec (*make)();
};

constexpr std::array<Preset, 4> kPresets = {{
    {"35b-a3b", spec_35b_a3b},
    {"30b-a3b", spec_30b_a3b},
    {"4b", spec_4b},
    {"nano", spec_nano},
}};

Format parse_format(const std::string& name) {
  const auto format = tensor::format_from_name(name);
  if (!format || !tensor::info(*format).computes) {
    fail(ErrorKind::usage, "'{}' is no format that computes; names look like F16, Q4_K, IQ4_NL or MXFP4", name);
  }
  return *format;
}

void expect(bool holds, const char* rule) {
  if (!holds) fail(ErrorKind::usage, "this shape cannot be made: {}", rule);
}

void check_experts(const ModelSpec& spec) {
  const bool must = spec.arch == "qwen35moe" || spec.arch == "qwen3moe";
  const bool may = must || spec.arch == "llama";
  expect(!must || spec.is_moe(), "--experts must be at least 1 for this architecture");
  expect(may || !spec.is_moe(), "--experts must be 0 for this architecture");
  if (!spec.is_moe()) {
    expect(spec.ffn > 0, "--ffn must be at least 1");
    expect(!spec.fused_gate_up, "--fused-gate-up needs experts");
    return;
  }
  expect(spec.top_k > 0 && spec.top_k <= spec.experts, "--top-k must be between 1 and --experts");
  expect(spec.expert_ffn > 0, "--expert-ffn must be at least 1");
  expect(spec.shared_ffn > 0 || spec.arch != "qwen35moe", "--shared-ffn must be at least 1 for qwen35moe");
}

void check_hybrid(const ModelSpec& spec) {
  if (!spec.is_hybrid()) {
    expect(!spec.mtp, "--mtp is for qwen35moe and qwen35");
    return;
  }
  expect(spec.full_attention_interval > 0, "--full-attention-interval must be at least 1");
  expect(spec.ssm_conv > 0 && spec.ssm_state > 0 && spec.ssm_key_heads > 0, "--ssm-* must be at least 1");
  expect(spec.ssm_value_heads > 0 && spec.ssm_value_heads % spec.ssm_key_heads == 0,
         "--ssm-value-heads must be a multiple of --ssm-key-heads");
  expect(spec.ssm_inner % spec.ssm_value_heads == 0, "--ssm-inner must be a multiple of --ssm-value-heads");
}

}  // namespace

FormatPair parse_formats(const std::string& text) {
  const size_t comma = text.find(',');
  const Format usual = parse_format(text.substr(0, comma));
  return {usual, comma == std::string::npos ? usual : parse_format(text.substr(comma + 1))};
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

ModelSpec preset(const std::string& name) {
  const auto found = std::ranges::find_if(kPresets, [&](const Preset& candidate) { return name == candidate.name; });
  if (found == kPresets.end()) fail(ErrorKind::usage, "'{}' is no preset; there are 35b-a3b, 30b-a3b, 4b, nano", name);
  return found->make();
}

void check(const ModelSpec& spec) {
  constexpr std::array<const char*, 5> kArchitectures = {"qwen35moe", "qwen3moe", "qwen35", "qwen3", "llama"};
  expect(std::ranges::find(kArchitectures, spec.arch) != kArchitectures.end(),
         "--arch must be qwen35moe, qwen3moe, qwen35, qwen3 or llama");
  expect(spec.layers > 0 && spec.layers <= 512, "--layers must be between 1 and 512");
  expect(spec.hidden > 0 && spec.head_dim > 0 && spec.kv_heads > 0, "--hidden, --head-dim, --kv-heads must be set");
  expect(spec.heads > 0 && spec.heads % spec.kv_heads == 0, "--heads must be a multiple of --kv-heads");
  expect(spec.rope_dims > 0 && spec.rope_dims % 2 == 0 && spec.rope_dims <= spec.head_dim,
         "--rope-dims must be even and at most --head-dim");
  expect(spec.vocab >= 300, "--vocab must be at least 300: bytes, a few merges and control tokens");
  check_experts(spec);
  check_hybrid(spec);
}

}  // namespace luce::synthetic
