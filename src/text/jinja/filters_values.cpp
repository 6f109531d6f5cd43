#include <array>
#include <cmath>

#include "base/format.hpp"
#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/filters.hpp"
#include "text/jinja/json_values.hpp"
#include "text/jinja/methods.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

constexpr double kIntegerLimit = 1.7e38;  // what 128 bits hold

std::optional<Value> truncated(double real) {
  if (std::isnan(real) || std::abs(real) >= kIntegerLimit) return std::nullopt;
  return Value(static_cast<Integer>(real));
}

Value integer(Frame&, const Value& input, Arguments& arguments) {
  const Value* fallback = arguments.find(0, "default");
  const Value otherwise = fallback == nullptr ? Value(0) : *fallback;
  const Integer base = arguments.integer(1, "base", 10);
  require_defined(input);
  if (input.is_integer()) return input.integer();
  if (input.is(Kind::real)) return truncated(input.real()).value_or(otherwise);
  if (!input.is_string()) return otherwise;
  if (const auto read = read_integer(input.view(), base >= 0 && base <= 36 ? static_cast<int>(base) : 1)) return *read;
  const auto real = read_real(input.view());
  return real ? truncated(*real).value_or(otherwise) : otherwise;
}

Value real(Frame&, const Value& input, Arguments& arguments) {
  const Value* fallback = arguments.find(0, "default");
  const Value otherwise = fallback == nullptr ? Value(0.0) : *fallback;
  require_defined(input);
  if (input.is_number()) return input.as_real();
  if (!input.is_string()) return otherwise;
  const auto read = read_real(input.view());
  return read ? Value(*read) : otherwise;
}

// Digits behind the point beyond these change no double.
double rounded(double value, Integer precision) {
  if (precision > 350 || !std::isfinite(value)) return value;
  if (precision < -350) return 0;
  if (precision >= 0) return std::strtod(fmt::format("{:.{}f}", value, static_cast<int>(precision)).c_str(), nullptr);
  const double unit = std::pow(10.0, static_cast<double>(-precision));
  return std::nearbyint(value / unit) * unit;
}

Value round(Frame&, const Value& input, Arguments& arguments) {
  require_defined(input);
  if (!input.is_number()) raise("type {} doesn't define __round__ method", type_name(input));
  const Integer precision = arguments.integer(0, "precision", 0);
  const String method = arguments.string(1, "method", String::literal("common"));
  if (method.view() == "common") {
    if (input.is_integer() && precision >= 0) return input.integer();
    const double value = rounded(input.as_real(), precision);
    return input.is_integer() ? truncated(value).value_or(input) : Value(value);
  }
  if (method.view() != "ceil" && method.view() != "floor") raise("method must be common, ceil or floor");
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = input.as_real() * unit;
  return (method.view() == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit;
}

Value absolute(Frame&, const Value& input, Arguments&) {
  require_defined(input);
  if (input.is_integer()) return input.integer() < 0 ? negate(input) : Value(input.integer());
  if (input.is(Kind::real)) return std::abs(input.real());
  raise("bad operand type for abs(): '{}'", type_name(input));
}

Value fall_back(Frame&, const Value& input, Arguments& arguments) {
  const Value* fallback = arguments.find(0, "default_value");
  const bool if_false = arguments.boolean(1, "boolean", false);
  if (!input.is_undefined() && !(if_false && !input.truthy())) return input;
  return fallback == nullptr ? Value(String()) : *fallback;
}

Value attribute(Frame& frame, const Value& input, Arguments& arguments) {
  const Value& name = arguments.need(0, "name");
  const String text = to_string(frame.heap(), name);
  if (input.is(Kind::dict) && find_method(input, text.view()) == nullptr) {
    return undefined("'dict object' has no attribute '" + std::string(text.view()) + "'");
  }
  return get_attribute(frame, input, text.view());
}

Value to_json(Frame& frame, const Value& input, Arguments& arguments) {
  Heap& heap = frame.heap();
  JsonStyle style;
  style.ensure_ascii = arguments.boolean(0, "ensure_ascii", false);
  style.sort_keys = arguments.boolean(3, "sort_keys", false);
  const Value* indent = arguments.find(1, "indent");
  if (indent != nullptr && !indent->is_none()) {
    StringBuilder level(heap);
    if (indent->is_string()) {
      level.append(indent->string());
    } else {
      level.append_times(' ', to_count(to_integer(*indent, "indent")));
    }
    style.indent = level.finish();
    style.item_separator = String::literal(",");
  }
  const Value* separators = arguments.find(2, "separators");
  if (separators != nullptr && !separators->is_none()) {
    const std::vector<Value> both = iterate(heap, *separators);
    if (both.size() != 2) raise("separators: a pair is required");
    style.item_separator = to_text(both[0], "separators");
    style.key_separator = to_text(both[1], "separators");
  }
  StringBuilder out(heap);
  print_json(out, input, style);
  return out.finish();
}

constexpr auto kFilters = std::to_array<FilterEntry>({
    {"int", integer},
    {"float", real},
    {"round", round},
    {"abs", absolute},
    {"default", fall_back},
    {"d", fall_back},
    {"attr", attribute},
    {"tojson", to_json},
});

}  // namespace

std::span<const FilterEntry> value_filters() { return kFilters; }

}  // namespace luce::text::jinja
