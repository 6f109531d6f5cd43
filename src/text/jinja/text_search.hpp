#pragma once

#include <string_view>

#include "text/jinja/heap.hpp"

namespace luce::text::jinja {

constexpr size_t kNotFound = std::string_view::npos;

/// Offset of the first `needle` at or behind `from`, in time linear in both texts.
size_t find_first(Heap& heap, std::string_view text, std::string_view needle, size_t from = 0);
/// Offset of the last `needle`, in time linear in both texts.
size_t find_last(Heap& heap, std::string_view text, std::string_view needle);

}  // namespace luce::text::jinja
