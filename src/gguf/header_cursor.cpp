#include "gguf/header_cursor.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "gguf/printable.hpp"

namespace luce::gguf {
namespace {

constexpr uint64_t kFirstLoadBytes = uint64_t{1} << 16;
// Real headers stay below 64 MiB; the limit keeps a damaged length from pulling a whole model into memory.
constexpr uint64_t kMostHeaderBytes = uint64_t{1} << 30;

}  // namespace

HeaderCursor::HeaderCursor(const base::FileHandle& file)
    : name_(file.path()), file_(&file), size_bytes_(file.size_bytes()) {}

HeaderCursor::HeaderCursor(std::string name, std::vector<std::byte> bytes)
    : name_(std::move(name)), bytes_(std::move(bytes)), size_bytes_(bytes_.size()) {}

std::string_view HeaderCursor::text(Place place) const {
  return {reinterpret_cast<const char*>(bytes_.data()) + place.begin, place.size};
}

void HeaderCursor::set_subject(const char* noun, Place name) {
  noun_ = noun;
  subject_name_ = name;
}

std::string HeaderCursor::subject() const {
  if (subject_name_.size == 0) return noun_;
  return std::string(noun_) + " '" + printable(text(subject_name_)) + "'";
}

Place HeaderCursor::string() {
  const auto length = number<uint64_t>();
  return take(length);
}

Place HeaderCursor::take(uint64_t bytes) {
  if (bytes > remaining()) {
    fail(ErrorKind::invalid_file, "{}: the file ends inside its header: {} needs {} bytes at byte {}, {} are left; {}",
         name_, subject(), bytes, position_, remaining(), "copy or download it again");
  }
  const Place place{position_, bytes};
  load(position_ + bytes);
  position_ += bytes;
  return place;
}

std::string_view HeaderCursor::peek(uint64_t most) {
  const uint64_t bytes = std::min(most, remaining());
  load(position_ + bytes);
  return text({position_, bytes});
}

void HeaderCursor::expect_room(uint64_t count, uint64_t bytes_each) {
  if (count <= remaining() / bytes_each) return;
  fail(ErrorKind::invalid_file,
       "{}: the file ends inside its header: {} at byte {} announces {} entries of at least {} bytes, {} bytes are "
       "left; copy or download it again",
       name_, subject(), position_, count, bytes_each, remaining());
}

std::vector<std::byte> HeaderCursor::release() {
  bytes_.resize(position_);
  bytes_.shrink_to_fit();
  return std::move(bytes_);
}

void HeaderCursor::load(uint64_t end) {
  const uint64_t loaded = bytes_.size();
  if (end <= loaded) return;
  if (end > kMostHeaderBytes) {
    fail(ErrorKind::invalid_file, "{}: {} reaches byte {} of the header, the limit is {}; the file is damaged", name_,
         subject(), end, kMostHeaderBytes);
  }
  const uint64_t wanted = std::min(size_bytes_, std::max({end, 2 * loaded, kFirstLoadBytes}));
  bytes_.resize(wanted);
  file_->read_exact(loaded, std::span(bytes_).subspan(loaded));
}

}  // namespace luce::gguf
