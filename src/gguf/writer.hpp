#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "gguf/metadata_builder.hpp"
#include "tensor/format.hpp"
#include "tensor/shape.hpp"

namespace luce::gguf {

/// A tensor to be written.
struct TensorSpec {
  std::string name;
  tensor::Format format = tensor::Format::f32;
  tensor::Shape shape;  // outermost first; the width fills whole blocks
};

struct WriterOptions {
  uint32_t version = 3;
  /// More than one writes <path>-00001-of-0000N.gguf and so on, about equal in bytes; metadata goes to the first.
  uint32_t part_count = 1;
};

/// Writes a model file front to back: the header at once, then the tensors' data in order, in pieces of any size.
/// Alignment is taken from general.alignment, else 32. A file gets its name only when it is complete.
class Writer {
 public:
  /// Throws io, or invalid_file for what the format cannot hold.
  Writer(const std::string& path, const MetadataBuilder& metadata, std::vector<TensorSpec> tensors,
         WriterOptions options = {});

  /// The next bytes of tensor data; pieces may run over the border of tensors, padding is added.
  void append(std::span<const std::byte> bytes);
  /// Completes the last file; throws internal if tensor data is missing.
  void finish();

  /// Files written, first to last.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  void open_part();
  void close_part();
  std::vector<std::byte> make_header(size_t first, size_t end) const;
  /// Moves to the next tensor or part while the current tensor is complete.
  void advance();

  std::vector<TensorSpec> tensors_;
  WriterOptions options_;
  MetadataBuilder metadata_;
  uint64_t alignment_bytes_ = 0;
  std::vector<size_t> part_ends_;  // index behind the last tensor of each part
  std::vector<std::string> paths_;
  std::optional<base::OutputFile> file_;
  size_t part_ = 0;
  size_t tensor_ = 0;
  uint64_t missing_bytes_ = 0;  // of the current tensor
};

/// Bytes that a tensor takes in a file, without padding; throws invalid_file if its width does not fill whole blocks.
uint64_t tensor_bytes(const TensorSpec& tensor);

}  // namespace luce::gguf
