#pragma once

#include <span>
#include <string_view>

#include "text/jinja/arguments.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"

namespace luce::text::jinja {

/// `input|filter(arguments)`
using Filter = Value (*)(Frame& frame, const Value& input, Arguments& arguments);

struct FilterEntry {
  std::string_view name;
  Filter filter;
};

/// Null if there is no filter of that name.
Filter find_filter(std::string_view name);
/// Runs a filter by its name, as map() does. Throws TemplateError if there is none.
Value run_filter(Frame& frame, std::string_view name, const Value& input, Arguments& arguments);

/// A filter whose result is a generator in Jinja2: an error shows only when its items are asked for.
template <Filter filter>
Value lazily(Frame& frame, const Value& input, Arguments& arguments) {
  try {
    return filter(frame, input, arguments);
  } catch (const LimitError&) {
    throw;
  } catch (const TemplateError& error) {
    auto generator = make_list(frame.heap(), {}, Flavor::generator);
    generator->fail_with(error.what());
    return generator;
  }
}

// The tables that find_filter looks through.
std::span<const FilterEntry> string_filters();
std::span<const FilterEntry> layout_filters();
std::span<const FilterEntry> sequence_filters();
std::span<const FilterEntry> selection_filters();
std::span<const FilterEntry> value_filters();

}  // namespace luce::text::jinja
