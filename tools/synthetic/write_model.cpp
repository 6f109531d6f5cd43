#include "synthetic/write_model.hpp"

#include <algorithm>
#include <array>

#include "gguf/file.hpp"
#include "gguf/writer.hpp"
#include "synthetic/random_blocks.hpp"
#include "synthetic/tensor_list.hpp"
#include "synthetic/vocabulary.hpp"

namespace luce::synthetic {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{8} << 20;
// Smaller tensors are drawn value by value: norms, routers of nano models, biases.
constexpr int64_t kDrawnElements = 1 << 14;
constexpr uint32_t kFileTypeQ4KM = 15;

void add_hybrid_keys(gguf::MetadataBuilder& metadata, const ModelSpec& spec) {
  const std::string prefix = spec.arch + ".";
  const auto pairs = static_cast<int32_t>(spec.rope_dims / 2);
  const std::array<int32_t, 4> sections = {(pairs + 2) / 3, (pairs + 1) / 3, pairs / 3, 0};
  metadata.set_i32s(prefix + "rope.dimension_sections", sections);
  metadata.set_u32(prefix + "ssm.conv_kernel", spec.ssm_conv);
  metadata.set_u32(prefix + "ssm.inner_size", spec.ssm_inner);
  metadata.set_u32(prefix + "ssm.state_size", spec.ssm_state);
  metadata.set_u32(prefix + "ssm.time_step_rank", spec.ssm_value_heads);
  metadata.set_u32(prefix + "ssm.group_count", spec.ssm_key_heads);
  metadata.set_u32(prefix + "full_attention_interval", spec.full_attention_interval);
  if (spec.mtp) metadata.set_u32(prefix + "nextn_predict_layers", 1);
}

void add_expert_keys(gguf::MetadataBuilder& metadata, const ModelSpec& spec) {
  const std::string prefix = spec.arch + ".";
  metadata.set_u32(prefix + "expert_count", spec.experts);
  metadata.set_u32(prefix + "expert_used_count", spec.top_k);
  if (spec.arch != "llama") metadata.set_u32(prefix + "expert_feed_forward_length", spec.expert_ffn);
  if (spec.arch == "qwen35moe") metadata.set_u32(prefix + "expert_shared_feed_forward_length", spec.shared_ffn);
}

void write_tensor(gguf::Writer& writer, RandomBlocks& random, const PlannedTensor& tensor,
                  std::vector<std::byte>& piece) {
  const bool special = tensor.values.kind != Distribution::Kind::normal || tensor.spec.shape.rank() == 1;
  if (special || tensor.spec.shape.elements() <= kDrawnElements) {
    writer.append(random.values(tensor));
    return;
  }
  const auto block_bytes = static_cast<uint64_t>(tensor::info(tensor.spec.format).block_bytes);
  const uint64_t piece_bytes = kPieceBytes / block_bytes * block_bytes;
  for (uint64_t left = gguf::tensor_bytes(tensor.spec); left > 0;) {
    const auto now = std::span(piece).first(std::min(left, piece_bytes));
    random.fill(tensor, now);
    writer.append(now);
    left -= now.size();
  }
}

}  // namespace

gguf::MetadataBuilder architecture_metadata(const ModelSpec& spec) {
  const std::string prefix = spec.arch + ".";
  gguf::MetadataBuilder metadata;
  metadata.set_string("general.architecture", spec.arch);
  metadata.set_string("general.name", spec.name);
  metadata.set_u32(prefix + "block_count", spec.blocks());
  metadata.set_u32(prefix + "context_length", spec.context);
  metadata.set_u32(prefix + "embedding_length", spec.hidden);
  metadata.set_u32(prefix + "attention.head_count", spec.heads);
  metadata.set_u32(prefix + "attention.head_count_kv", spec.kv_heads);
  metadata.set_u32(prefix + "attention.key_length", spec.head_dim);
  metadata.set_u32(prefix + "attention.value_length", spec.head_dim);
  metadata.set_f32(prefix + "attention.layer_norm_rms_epsilon", 1e-6F);
  metadata.set_f32(prefix + "rope.freq_base", spec.rope_base);
  // Files of llama with experts give the experts' width here.
  metadata.set_u32(prefix + "feed_forward_length", spec.is_moe() && spec.arch == "llama" ? spec.expert_ffn : spec.ffn);
  metadata.set_u32(prefix + "rope.dimension_count", spec.rope_dims);
  if (spec.is_hybrid()) add_hybrid_keys(metadata, spec);
  if (spec.is_moe()) add_expert_keys(metadata, spec);
  metadata.set_u32("general.quantization_version", 2);
  metadata.set_u32("general.file_type", spec.gate_up.usual == tensor::Format::f32 ? 0 : kFileTypeQ4KM);
  return metadata;
}

std::vector<std::string> write_model(const ModelSpec& spec, const std::string& path, const WriteOptions& options) {
  check(spec);
  gguf::MetadataBuilder metadata = architecture_metadata(spec);
  if (options.tokenizer_path) {
    copy_vocabulary(metadata, spec.vocab, gguf::File::open(*options.tokenizer_path).metadata());
  } else {
    add_vocabulary(metadata, spec.vocab, spec.is_hybrid() ? "qwen35" : "qwen2");
  }
  const std::vector<PlannedTensor> tensors = plan_tensors(spec);
  std::vector<gguf::TensorSpec> specs;
  uint64_t total = 0;
  for (const PlannedTensor& tensor : tensors) {
    specs.push_back(tensor.spec);
    total += gguf::tensor_bytes(tensor.spec);
  }
  gguf::Writer writer(path, metadata, std::move(specs), {.part_count = options.part_count});
  RandomBlocks random(spec.seed);
  std::vector<std::byte> piece(kPieceBytes);
  uint64_t written = 0;
  for (const PlannedTensor& tensor : tensors) {
    write_tensor(writer, random, tensor, piece);
    written += gguf::tensor_bytes(tensor.spec);
    if (options.progress) options.progress(written, total);
  }
  writer.finish();
  return writer.paths();
}

}  // namespace luce::synthetic
