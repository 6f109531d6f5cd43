#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/metadata_builder.hpp"
#include "gguf/writer.hpp"

namespace luce::support {

/// A small model held in memory to be changed and saved as another file. Names that do not exist throw.
class GgufEdit {
 public:
  struct Tensor {
    gguf::TensorSpec spec;
    std::vector<std::byte> bytes;
  };

  explicit GgufEdit(const std::string& path);

  /// Keys to set, replace or remove as one likes.
  gguf::MetadataBuilder metadata;
  std::vector<Tensor> tensors;

  bool has_tensor(std::string_view name) const;
  Tensor& tensor(std::string_view name);
  void add_tensor(Tensor added);
  /// F32, filled from a seed with values about `centre`.
  void add_random_f32(const std::string& name, tensor::Shape shape, uint32_t seed, float centre = 0.0F);
  void remove_tensor(std::string_view name);
  void rename_tensor(std::string_view from, const std::string& to);
  /// Replaces the tensor's data with the same values in another format.
  void convert_tensor(std::string_view name, tensor::Format format);

  /// Joins ffn_gate_exps and ffn_up_exps of every block to ffn_gate_up_exps [experts, gate rows then up rows, hidden].
  void fuse_gate_up();
  /// Adds a block for multi-token prediction as qwen35moe files have: a copy of the last block with other weights,
  /// the nextn tensors, block_count one higher and nextn_predict_layers 1.
  void add_mtp_block(uint32_t seed);

  /// Writes the file, or the parts of it; gives the path to open (the first part).
  std::string save(const std::string& path, uint32_t parts = 1) const;

 private:
  std::string architecture_;
  uint32_t blocks_ = 0;
  int64_t hidden_ = 0;
};

}  // namespace luce::support
