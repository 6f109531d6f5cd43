#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "gguf/metadata.hpp"
#include "tensor/format.hpp"
#include "tensor/shape.hpp"

namespace luce::gguf {

/// Where a tensor lies; checked to be inside its file and to overlap no other.
struct TensorInfo {
  std::string name;
  tensor::Format format = tensor::Format::f32;
  tensor::Shape shape;  // outermost first, the file's dimensions reversed
  uint32_t part = 0;
  uint64_t offset_bytes = 0;  // in its part
  uint64_t bytes = 0;
};

/// A model file, or all parts of a split one, open for reading. Const members are thread-safe.
class File {
 public:
  /// Opens a file or any part of a split model; checks header, sizes and tensor places, reads no tensor data.
  /// Throws not_found, io, invalid_file or unsupported.
  static File open(const std::string& path);

  File(File&&) noexcept = default;
  File& operator=(File&&) noexcept = default;

  const std::string& path() const { return parts_.front().path(); }
  uint32_t version() const { return version_; }
  uint32_t alignment_bytes() const { return alignment_bytes_; }
  /// That of the first part.
  const Metadata& metadata() const { return metadata_; }
  /// All tensors, parts in order, each part in the order of its header.
  std::span<const TensorInfo> tensors() const { return tensors_; }
  /// Null if there is none of that name.
  const TensorInfo* find(std::string_view name) const;
  /// Throws invalid_file naming the tensor if there is none of that name.
  const TensorInfo& get(std::string_view name) const;

  /// Fills `out` from `offset_bytes` of the tensor's data; the range must lie within the tensor.
  void read(const TensorInfo& tensor, uint64_t offset_bytes, std::span<std::byte> out) const;
  /// Maps the whole tensor; see MappedFile for its danger.
  base::MappedFile map(const TensorInfo& tensor) const;

  size_t part_count() const { return parts_.size(); }
  const base::FileHandle& part(uint32_t index) const { return parts_[index]; }
  /// Bytes of all parts together.
  uint64_t size_bytes() const;

 private:
  explicit File(Metadata metadata) : metadata_(std::move(metadata)) {}

  uint32_t version_ = 0;
  uint32_t alignment_bytes_ = 0;
  Metadata metadata_;
  std::vector<base::FileHandle> parts_;
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t> index_of_name_;  // names point into tensors_
};

}  // namespace luce::gguf
