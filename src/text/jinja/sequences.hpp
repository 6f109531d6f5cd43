#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/jinja/frame.hpp"
#include "text/jinja/value.hpp"

namespace luce::text::jinja {

/// Throws the reason if the value is undefined.
void require_defined(const Value& value);

/// What a for loop gives: items, keys, characters; nothing for undefined. Throws TemplateError for other kinds.
std::vector<Value> iterate(Heap& heap, const Value& value);
bool is_iterable(const Value& value);
/// len(); nothing if the value has none.
std::optional<size_t> length_of(const Value& value);
/// `needle in haystack`
bool contains(Heap& heap, const Value& haystack, const Value& needle);

/// `object.name`: an attribute or method first, then an item. Undefined if there is neither.
Value get_attribute(Frame& frame, const Value& object, std::string_view name);
/// `object[key]`: an item first, then an attribute. Undefined if there is neither.
Value get_item(Frame& frame, const Value& object, const Value& key);

/// The parts of `[begin:end:step]`; what is left out is none.
struct SliceBounds {
  Value begin = None{};
  Value end = None{};
  Value step = None{};
};
Value get_slice(Heap& heap, const Value& object, const SliceBounds& bounds);

}  // namespace luce::text::jinja
