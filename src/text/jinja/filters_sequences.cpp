#include <algorithm>
#include <array>

#include "text/jinja/attribute_path.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/filters.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

using Keyed = std::pair<Value, Value>;  // what is compared, and the item

std::vector<Keyed> sorted_by_key(Frame& frame, const Value& input, const SortKey& key, bool reverse) {
  Heap& heap = frame.heap();
  std::vector<Keyed> items;
  for (Value& item : iterate(heap, input)) {
    Value compared = key.of(frame, item);
    require_defined(compared);
    items.emplace_back(std::move(compared), std::move(item));
  }
  const auto less = [&](const Keyed& a, const Keyed& b) {
    return reverse ? order(heap, b.first, a.first, "<") < 0 : order(heap, a.first, b.first, "<") < 0;
  };
  std::stable_sort(items.begin(), items.end(), less);
  return items;
}

Value first(Frame& frame, const Value& input, Arguments&) {
  const std::vector<Value> items = iterate(frame.heap(), input);
  return items.empty() ? undefined("No first item, sequence was empty.") : items.front();
}

Value last(Frame& frame, const Value& input, Arguments&) {
  const std::vector<Value> items = iterate(frame.heap(), input);
  return items.empty() ? undefined("No last item, sequence was empty.") : items.back();
}

Value length(Frame&, const Value& input, Arguments&) {
  const auto size = length_of(input);
  if (!size) raise("object of type '{}' has no len()", type_name(input));
  return *size;
}

Value join_filter(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  std::vector<Value> items = iterate(heap, input);
  const Value* attribute = arguments.find(1, "attribute");
  if (attribute != nullptr && !attribute->is_none()) {
    const AttributePath path(heap, *attribute);
    for (Value& item : items) item = path.of(frame, item);
  }
  const Value* separator = arguments.find(0, "d");
  return join(heap, items, separator == nullptr ? String() : to_string(heap, *separator));
}

Value list(Frame& frame, const Value& input, Arguments&) {
  return make_list(frame.heap(), iterate(frame.heap(), input));
}

Value reverse(Frame& frame, const Value& input, Arguments&) {
  std::vector<Value> items = iterate(frame.heap(), input);
  std::reverse(items.begin(), items.end());
  if (input.is_string()) return join(frame.heap(), items, String());
  return make_list(frame.heap(), std::move(items), Flavor::generator);
}

Value sort(Frame& frame, const Value& input, Arguments& arguments) {
  const bool descending = arguments.boolean(0, "reverse", false);
  std::vector<Value> items;
  for (auto& [key, item] : sorted_by_key(frame, input, SortKey(frame.heap(), arguments, 1, 2), descending)) {
    items.push_back(std::move(item));
  }
  return make_list(frame.heap(), std::move(items));
}

Value unique(Frame& frame, const Value& input, Arguments& arguments) {
  const SortKey key(frame.heap(), arguments, 0, 1);
  Dict seen(frame.heap());
  std::vector<Value> items;
  for (Value& item : iterate(frame.heap(), input)) {
    const Value compared = key.of(frame, item);
    if (seen.find(compared) != nullptr) continue;
    seen.set(compared, true);
    items.push_back(std::move(item));
  }
  return make_list(frame.heap(), std::move(items), Flavor::generator);
}

Value extreme(Frame& frame, const Value& input, Arguments& arguments, int sign) {
  const SortKey key(frame.heap(), arguments, 0, 1);
  const std::vector<Value> items = iterate(frame.heap(), input);
  if (items.empty()) return undefined("No aggregated item, sequence was empty.");
  size_t best = 0;
  Value best_key = key.of(frame, items[0]);
  for (size_t i = 1; i < items.size(); ++i) {
    Value candidate = key.of(frame, items[i]);
    if (order(frame.heap(), candidate, best_key, sign < 0 ? "<" : ">") * sign <= 0) continue;
    best = i;
    best_key = std::move(candidate);
  }
  return items[best];
}

Value minimum(Frame& frame, const Value& input, Arguments& arguments) { return extreme(frame, input, arguments, -1); }
Value maximum(Frame& frame, const Value& input, Arguments& arguments) { return extreme(frame, input, arguments, 1); }

Value sum(Frame& frame, const Value& input, Arguments& arguments) {
  const Value* attribute = arguments.find(0, "attribute");
  const AttributePath path = attribute == nullptr ? AttributePath() : AttributePath(frame.heap(), *attribute);
  const Value* start = arguments.find(1, "start");
  Value total = start == nullptr ? Value(0) : *start;
  for (const Value& item : iterate(frame.heap(), input)) {
    total = calculate(frame.heap(), Operator::add, total, path.of(frame, item));
  }
  return total;
}

Value batch(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  const Integer count = to_integer(arguments.need(0, "linecount"), "linecount");
  if (count <= 0) raise("batch: linecount must be above 0");
  const Value* fill = arguments.find(1, "fill_with");
  std::vector<Value> rows;
  std::shared_ptr<List> row;
  for (Value& item : iterate(heap, input)) {
    if (!row || static_cast<Integer>(row->size()) == count) rows.push_back(row = make_list(heap, {}));
    row->push(std::move(item));
  }
  if (row && fill != nullptr && !fill->is_none()) {
    while (static_cast<Integer>(row->size()) < count) {
      heap.work(1);
      row->push(*fill);
    }
  }
  return make_list(heap, std::move(rows), Flavor::generator);
}

Value slice_filter(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  const Integer slices = to_integer(arguments.need(0, "slices"), "slices");
  if (slices <= 0) raise("slice: slices must be above 0");
  const Value* fill = arguments.find(1, "fill_with");
  const std::vector<Value> items = iterate(heap, input);
  const auto count = static_cast<Integer>(items.size());
  auto columns = make_list(heap, {}, Flavor::generator);
  size_t at = 0;
  for (Integer i = 0; i < slices; ++i) {
    heap.work(1);
    const Integer size = count / slices + (i < count % slices ? 1 : 0);
    auto column = make_list(heap, {});
    for (Integer k = 0; k < size; ++k) column->push(items[at++]);
    if (fill != nullptr && !fill->is_none() && i >= count % slices) column->push(*fill);
    columns->push(column);
  }
  return columns;
}

Value pair_of(Heap& heap, Value a, Value b, bool named) {
  std::vector<Value> both;
  both.push_back(std::move(a));
  both.push_back(std::move(b));
  auto pair = make_list(heap, std::move(both), Flavor::tuple);
  if (named) pair->name_items({"grouper", "list"});
  return pair;
}

Value group_by(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  const AttributePath path(heap, arguments.need(0, "attribute"));
  const Value* fallback = arguments.find(1, "default");
  const bool case_sensitive = arguments.boolean(2, "case_sensitive", false);
  const auto key_of = [&](const Value& item) {
    Value key = path.of(frame, item);
    return key.is_undefined() && fallback != nullptr ? *fallback : key;
  };
  std::vector<Keyed> keyed;
  for (Value& item : iterate(heap, input)) {
    Value key = key_of(item);
    require_defined(key);
    if (!case_sensitive && key.is_string()) key = change_case(heap, key.string(), Casing::lower);
    keyed.emplace_back(std::move(key), std::move(item));
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [&](const Keyed& a, const Keyed& b) { return order(heap, a.first, b.first, "<") < 0; });
  std::vector<Value> groups;
  for (size_t begin = 0; begin < keyed.size();) {
    auto members = make_list(heap, {});
    size_t end = begin;
    for (; end < keyed.size() && equal(heap, keyed[end].first, keyed[begin].first); ++end)
      members->push(keyed[end].second);
    groups.push_back(pair_of(heap, key_of(keyed[begin].second), members, true));
    begin = std::max(end, begin + 1);
  }
  return make_list(heap, std::move(groups));
}

Value dict_sort(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  require_defined(input);
  if (!input.is(Kind::dict)) raise("dictsort: a mapping is required, not '{}'", type_name(input));
  const String by = arguments.string(1, "by", String::literal("key"));
  if (by.view() != "key" && by.view() != "value") raise("You can only sort by either \"key\" or \"value\"");
  const bool descending = arguments.boolean(2, "reverse", false);
  const SortKey fold(heap, arguments, 0, 99);
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : input.dict().entries()) {
    keyed.emplace_back(fold.folded(frame, by.view() == "key" ? key : value), pair_of(heap, key, value, false));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    return order(heap, descending ? b.first : a.first, descending ? a.first : b.first, "<") < 0;
  });
  std::vector<Value> items;
  for (auto& [key, item] : keyed) items.push_back(std::move(item));
  return make_list(heap, std::move(items));
}

Value items(Frame& frame, const Value& input, Arguments&) {
  if (input.is_undefined()) return make_list(frame.heap(), {}, Flavor::generator);
  if (!input.is(Kind::dict)) raise("Can only get item pairs from a mapping.");
  std::vector<Value> pairs;
  for (const auto& [key, value] : input.dict().entries()) pairs.push_back(pair_of(frame.heap(), key, value, false));
  return make_list(frame.heap(), std::move(pairs), Flavor::generator);
}

constexpr auto kFilters = std::to_array<FilterEntry>({
    {"first", first},
    {"last", last},
    {"length", length},
    {"count", length},
    {"join", join_filter},
    {"list", list},
    {"reverse", reverse},
    {"sort", sort},
    {"unique", lazily<unique>},
    {"min", minimum},
    {"max", maximum},
    {"sum", sum},
    {"batch", lazily<batch>},
    {"slice", lazily<slice_filter>},
    {"groupby", group_by},
    {"dictsort", dict_sort},
    {"items", lazily<items>},
});

}  // namespace

std::span<const FilterEntry> sequence_filters() { return kFilters; }

}  // namespace luce::text::jinja
