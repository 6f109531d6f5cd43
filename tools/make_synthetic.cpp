// Writes a model of any supported shape with random weights, for measuring and for tests of memory.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include "base/error.hpp"
#include "synthetic/model_spec.hpp"
#include "synthetic/write_model.hpp"

namespace luce::synthetic {
namespace {

constexpr const char* kAbout =
    "Writes a GGUF model with random weights.\n"
    "Weights are put together from a pool of quantised random blocks (65,536 weights for each format and spread), "
    "not quantised one by one: rows differ, their blocks recur. The same flags and seed give the same bytes. Formats "
    "written as A,B use B in the layers that Q4_K_M-like recipes give more bits.";

struct Formats {
  std::string all;
  std::string gate_up;
  std::string down;
  std::string attention;
  std::string shared;
  std::string output;
  std::string embedding;
};

void apply(const Formats& formats, ModelSpec& spec) {
  if (!formats.all.empty()) {
    const FormatPair pair = parse_formats(formats.all);
    spec.gate_up = spec.down = spec.attention = spec.shared = pair;
    spec.output = spec.embedding = pair.usual;
  }
  if (!formats.gate_up.empty()) spec.gate_up = parse_formats(formats.gate_up);
  if (!formats.down.empty()) spec.down = parse_formats(formats.down);
  if (!formats.attention.empty()) spec.attention = parse_formats(formats.attention);
  if (!formats.shared.empty()) spec.shared = parse_formats(formats.shared);
  if (!formats.output.empty()) spec.output = parse_formats(formats.output).usual;
  if (!formats.embedding.empty()) spec.embedding = parse_formats(formats.embedding).usual;
}

void add_shape_flags(CLI::App& app, ModelSpec& spec) {
  app.add_option("--arch", spec.arch, "qwen35moe, qwen3moe, qwen35, qwen3 or llama")->capture_default_str();
  const std::map<std::string, uint32_t*> numbers = {
      {"--layers", &spec.layers},
      {"--hidden", &spec.hidden},
      {"--heads", &spec.heads},
      {"--kv-heads", &spec.kv_heads},
      {"--head-dim", &spec.head_dim},
      {"--ffn", &spec.ffn},
      {"--experts", &spec.experts},
      {"--top-k", &spec.top_k},
      {"--expert-ffn", &spec.expert_ffn},
      {"--shared-ffn", &spec.shared_ffn},
      {"--vocab", &spec.vocab},
      {"--ctx-size", &spec.context},
      {"--rope-dims", &spec.rope_dims},
      {"--full-attention-interval", &spec.full_attention_interval},
      {"--ssm-conv", &spec.ssm_conv},
      {"--ssm-inner", &spec.ssm_inner},
      {"--ssm-state", &spec.ssm_state},
      {"--ssm-value-heads", &spec.ssm_value_heads},
      {"--ssm-key-heads", &spec.ssm_key_heads},
  };
  for (const auto& [flag, number] : numbers) app.add_option(flag, *number)->capture_default_str()->group("Shape");
  app.add_option("--rope-base", spec.rope_base)->capture_default_str()->group("Shape");
  app.add_option("--name", spec.name, "general.name")->capture_default_str();
  app.add_option("--seed", spec.seed)->capture_default_str();
  app.add_flag("--fused-gate-up", spec.fused_gate_up, "gate and up matrices of experts in one tensor");
  app.add_flag("--tied-output", spec.tied_output, "no output matrix, the token embedding serves for both");
  app.add_flag("--mtp", spec.mtp, "add a block for multi-token prediction");
}

void add_format_flags(CLI::App& app, Formats& formats) {
  const auto add = [&](const char* flag, std::string& text, const char* about) {
    app.add_option(flag, text, about)->group("Formats");
  };
  add("--format", formats.all, "of all matrices; the flags below beat it");
  add("--format-gate-up", formats.gate_up, "experts' gate and up");
  add("--format-down", formats.down, "experts' down");
  add("--format-attn", formats.attention, "attention and delta networks");
  add("--format-shared", formats.shared, "shared experts and dense feed-forward layers");
  add("--format-output", formats.output, "output matrix");
  add("--format-embedding", formats.embedding, "token embedding");
}

/// The preset decides the defaults of all other flags, so it is looked for first.
std::string preset_argument(int count, char** arguments) {
  for (int i = 1; i + 1 < count; ++i) {
    if (std::string(arguments[i]) == "--preset") return arguments[i + 1];
  }
  return "nano";
}

void show_progress(uint64_t written, uint64_t total) {
  if (::isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r%5.1f %% of %.2f GB", 100.0 * static_cast<double>(written) / static_cast<double>(total),
               static_cast<double>(total) * 1e-9);
  if (written == total) std::fprintf(stderr, "\n");
}

int run(int count, char** arguments) {
  CLI::App app{kAbout};
  std::string output;
  std::string preset_name = preset_argument(count, arguments);
  ModelSpec spec = preset(preset_name);
  Formats formats;
  WriteOptions options;
  app.add_option("output", output, "the file to write")->required();
  app.add_option("--preset", preset_name, "35b-a3b, 30b-a3b, 4b or nano; other flags change it")->capture_default_str();
  app.add_option("--parts", options.part_count, "split into this many files")->capture_default_str();
  app.add_option("--tokenizer-from", options.tokenizer_path, "copy the tokenizer of this GGUF file");
  add_shape_flags(app, spec);
  add_format_flags(app, formats);
  CLI11_PARSE(app, count, arguments);

  apply(formats, spec);
  const bool is_dense = spec.arch == "qwen35" || spec.arch == "qwen3";
  if (is_dense && app.count("--experts") == 0) spec.experts = 0;
  options.progress = show_progress;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> paths = write_model(spec, output, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::fprintf(stderr, "%s: %zu file(s) in %.1f s\n", paths.front().c_str(), paths.size(), seconds);
  return 0;
}

}  // namespace
}  // namespace luce::synthetic

int main(int count, char** arguments) {
  try {
    return luce::synthetic::run(count, arguments);
  } catch (const luce::Error& error) {
    std::fprintf(stderr, "make_synthetic: %s\n", error.what());
    return error.kind() == luce::ErrorKind::usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_synthetic: %s\n", error.what());
    return 1;
  }
}
