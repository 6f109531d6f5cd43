#include "gguf/header.hpp"

#include <bit>
#include <limits>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/error.hpp"
#include "gguf/diagnosis.hpp"
#include "gguf/metadata_reader.hpp"
#include "gguf/printable.hpp"

namespace luce::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kMostTensors = 1 << 18;
constexpr uint64_t kMostNameBytes = 1024;
constexpr uint64_t kLeastRecordBytes = 8 + 1 + 4 + 4 + 8;
constexpr uint32_t kUsualAlignmentBytes = 32;
constexpr uint64_t kMostTensorBytes = uint64_t{1} << 62;

void expect_magic(HeaderCursor& cursor) {
  constexpr uint64_t kBytesToJudge = 64;
  const std::string_view first_bytes = cursor.peek(kBytesToJudge);
  if (!first_bytes.starts_with(kMagic)) fail_not_gguf(cursor.name(), first_bytes, cursor.size_bytes());
  cursor.take(kMagic.size());
}

/// Innermost first, as the file has them.
std::vector<int64_t> read_extents(HeaderCursor& cursor) {
  const auto rank = cursor.number<uint32_t>();
  if (rank > static_cast<uint32_t>(tensor::Shape::kMaxRank)) {
    fail(ErrorKind::invalid_file, "{}: {} has {} dimensions, at most {} are allowed; the file is damaged",
         cursor.name(), cursor.subject(), rank, tensor::Shape::kMaxRank);
  }
  std::vector<int64_t> extents;
  for (uint32_t axis = 0; axis < rank; ++axis) {
    const auto extent = cursor.number<uint64_t>();
    if (extent == 0 || extent > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      fail(ErrorKind::invalid_file, "{}: {} has dimension {} of {}, expected 1 to 2^63 - 1; the file is damaged",
           cursor.name(), cursor.subject(), axis, extent);
    }
    extents.push_back(static_cast<int64_t>(extent));
  }
  return extents;
}

/// Bytes of the tensor, or fails if its product of dimensions is beyond any memory or it does not fill whole blocks.
uint64_t checked_bytes(const HeaderCursor& cursor, const tensor::FormatInfo& format, std::span<const int64_t> extents) {
  const int64_t width = extents.empty() ? 1 : extents.front();
  if (width % format.block_elements != 0) {
    fail(ErrorKind::invalid_file, "{}: {} has rows of {} elements, {} needs a multiple of {}; the file is damaged",
         cursor.name(), cursor.subject(), width, format.name, format.block_elements);
  }
  auto bytes = static_cast<uint64_t>(format.block_bytes);
  const auto multiply = [&](int64_t factor) {
    if (static_cast<uint64_t>(factor) > kMostTensorBytes / bytes) {
      fail(ErrorKind::invalid_file, "{}: {} has dimensions whose product is too large; the file is damaged",
           cursor.name(), cursor.subject());
    }
    bytes *= static_cast<uint64_t>(factor);
  };
  multiply(width / format.block_elements);
  for (size_t axis = 1; axis < extents.size(); ++axis) multiply(extents[axis]);
  return bytes;
}

TensorRecord read_tensor(HeaderCursor& cursor) {
  cursor.set_subject("the name of a tensor");
  const auto name_bytes = cursor.number<uint64_t>();
  if (name_bytes == 0 || name_bytes > kMostNameBytes) {
    fail(ErrorKind::invalid_file, "{}: a tensor name at byte {} has {} bytes, expected 1 to {}; the file is damaged",
         cursor.name(), cursor.position(), name_bytes, kMostNameBytes);
  }
  const Place name = cursor.take(name_bytes);
  cursor.set_subject("tensor", name);
  TensorRecord record;
  record.name = cursor.text(name);
  const std::vector<int64_t> extents = read_extents(cursor);
  const auto type_id = cursor.number<uint32_t>();
  const auto format = tensor::format_from_id(type_id);
  if (!format) fail_tensor_type(cursor.name(), record.name, type_id);
  record.format = *format;
  record.bytes = checked_bytes(cursor, tensor::info(*format), extents);
  record.shape = tensor::Shape(std::span<const int64_t>(std::vector<int64_t>(extents.rbegin(), extents.rend())));
  record.offset_bytes = cursor.number<uint64_t>();
  return record;
}

std::vector<TensorRecord> read_tensors(HeaderCursor& cursor, uint64_t count) {
  cursor.set_subject("the list of tensors");
  cursor.expect_room(count, kLeastRecordBytes);
  std::vector<TensorRecord> tensors;
  tensors.reserve(count);
  for (uint64_t i = 0; i < count; ++i) tensors.push_back(read_tensor(cursor));
  std::unordered_set<std::string_view> names;
  for (const TensorRecord& record : tensors) {
    if (names.insert(record.name).second) continue;
    fail(ErrorKind::invalid_file, "{}: tensor '{}' appears twice; the file is damaged", cursor.name(),
         printable(record.name));
  }
  return tensors;
}

uint32_t read_alignment(const std::string& name, const Metadata& metadata) {
  const auto value = metadata.find("general.alignment");
  if (!value) return kUsualAlignmentBytes;
  const uint64_t alignment = value->as_u64().value_or(0);
  if (value->type() != ValueType::u32 || !std::has_single_bit(alignment)) {
    fail(ErrorKind::invalid_file, "{}: general.alignment should be a u32 and a power of two, found {} of type {}", name,
         alignment, value->describe_type());
  }
  return static_cast<uint32_t>(alignment);
}

}  // namespace

Header read_header(HeaderCursor cursor) {
  expect_magic(cursor);
  const auto version = cursor.number<uint32_t>();
  if (version != 2 && version != 3) fail_version(cursor.name(), version);
  const auto tensor_count = cursor.number<uint64_t>();
  const auto key_count = cursor.number<uint64_t>();
  if (tensor_count > kMostTensors) {
    cursor.set_subject("the list of tensors");
    cursor.expect_room(tensor_count, kLeastRecordBytes);
    fail(ErrorKind::invalid_file, "{}: {} tensors, the limit is {}", cursor.name(), tensor_count, kMostTensors);
  }
  std::vector<MetadataEntry> entries = read_metadata_entries(cursor, key_count);
  std::vector<TensorRecord> tensors = read_tensors(cursor, tensor_count);
  const uint64_t header_end = cursor.position();
  std::string name = cursor.name();
  Metadata metadata = make_metadata(name, cursor.release(), std::move(entries));
  const uint32_t alignment_bytes = read_alignment(name, metadata);
  const uint64_t data_begin = (header_end + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  return {version, std::move(metadata), std::move(tensors), alignment_bytes, data_begin};
}

}  // namespace luce::gguf
