#include "gguf/writer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "gguf/byte_buffer.hpp"
#include "gguf/split.hpp"

namespace luce::gguf {
namespace {

uint64_t padding(uint64_t position, uint64_t alignment_bytes) {
  return (alignment_bytes - position % alignment_bytes) % alignment_bytes;
}

/// Ends of `part_count` runs of tensors of about the same bytes, none empty.
std::vector<size_t> divide(std::span<const TensorSpec> tensors, uint32_t part_count) {
  uint64_t total = 0;
  for (const TensorSpec& tensor : tensors) total += tensor_bytes(tensor);
  std::vector<size_t> ends;
  uint64_t sum = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    sum += tensor_bytes(tensors[i]);
    const size_t parts_left = part_count - ends.size() - 1;
    const size_t tensors_left = tensors.size() - i - 1;
    if (parts_left == 0) break;
    if (tensors_left == parts_left || sum >= total / part_count * (ends.size() + 1)) ends.push_back(i + 1);
  }
  ends.push_back(tensors.size());
  return ends;
}

/// A general.alignment that no reader takes is written as it is, with the usual alignment in its place.
uint64_t alignment_of(const MetadataBuilder& metadata) {
  constexpr uint64_t kUsual = 32;
  constexpr uint64_t kMost = 1 << 20;
  const Metadata built = metadata.build("the file to be written");
  const auto value = built.find("general.alignment");
  const uint64_t wanted = value ? value->as_u64().value_or(kUsual) : kUsual;
  return std::has_single_bit(wanted) && wanted <= kMost ? wanted : kUsual;
}

}  // namespace

uint64_t tensor_bytes(const TensorSpec& tensor) {
  const tensor::FormatInfo& format = tensor::info(tensor.format);
  if (tensor.shape.width() % format.block_elements != 0) {
    fail(ErrorKind::invalid_file, "tensor '{}' of shape {} cannot be written as {}: its width must be a multiple of {}",
         tensor.name, tensor.shape.to_string(), format.name, format.block_elements);
  }
  return static_cast<uint64_t>(tensor::packed_bytes(tensor.format, tensor.shape.elements()));
}

Writer::Writer(const std::string& path, const MetadataBuilder& metadata, std::vector<TensorSpec> tensors,
               WriterOptions options)
    : tensors_(std::move(tensors)), options_(options), metadata_(metadata), alignment_bytes_(alignment_of(metadata)) {
  if (options_.part_count == 0 || options_.part_count > 65535 ||
      (options_.part_count > 1 && options_.part_count > tensors_.size())) {
    fail(ErrorKind::invalid_file, "{}: cannot be split into {} parts, it has {} tensors", path, options_.part_count,
         tensors_.size());
  }
  part_ends_ = divide(tensors_, options_.part_count);
  for (uint32_t part = 0; part < options_.part_count; ++part) {
    paths_.push_back(options_.part_count == 1 ? path : SplitNames::make(path, part, options_.part_count));
  }
  if (!tensors_.empty()) missing_bytes_ = tensor_bytes(tensors_.front());
  open_part();
}

void Writer::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    LUCE_CHECK(missing_bytes_ > 0, "more bytes than the tensors announced");
    const auto piece = bytes.first(std::min<uint64_t>(bytes.size(), missing_bytes_));
    file_->append(piece);
    missing_bytes_ -= piece.size();
    bytes = bytes.subspan(piece.size());
    if (missing_bytes_ == 0) advance();
  }
}

void Writer::finish() {
  if (tensor_ != tensors_.size()) {
    fail(ErrorKind::internal, "{}: cannot be finished, {} bytes of tensor '{}' are missing", paths_[part_],
         missing_bytes_, tensors_[tensor_].name);
  }
  if (file_) close_part();
}

void Writer::advance() {
  file_->append_zeros(padding(file_->size_bytes(), alignment_bytes_));
  ++tensor_;
  if (tensor_ == tensors_.size()) return;
  missing_bytes_ = tensor_bytes(tensors_[tensor_]);
  if (tensor_ < part_ends_[part_]) return;
  close_part();
  ++part_;
  open_part();
}

void Writer::open_part() {
  file_.emplace(paths_[part_]);
  const size_t first = part_ == 0 ? 0 : part_ends_[part_ - 1];
  file_->append(make_header(first, part_ends_[part_]));
  file_->append_zeros(padding(file_->size_bytes(), alignment_bytes_));
}

void Writer::close_part() {
  file_->commit();
  file_.reset();
}

std::vector<std::byte> Writer::make_header(size_t first, size_t end) const {
  MetadataBuilder metadata = part_ == 0 ? metadata_ : MetadataBuilder();
  if (options_.part_count > 1) {
    metadata.set_u16("split.no", static_cast<uint16_t>(part_));
    metadata.set_u16("split.count", static_cast<uint16_t>(options_.part_count));
    metadata.set_i32("split.tensors.count", static_cast<int32_t>(tensors_.size()));
    if (alignment_bytes_ != 32) metadata.set_u32("general.alignment", static_cast<uint32_t>(alignment_bytes_));
  }
  ByteBuffer header;
  header.raw(std::as_bytes(std::span("GGUF", 4)));
  header.number(options_.version);
  header.number<uint64_t>(end - first);
  header.number<uint64_t>(metadata.size());
  header.raw(metadata.encode());
  uint64_t offset = 0;
  for (size_t i = first; i < end; ++i) {
    const TensorSpec& tensor = tensors_[i];
    header.string(tensor.name);
    header.number(static_cast<uint32_t>(tensor.shape.rank()));
    for (int axis = tensor.shape.rank() - 1; axis >= 0; --axis) header.number(tensor.shape[axis]);
    header.number(static_cast<uint32_t>(tensor.format));
    header.number(offset);
    offset += tensor_bytes(tensor);
    offset += padding(offset, alignment_bytes_);
  }
  return header.take();
}

}  // namespace luce::gguf
