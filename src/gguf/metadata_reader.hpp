#pragma once

#include <cstdint>
#include <vector>

#include "gguf/header_cursor.hpp"
#include "gguf/metadata_storage.hpp"

namespace luce::gguf {

/// Walks over `count` keys and values and checks each; nothing is kept but where they lie.
std::vector<MetadataEntry> read_metadata_entries(HeaderCursor& cursor, uint64_t count);

/// Takes over the bytes of a header and finds keys in them; refuses keys that appear twice.
Metadata make_metadata(std::string source, std::vector<std::byte> bytes, std::vector<MetadataEntry> entries);

}  // namespace luce::gguf
