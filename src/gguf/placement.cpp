#include "gguf/placement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "gguf/printable.hpp"

namespace luce::gguf {
namespace {

[[noreturn]] void fail_incomplete(const base::FileHandle& file, const TensorRecord& record, const std::string& needed) {
  fail(ErrorKind::invalid_file,
       "{}: the file ends inside its tensor data: tensor '{}' needs {} bytes of the file, the file has {} bytes; copy "
       "or "
       "download it again",
       file.path(), printable(record.name), needed, file.size_bytes());
}

uint64_t checked_begin(const base::FileHandle& file, const Header& header, const TensorRecord& record) {
  if (record.offset_bytes % header.alignment_bytes != 0) {
    fail(ErrorKind::invalid_file, "{}: tensor '{}' begins at offset {}, expected a multiple of the alignment {}",
         file.path(), printable(record.name), record.offset_bytes, header.alignment_bytes);
  }
  const uint64_t size = file.size_bytes();
  if (header.data_begin > size || record.offset_bytes > size - header.data_begin) {
    fail_incomplete(file, record, fmt::format("{} + {} + {}", header.data_begin, record.offset_bytes, record.bytes));
  }
  const uint64_t begin = header.data_begin + record.offset_bytes;
  if (record.bytes > size - begin) fail_incomplete(file, record, fmt::format("{}", begin + record.bytes));
  return begin;
}

void refuse_overlaps(const base::FileHandle& file, std::span<const TensorInfo> tensors) {
  std::vector<const TensorInfo*> by_place;
  for (const TensorInfo& tensor : tensors) by_place.push_back(&tensor);
  std::ranges::sort(by_place, {}, &TensorInfo::offset_bytes);
  for (size_t i = 1; i < by_place.size(); ++i) {
    const TensorInfo& before = *by_place[i - 1];
    const TensorInfo& after = *by_place[i];
    if (after.offset_bytes - before.offset_bytes >= before.bytes) continue;
    fail(ErrorKind::invalid_file, "{}: tensors '{}' and '{}' overlap at byte {}; the file is damaged", file.path(),
         printable(before.name), printable(after.name), after.offset_bytes);
  }
}

bool gguf_begins_at(const base::FileHandle& file, uint64_t position) {
  std::array<std::byte, 4> magic{};
  if (position > file.size_bytes() || file.size_bytes() - position < magic.size()) return false;
  file.read_exact(position, magic);
  return std::memcmp(magic.data(), "GGUF", magic.size()) == 0;
}

}  // namespace

std::vector<TensorInfo> place_tensors(const base::FileHandle& file, Header& header, uint32_t part) {
  std::vector<TensorInfo> tensors;
  tensors.reserve(header.tensors.size());
  for (TensorRecord& record : header.tensors) {
    const uint64_t begin = checked_begin(file, header, record);
    tensors.push_back({std::move(record.name), record.format, record.shape, part, begin, record.bytes});
  }
  refuse_overlaps(file, tensors);
  return tensors;
}

void refuse_joined_files(const base::FileHandle& file, const Header& header, std::span<const TensorInfo> tensors) {
  uint64_t end = header.data_begin;
  for (const TensorInfo& tensor : tensors) end = std::max(end, tensor.offset_bytes + tensor.bytes);
  const uint64_t aligned_end = (end + header.alignment_bytes - 1) / header.alignment_bytes * header.alignment_bytes;
  for (const uint64_t position : {end, aligned_end}) {
    if (!gguf_begins_at(file, position)) continue;
    fail(ErrorKind::invalid_file,
         "{}: another GGUF file begins at byte {}, behind the last tensor; parts of a split model must stay separate "
         "files (-00001-of-0000N.gguf), not be joined into one",
         file.path(), position);
  }
}

}  // namespace luce::gguf
