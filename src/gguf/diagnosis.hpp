#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luce::gguf {

/// Throws invalid_file for a file that does not begin with "GGUF": shows how it begins and what it probably is.
[[noreturn]] void fail_not_gguf(const std::string& name, std::string_view first_bytes, uint64_t size_bytes);

/// Throws for a version number that is not 2 or 3: too old, too new, or in big-endian order.
[[noreturn]] void fail_version(const std::string& name, uint32_t version);

/// Throws unsupported for the type id of a tensor that is not in the format table.
[[noreturn]] void fail_tensor_type(const std::string& name, std::string_view tensor, uint32_t type_id);

}  // namespace luce::gguf
