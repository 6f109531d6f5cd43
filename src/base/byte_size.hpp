#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luce::base {

/// Bytes of a size such as "14GiB", "512 MiB", "1.5 GB" or "4096"; a fraction of a byte is dropped. Case is ignored.
/// Throws ErrorKind::usage, naming `what` (a flag or key), when the text is no size or exceeds 2^63 - 1.
int64_t parse_byte_size(std::string_view text, std::string_view what = "size");

/// A size for people, in the largest binary unit that keeps it at or above one: "1.50 GiB", "640 B".
std::string format_bytes(int64_t bytes);

}  // namespace luce::base
