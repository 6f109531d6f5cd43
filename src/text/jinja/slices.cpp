#include <algorithm>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/sequences.hpp"
#include "text/utf8.hpp"

namespace luce::text::jinja {
namespace {

struct Range {
  Integer begin;
  Integer end;
  Integer step;

  bool done(Integer at) const { return step > 0 ? at >= end : at <= end; }
};

// Positions of a slice of `size` items, as Python's slice.indices gives them.
Range resolve(const SliceBounds& bounds, Integer size) {
  constexpr Integer kMost = Integer{1} << 62;
  const Integer step = bounds.step.is_none() ? 1 : std::clamp(bounds.step.integer(), -kMost, kMost);
  if (step == 0) raise("slice step cannot be zero");
  const Integer low = step > 0 ? 0 : -1;
  const Integer high = step > 0 ? size : size - 1;
  const auto bound = [&](const Value& given, Integer otherwise) {
    if (given.is_none()) return otherwise;
    const Integer at = given.integer();
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  return {bound(bounds.begin, step > 0 ? low : high), bound(bounds.end, step > 0 ? high : low), step};
}

Value slice_string(Heap& heap, const String& text, const SliceBounds& bounds) {
  if (!text.is_ascii()) heap.work_on_bytes(4 * text.size());
  const Range range = resolve(bounds, static_cast<Integer>(text.length()));
  if (range.step == 1) {
    const size_t begin = text.offset_of(static_cast<size_t>(range.begin));
    const size_t end = text.offset_of(static_cast<size_t>(std::max(range.begin, range.end)));
    return slice(heap, text, begin, end);
  }
  std::vector<size_t> offsets;  // of each character
  for (size_t at = 0; at < text.size(); at += utf8_size(text.view()[at])) offsets.push_back(at);
  heap.work(offsets.size());
  StringBuilder out(heap);
  for (Integer at = range.begin; !range.done(at); at += range.step) {
    const size_t begin = offsets[static_cast<size_t>(at)];
    out.append(text, begin, begin + utf8_size(text.view()[begin]));
  }
  return out.finish();
}

Value slice_list(Heap& heap, const List& list, const SliceBounds& bounds) {
  const Range range = resolve(bounds, static_cast<Integer>(list.size()));
  std::vector<Value> items;
  for (Integer at = range.begin; !range.done(at); at += range.step)
    items.push_back(list.items()[static_cast<size_t>(at)]);
  return make_list(heap, std::move(items), list.flavor());
}

bool is_bound(const Value& value) { return value.is_none() || value.is_integer(); }

}  // namespace

Value get_slice(Heap& heap, const Value& object, const SliceBounds& bounds) {
  require_defined(object);
  require_defined(bounds.begin);
  require_defined(bounds.end);
  require_defined(bounds.step);
  if (object.is(Kind::dict)) raise("unhashable type: 'slice'");
  const bool sliceable = object.is_string() || (object.is(Kind::list) && object.list().flavor() <= Flavor::range);
  if (!sliceable) raise("'{}' object is not subscriptable", type_name(object));
  if (!is_bound(bounds.begin) || !is_bound(bounds.end) || !is_bound(bounds.step)) {
    raise("slice indices must be integers or None or have an __index__ method");
  }
  if (object.is_string()) return slice_string(heap, object.string(), bounds);
  return slice_list(heap, object.list(), bounds);
}

}  // namespace luce::text::jinja
