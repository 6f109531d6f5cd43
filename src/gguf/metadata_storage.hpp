#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gguf/header_cursor.hpp"
#include "gguf/metadata.hpp"

namespace luce::gguf {

/// One key as it lies in the header.
struct MetadataEntry {
  Place key;
  ValueType type = ValueType::u8;
  uint64_t payload = 0;  // position of the value
};

/// What the copies of a Metadata share.
struct Metadata::Storage {
  std::string source;  // the file, for messages
  std::vector<std::byte> bytes;
  std::vector<MetadataEntry> entries;
  std::unordered_map<std::string_view, size_t> index_of_key;  // keys point into bytes
};

/// Fixed bytes of a value of that type; 0 for strings and arrays.
uint64_t fixed_bytes(ValueType type);

}  // namespace luce::gguf
