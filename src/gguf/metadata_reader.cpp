#include "gguf/metadata_reader.hpp"

#include <utility>

#include "base/error.hpp"
#include "gguf/printable.hpp"

namespace luce::gguf {
namespace {

constexpr uint64_t kMostKeys = 1 << 18;
constexpr uint64_t kMostKeyBytes = 65535;
constexpr uint64_t kLeastEntryBytes = 8 + 1;
constexpr int kMostNesting = 8;

ValueType read_type(HeaderCursor& cursor) {
  const auto id = cursor.number<uint32_t>();
  if (id > static_cast<uint32_t>(ValueType::f64)) {
    fail(ErrorKind::invalid_file, "{}: {} has type {}, known types are 0 to 12; the file is damaged or too new",
         cursor.name(), cursor.subject(), id);
  }
  return static_cast<ValueType>(id);
}

void check_bools(const HeaderCursor& cursor, Place place) {
  for (const char byte : cursor.text(place)) {
    if (byte == 0 || byte == 1) continue;
    fail(ErrorKind::invalid_file, "{}: {} holds a bool of {}, expected 0 or 1; the file is damaged", cursor.name(),
         cursor.subject(), static_cast<unsigned char>(byte));
  }
}

void skip_value(HeaderCursor& cursor, ValueType type, int nesting);

void skip_array(HeaderCursor& cursor, int nesting) {
  if (nesting >= kMostNesting) {
    fail(ErrorKind::invalid_file, "{}: {} nests arrays more than {} deep; the file is damaged", cursor.name(),
         cursor.subject(), kMostNesting);
  }
  const ValueType type = read_type(cursor);
  const auto count = cursor.number<uint64_t>();
  const uint64_t bytes_each = fixed_bytes(type);
  if (bytes_each == 0) {
    cursor.expect_room(count, type == ValueType::string ? 8 : 12);
    for (uint64_t i = 0; i < count; ++i) skip_value(cursor, type, nesting + 1);
    return;
  }
  cursor.expect_room(count, bytes_each);
  const Place place = cursor.take(count * bytes_each);
  if (type == ValueType::boolean) check_bools(cursor, place);
}

void skip_value(HeaderCursor& cursor, ValueType type, int nesting) {
  if (type == ValueType::array) {
    skip_array(cursor, nesting);
  } else if (type == ValueType::string) {
    cursor.string();
  } else {
    const Place place = cursor.take(fixed_bytes(type));
    if (type == ValueType::boolean) check_bools(cursor, place);
  }
}

MetadataEntry read_entry(HeaderCursor& cursor) {
  cursor.set_subject("the length or text of a metadata key");
  const auto key_bytes = cursor.number<uint64_t>();
  if (key_bytes == 0 || key_bytes > kMostKeyBytes) {
    fail(ErrorKind::invalid_file, "{}: a metadata key at byte {} has {} bytes, expected 1 to {}; the file is damaged",
         cursor.name(), cursor.position(), key_bytes, kMostKeyBytes);
  }
  MetadataEntry entry;
  entry.key = cursor.take(key_bytes);
  cursor.set_subject("metadata key", entry.key);
  entry.type = read_type(cursor);
  entry.payload = cursor.position();
  skip_value(cursor, entry.type, 0);
  return entry;
}

}  // namespace

std::vector<MetadataEntry> read_metadata_entries(HeaderCursor& cursor, uint64_t count) {
  cursor.set_subject("the metadata");
  cursor.expect_room(count, kLeastEntryBytes);
  if (count > kMostKeys) {
    fail(ErrorKind::invalid_file, "{}: {} metadata keys, the limit is {}", cursor.name(), count, kMostKeys);
  }
  std::vector<MetadataEntry> entries;
  entries.reserve(count);
  for (uint64_t i = 0; i < count; ++i) entries.push_back(read_entry(cursor));
  return entries;
}

Metadata make_metadata(std::string source, std::vector<std::byte> bytes, std::vector<MetadataEntry> entries) {
  auto storage = std::make_shared<Metadata::Storage>();
  storage->source = std::move(source);
  storage->bytes = std::move(bytes);
  storage->entries = std::move(entries);
  storage->index_of_key.reserve(storage->entries.size());
  for (size_t i = 0; i < storage->entries.size(); ++i) {
    const Place key = storage->entries[i].key;
    const std::string_view text(reinterpret_cast<const char*>(storage->bytes.data()) + key.begin, key.size);
    if (storage->index_of_key.emplace(text, i).second) continue;
    fail(ErrorKind::invalid_file, "{}: metadata key '{}' appears twice; the file is damaged", storage->source,
         printable(text));
  }
  return Metadata(std::move(storage));
}

}  // namespace luce::gguf
