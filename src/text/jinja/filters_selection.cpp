#include <array>

#include "text/jinja/attribute_path.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/filters.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/tests.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

Arguments arguments_behind(const Arguments& arguments, size_t taken) {
  Arguments rest;
  for (size_t i = taken; i < arguments.positional.size(); ++i) rest.positional.push_back(arguments.positional[i]);
  rest.keyword = arguments.keyword;
  return rest;
}

Value map_attribute(Frame& frame, const Value& input, const Arguments& arguments) {
  Heap& heap = frame.heap();
  const AttributePath path(heap, *arguments.find("attribute"));
  const Value* fallback = arguments.find("default");
  std::vector<Value> out;
  for (const Value& item : iterate(heap, input)) {
    const Value value = path.of(frame, item);
    out.push_back(value.is_undefined() && fallback != nullptr ? *fallback : value);
  }
  return make_list(heap, std::move(out), Flavor::generator);
}

Value map(Frame& frame, const Value& input, Arguments& arguments) {
  if (!input.truthy()) return make_list(frame.heap(), {}, Flavor::generator);
  if (arguments.positional.empty() && arguments.find("attribute") != nullptr)
    return map_attribute(frame, input, arguments);
  const String name = to_text(arguments.need(0, "filter"), "filter");
  std::vector<Value> out;
  for (const Value& item : iterate(frame.heap(), input)) {
    Arguments rest = arguments_behind(arguments, 1);
    out.push_back(run_filter(frame, name.view(), item, rest));
  }
  return make_list(frame.heap(), std::move(out), Flavor::generator);
}

/// select and its kin: the items whose `path` passes the test named by the argument `at`, or is true without one.
Value choose(Frame& frame, const Value& input, const Arguments& arguments, const AttributePath& path, size_t at,
             bool keep) {
  std::vector<Value> out;
  if (!input.truthy()) return make_list(frame.heap(), {}, Flavor::generator);
  for (Value& item : iterate(frame.heap(), input)) {
    const Value value = path.of(frame, item);
    bool passes = value.truthy();
    if (at < arguments.positional.size()) {
      Arguments rest = arguments_behind(arguments, at + 1);
      passes = run_test(frame, to_text(arguments.positional[at], "test").view(), value, rest);
    }
    if (passes == keep) out.push_back(std::move(item));
  }
  return make_list(frame.heap(), std::move(out), Flavor::generator);
}

template <bool keep>
Value select(Frame& frame, const Value& input, Arguments& arguments) {
  return choose(frame, input, arguments, AttributePath(), 0, keep);
}

template <bool keep>
Value select_attribute(Frame& frame, const Value& input, Arguments& arguments) {
  const AttributePath path(frame.heap(), arguments.need(0, "attribute"));
  return choose(frame, input, arguments, path, 1, keep);
}

constexpr auto kFilters = std::to_array<FilterEntry>({
    {"map", lazily<map>},
    {"select", lazily<select<true>>},
    {"reject", lazily<select<false>>},
    {"selectattr", lazily<select_attribute<true>>},
    {"rejectattr", lazily<select_attribute<false>>},
});

}  // namespace

std::span<const FilterEntry> selection_filters() { return kFilters; }

}  // namespace luce::text::jinja
