#include "tensor/format.hpp"

#include <algorithm>
#include <array>

#include "base/check.hpp"

namespace luce::tensor {
namespace {

// NVFP4 does not compute: its matrices need a further scale that the file keeps in another tensor.
constexpr auto kFormats = std::to_array<FormatInfo>({
    {Format::f32, "F32", 1, 4, true},
    {Format::f16, "F16", 1, 2, true},
    {Format::q4_0, "Q4_0", 32, 18, true},
    {Format::q4_1, "Q4_1", 32, 20, true},
    {Format::q5_0, "Q5_0", 32, 22, true},
    {Format::q5_1, "Q5_1", 32, 24, true},
    {Format::q8_0, "Q8_0", 32, 34, true},
    {Format::q2_k, "Q2_K", 256, 84, true},
    {Format::q3_k, "Q3_K", 256, 110, true},
    {Format::q4_k, "Q4_K", 256, 144, true},
    {Format::q5_k, "Q5_K", 256, 176, true},
    {Format::q6_k, "Q6_K", 256, 210, true},
    {Format::iq2_xxs, "IQ2_XXS", 256, 66, true},
    {Format::iq2_xs, "IQ2_XS", 256, 74, true},
    {Format::iq3_xxs, "IQ3_XXS", 256, 98, true},
    {Format::iq1_s, "IQ1_S", 256, 50, true},
    {Format::iq4_nl, "IQ4_NL", 32, 18, true},
    {Format::iq3_s, "IQ3_S", 256, 110, true},
    {Format::iq2_s, "IQ2_S", 256, 82, true},
    {Format::iq4_xs, "IQ4_XS", 256, 136, true},
    {Format::i8, "I8", 1, 1, false},
    {Format::i16, "I16", 1, 2, false},
    {Format::i32, "I32", 1, 4, false},
    {Format::i64, "I64", 1, 8, false},
    {Format::f64, "F64", 1, 8, false},
    {Format::iq1_m, "IQ1_M", 256, 56, true},
    {Format::bf16, "BF16", 1, 2, true},
    {Format::tq1_0, "TQ1_0", 256, 54, true},
    {Format::tq2_0, "TQ2_0", 256, 66, true},
    {Format::mxfp4, "MXFP4", 32, 17, true},
    {Format::nvfp4, "NVFP4", 64, 36, false},
});

const FormatInfo* lookup(Format format) {
  const auto found = std::ranges::lower_bound(kFormats, format, {}, &FormatInfo::format);
  return found != kFormats.end() && found->format == format ? &*found : nullptr;
}

static_assert(std::ranges::is_sorted(kFormats, {}, &FormatInfo::format));

}  // namespace

std::optional<Format> format_from_id(uint32_t id) {
  const auto format = static_cast<Format>(id);
  return lookup(format) != nullptr ? std::optional(format) : std::nullopt;
}

std::optional<Format> format_from_name(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &FormatInfo::name);
  return found != kFormats.end() ? std::optional(found->format) : std::nullopt;
}

const FormatInfo& info(Format format) {
  const FormatInfo* found = lookup(format);
  LUCE_CHECK(found != nullptr, "a format outside the table");
  return *found;
}

std::span<const FormatInfo> all_formats() { return kFormats; }

int64_t packed_bytes(Format format, int64_t elements) {
  const FormatInfo& traits = info(format);
  LUCE_CHECK(elements >= 0 && elements % traits.block_elements == 0, "elements must fill whole blocks");
  return elements / traits.block_elements * traits.block_bytes;
}

}  // namespace luce::tensor
