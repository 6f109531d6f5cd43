#include "support/gguf_edit.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

#include "gguf/file.hpp"
#include "tensor/reference.hpp"

namespace luce::support {
namespace {

auto by_name(std::string_view name) {
  return [name](const GgufEdit::Tensor& tensor) { return tensor.spec.name == name; };
}

/// For every expert the rows of `gate`, then those of `up`.
std::vector<std::byte> join_experts(const GgufEdit::Tensor& gate, const GgufEdit::Tensor& up) {
  const auto experts = static_cast<size_t>(gate.spec.shape[0]);
  const size_t bytes_each = gate.bytes.size() / experts;
  std::vector<std::byte> joined;
  for (size_t expert = 0; expert < experts; ++expert) {
    for (const GgufEdit::Tensor* part : {&gate, &up}) {
      const auto rows = std::span(part->bytes).subspan(expert * bytes_each, bytes_each);
      joined.insert(joined.end(), rows.begin(), rows.end());
    }
  }
  return joined;
}

}  // namespace

GgufEdit::GgufEdit(const std::string& path) {
  const gguf::File file = gguf::File::open(path);
  metadata = gguf::MetadataBuilder(file.metadata());
  architecture_ = file.metadata().get_string("general.architecture");
  blocks_ = file.metadata().find_u32(architecture_ + ".block_count").value_or(0);
  hidden_ = file.metadata().find_u32(architecture_ + ".embedding_length").value_or(0);
  for (const gguf::TensorInfo& info : file.tensors()) {
    Tensor copy{{info.name, info.format, info.shape}, std::vector<std::byte>(info.bytes)};
    file.read(info, 0, copy.bytes);
    tensors.push_back(std::move(copy));
  }
}

bool GgufEdit::has_tensor(std::string_view name) const { return std::ranges::any_of(tensors, by_name(name)); }

GgufEdit::Tensor& GgufEdit::tensor(std::string_view name) {
  const auto found = std::ranges::find_if(tensors, by_name(name));
  if (found == tensors.end()) throw std::runtime_error("no tensor " + std::string(name));
  return *found;
}

void GgufEdit::add_tensor(Tensor added) { tensors.push_back(std::move(added)); }

void GgufEdit::add_random_f32(const std::string& name, tensor::Shape shape, uint32_t seed, float centre) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(centre, 0.1F);
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  std::ranges::generate(values, [&] { return normal(random); });
  const auto bytes = std::as_bytes(std::span(values));
  add_tensor({{name, tensor::Format::f32, shape}, {bytes.begin(), bytes.end()}});
}

void GgufEdit::remove_tensor(std::string_view name) {
  const Tensor& found = tensor(name);
  tensors.erase(tensors.begin() + (&found - tensors.data()));
}

void GgufEdit::rename_tensor(std::string_view from, const std::string& to) { tensor(from).spec.name = to; }

void GgufEdit::convert_tensor(std::string_view name, tensor::Format format) {
  Tensor& found = tensor(name);
  std::vector<float> values(static_cast<size_t>(found.spec.shape.elements()));
  tensor::dequantise(found.spec.format, found.bytes, values);
  found.spec.format = format;
  found.bytes.resize(gguf::tensor_bytes(found.spec));
  tensor::quantise(format, values, found.bytes);
}

void GgufEdit::fuse_gate_up() {
  for (uint32_t block = 0; block < blocks_; ++block) {
    const std::string prefix = "blk." + std::to_string(block) + ".";
    if (!has_tensor(prefix + "ffn_gate_exps.weight")) continue;
    Tensor& gate = tensor(prefix + "ffn_gate_exps.weight");
    const Tensor& up = tensor(prefix + "ffn_up_exps.weight");
    if (gate.spec.format != up.spec.format || gate.spec.shape != up.spec.shape) {
      throw std::runtime_error("gate and up of " + prefix + " differ in format or shape");
    }
    const tensor::Shape& shape = gate.spec.shape;
    Tensor fused{{prefix + "ffn_gate_up_exps.weight", gate.spec.format, {shape[0], 2 * shape[1], shape[2]}},
                 join_experts(gate, up)};
    gate = std::move(fused);
    remove_tensor(prefix + "ffn_up_exps.weight");
  }
}

void GgufEdit::add_mtp_block(uint32_t seed) {
  const std::string last = "blk." + std::to_string(blocks_ - 1) + ".";
  const std::string added = "blk." + std::to_string(blocks_) + ".";
  const std::vector<Tensor> originals = tensors;
  for (const Tensor& original : originals) {
    if (!original.spec.name.starts_with(last)) continue;
    add_random_f32(added + original.spec.name.substr(last.size()), original.spec.shape, ++seed);
  }
  add_random_f32(added + "nextn.eh_proj.weight", {hidden_, 2 * hidden_}, ++seed);
  for (const char* name : {"nextn.enorm.weight", "nextn.hnorm.weight", "nextn.shared_head_norm.weight"}) {
    add_random_f32(added + name, {hidden_}, ++seed, 1.0F);
  }
  metadata.set_u32(architecture_ + ".block_count", blocks_ + 1);
  metadata.set_u32(architecture_ + ".nextn_predict_layers", 1);
}

std::string GgufEdit::save(const std::string& path, uint32_t parts) const {
  std::vector<gguf::TensorSpec> specs;
  for (const Tensor& tensor : tensors) specs.push_back(tensor.spec);
  gguf::Writer writer(path, metadata, std::move(specs), {.part_count = parts});
  for (const Tensor& tensor : tensors) writer.append(tensor.bytes);
  writer.finish();
  return writer.paths().front();
}

}  // namespace luce::support
