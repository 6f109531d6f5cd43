#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "gguf/header_cursor.hpp"
#include "gguf/metadata.hpp"
#include "tensor/format.hpp"
#include "tensor/shape.hpp"

namespace luce::gguf {

/// A tensor as the header tells it; its place is not yet checked against the file.
struct TensorRecord {
  std::string name;
  tensor::Format format = tensor::Format::f32;
  tensor::Shape shape;        // outermost first
  uint64_t offset_bytes = 0;  // from the begin of the data
  uint64_t bytes = 0;
};

/// What one file says before its data begins.
struct Header {
  uint32_t version;
  Metadata metadata;
  std::vector<TensorRecord> tensors;
  uint32_t alignment_bytes;
  uint64_t data_begin;  // position of the first tensor's offset 0
};

/// Reads and checks a header; throws invalid_file or unsupported.
Header read_header(HeaderCursor cursor);

}  // namespace luce::gguf
