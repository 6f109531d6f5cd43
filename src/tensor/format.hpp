#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace luce::tensor {

/// Encodings of weights; the values are the type ids of the GGUF format.
enum class Format : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q2_k = 10,
  q3_k = 11,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
};

struct FormatInfo {
  Format format;
  std::string_view name;   // as GGUF tools print it, for example "Q4_K"
  int64_t block_elements;  // weights in one block
  int64_t block_bytes;     // bytes of one block
  bool computes;           // matrices in this format can be multiplied
};

/// Nothing if the id is unknown or was removed from the GGUF format.
std::optional<Format> format_from_id(uint32_t id);
std::optional<Format> format_from_name(std::string_view name);
const FormatInfo& info(Format format);
/// Every format, by rising id.
std::span<const FormatInfo> all_formats();

/// Bytes of `elements` weights; `elements` must be a multiple of the block size and is not negative.
int64_t packed_bytes(Format format, int64_t elements);

}  // namespace luce::tensor
