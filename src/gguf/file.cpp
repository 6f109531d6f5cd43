#include "gguf/file.hpp"

#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "base/error.hpp"
#include "gguf/header.hpp"
#include "gguf/placement.hpp"
#include "gguf/printable.hpp"
#include "gguf/split.hpp"

namespace luce::gguf {
namespace {

struct Part {
  base::FileHandle file;
  Header header;
  std::vector<TensorInfo> tensors;
};

Part load_part(base::FileHandle file, uint32_t number) {
  Header header = read_header(HeaderCursor(file));
  std::vector<TensorInfo> tensors = place_tensors(file, header, number);
  refuse_joined_files(file, header, tensors);
  return {std::move(file), std::move(header), std::move(tensors)};
}

base::FileHandle open_part(const std::string& path, uint32_t count) {
  try {
    return base::FileHandle::open(path);
  } catch (const Error& error) {
    fail(error.kind(), "{}; the model is split into {} files, which must all be in one folder", error.what(), count);
  }
}

void expect_position(const Part& part, SplitPosition expected) {
  const SplitPosition found = read_split(part.file.path(), part.header.metadata);
  if (found.number == expected.number && found.count == expected.count) return;
  fail(ErrorKind::invalid_file,
       "{}: split.no is {} where {} was expected, split.count is {} where {} was expected; the parts are mixed up",
       part.file.path(), found.number, expected.number, found.count, expected.count);
}

std::vector<Part> load_parts(const std::string& path) {
  std::vector<Part> parts;
  parts.push_back(load_part(base::FileHandle::open(path), 0));
  const SplitPosition position = read_split(path, parts.front().header.metadata);
  if (position.count == 1) return parts;
  const SplitNames names(path, position);
  parts.clear();
  for (uint32_t number = 0; number < position.count; ++number) {
    parts.push_back(load_part(open_part(names.path(number), position.count), number));
    expect_position(parts.back(), {number, position.count});
  }
  return parts;
}

void expect_total(const std::string& path, const Metadata& metadata, size_t found) {
  const auto expected = metadata.find_u64("split.tensors.count");
  if (!expected || *expected == found) return;
  fail(ErrorKind::invalid_file,
       "{}: split.tensors.count is {}, all parts together have {} tensors; the parts are mixed up", path, *expected,
       found);
}

}  // namespace

File File::open(const std::string& path) {
  std::vector<Part> parts = load_parts(path);
  File file(parts.front().header.metadata);
  file.version_ = parts.front().header.version;
  file.alignment_bytes_ = parts.front().header.alignment_bytes;
  for (Part& part : parts) {
    std::ranges::move(part.tensors, std::back_inserter(file.tensors_));
    file.parts_.push_back(std::move(part.file));
  }
  if (parts.size() > 1) expect_total(path, file.metadata_, file.tensors_.size());
  for (size_t i = 0; i < file.tensors_.size(); ++i) {
    const TensorInfo& tensor = file.tensors_[i];
    if (file.index_of_name_.emplace(tensor.name, i).second) continue;
    fail(ErrorKind::invalid_file, "{}: tensor '{}' is in an earlier part too; the parts are mixed up",
         file.parts_[tensor.part].path(), printable(tensor.name));
  }
  return file;
}

const TensorInfo* File::find(std::string_view name) const {
  const auto found = index_of_name_.find(name);
  return found == index_of_name_.end() ? nullptr : &tensors_[found->second];
}

const TensorInfo& File::get(std::string_view name) const {
  const TensorInfo* found = find(name);
  if (found != nullptr) return *found;
  fail(ErrorKind::invalid_file, "{}: tensor {} is missing; the file is incomplete or of another kind", path(), name);
}

void File::read(const TensorInfo& tensor, uint64_t offset_bytes, std::span<std::byte> out) const {
  LUCE_CHECK(tensor.part < parts_.size(), "the tensor is of another file");
  LUCE_CHECK(offset_bytes <= tensor.bytes && out.size() <= tensor.bytes - offset_bytes, "a read beyond the tensor");
  parts_[tensor.part].read_exact(tensor.offset_bytes + offset_bytes, out);
}

base::MappedFile File::map(const TensorInfo& tensor) const {
  LUCE_CHECK(tensor.part < parts_.size(), "the tensor is of another file");
  return base::MappedFile::map(parts_[tensor.part], tensor.offset_bytes, tensor.bytes);
}

uint64_t File::size_bytes() const {
  uint64_t total = 0;
  for (const base::FileHandle& part : parts_) total += part.size_bytes();
  return total;
}

}  // namespace luce::gguf
