#include "text/jinja/operators.hpp"

#include <array>
#include <cmath>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

constexpr std::array<const char*, 7> kSymbols = {"+", "-", "*", "/", "//", "%", "** or pow()"};

[[noreturn]] void mismatch(Operator op, const Value& a, const Value& b) {
  raise("unsupported operand type(s) for {}: '{}' and '{}'", kSymbols[static_cast<size_t>(op)], type_name(a),
        type_name(b));
}

[[noreturn]] void too_large() { raise("an integer of the template is too large"); }

Integer floor_quotient(Integer a, Integer b) {
  if (b == -1) {
    Integer negated = 0;
    if (__builtin_sub_overflow(Integer{0}, a, &negated)) too_large();
    return negated;
  }
  const Integer quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Integer floor_remainder(Integer a, Integer b) {
  const Integer rest = b == -1 ? Integer{0} : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Value integer_power(Integer base, Integer exponent) {
  if (exponent < 0) {
    if (base == 0) raise("0.0 cannot be raised to a negative power");
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  }
  if (base == 0 || base == 1) return exponent == 0 ? Integer{1} : base;
  if (base == -1) return exponent % 2 == 0 ? Integer{1} : Integer{-1};
  if (exponent > 127) too_large();
  Integer result = 1;
  for (Integer i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) too_large();
  }
  return result;
}

Value with_integers(Operator op, Integer a, Integer b) {
  Integer result = 0;
  bool overflow = false;
  switch (op) {
    case Operator::add: overflow = __builtin_add_overflow(a, b, &result); break;
    case Operator::subtract: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Operator::multiply: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Operator::divide:
      if (b == 0) raise("division by zero");
      return static_cast<double>(a) / static_cast<double>(b);
    case Operator::floor_divide:
      if (b == 0) raise("integer division or modulo by zero");
      return floor_quotient(a, b);
    case Operator::modulo:
      if (b == 0) raise("integer division or modulo by zero");
      return floor_remainder(a, b);
    case Operator::power: return integer_power(a, b);
  }
  if (overflow) too_large();
  return result;
}

double floor_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

Value with_reals(Operator op, double a, double b) {
  if (b == 0 && (op == Operator::divide || op == Operator::floor_divide || op == Operator::modulo)) {
    raise("{}", op == Operator::divide ? "float division by zero" : "float modulo by zero");
  }
  switch (op) {
    case Operator::add: return a + b;
    case Operator::subtract: return a - b;
    case Operator::multiply: return a * b;
    case Operator::divide: return a / b;
    case Operator::floor_divide: return std::floor((a - floor_modulo(a, b)) / b + 0.5);
    case Operator::modulo: return floor_modulo(a, b);
    case Operator::power: break;
  }
  const double power = std::pow(a, b);
  if (std::isnan(power) && !std::isnan(a) && !std::isnan(b)) raise("a complex number has no place in a template");
  return power;
}

String escape_unless_markup(Heap& heap, const String& text) {
  return text.is_markup() ? text : escape_html(heap, text);
}

Value add_strings(Heap& heap, const String& a, const String& b) {
  if (!a.is_markup() && !b.is_markup()) return concatenate(heap, a, b);
  StringBuilder out(heap);
  out.append(escape_unless_markup(heap, a));
  out.append(escape_unless_markup(heap, b));
  return out.finish(true);
}

Value add_lists(Heap& heap, const Value& a, const Value& b) {
  const List& first = a.list();
  const bool same = b.is(Kind::list) && b.list().flavor() == first.flavor();
  if (first.flavor() > Flavor::tuple) mismatch(Operator::add, a, b);
  if (!same) raise("can only concatenate {0} (not \"{1}\") to {0}", type_name(a), type_name(b));
  std::vector<Value> items = first.items();
  items.insert(items.end(), b.list().items().begin(), b.list().items().end());
  return make_list(heap, std::move(items), first.flavor());
}

Value repeat(Heap& heap, const Value& sequence, Integer times) {
  const size_t count = times < 0 ? 0 : times > Integer{1} << 40 ? size_t{1} << 40 : static_cast<size_t>(times);
  if (sequence.is_string()) {
    StringBuilder out(heap);
    out.append_times(sequence.string(), count);
    return out.finish(sequence.string().is_markup());
  }
  const List& list = sequence.list();
  if (list.size() > 0 && count > heap.limits().memory_bytes / sizeof(Value) / list.size()) {
    raise_limit("the template needs more than {} MiB of memory", heap.limits().memory_bytes >> 20);
  }
  std::vector<Value> items;
  for (size_t i = 0; i < count && list.size() > 0; ++i) {
    items.insert(items.end(), list.items().begin(), list.items().end());
  }
  return make_list(heap, std::move(items), list.flavor());
}

bool repeats(const Value& value) {
  return value.is_string() || (value.is(Kind::list) && value.list().flavor() <= Flavor::tuple);
}

}  // namespace

Value calculate(Heap& heap, Operator op, const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return with_integers(op, a.integer(), b.integer());
  if (a.is_number() && b.is_number()) return with_reals(op, a.as_real(), b.as_real());
  if (op == Operator::modulo && a.is_string()) return format_percent(heap, a.string(), b);
  require_defined(a);
  if (op == Operator::add) {
    if (a.is_string() && b.is_string()) return add_strings(heap, a.string(), b.string());
    require_defined(b);
    if (a.is_string()) raise("can only concatenate str (not \"{}\") to str", type_name(b));
    if (a.is(Kind::list)) return add_lists(heap, a, b);
  }
  require_defined(b);
  if (op == Operator::multiply && repeats(a) && b.is_integer()) return repeat(heap, a, b.integer());
  if (op == Operator::multiply && repeats(b) && a.is_integer()) return repeat(heap, b, a.integer());
  mismatch(op, a, b);
}

Value negate(const Value& value) {
  require_defined(value);
  if (value.is_integer()) return with_integers(Operator::subtract, 0, value.integer());
  if (value.is(Kind::real)) return -value.real();
  raise("bad operand type for unary -: '{}'", type_name(value));
}

Value plus(const Value& value) {
  require_defined(value);
  if (value.is_integer()) return value.integer();
  if (value.is(Kind::real)) return value;
  raise("bad operand type for unary +: '{}'", type_name(value));
}

}  // namespace luce::text::jinja
