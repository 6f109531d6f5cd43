#include "text/jinja/tests.hpp"

#include <algorithm>
#include <array>

#include "text/jinja/containers.hpp"
#include "text/jinja/error.hpp"
#include "text/jinja/filters.hpp"
#include "text/jinja/operators.hpp"
#include "text/jinja/sequences.hpp"
#include "text/jinja/text_operations.hpp"
#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {
namespace {

struct TestEntry {
  std::string_view name;
  Test test;
};

template <Kind kind>
bool is_kind(Frame&, const Value& value, Arguments&) {
  return value.is(kind);
}

bool is_defined(Frame&, const Value& value, Arguments&) { return !value.is_undefined(); }
bool is_true(Frame&, const Value& value, Arguments&) { return value.is(Kind::boolean) && value.boolean(); }
bool is_false(Frame&, const Value& value, Arguments&) { return value.is(Kind::boolean) && !value.boolean(); }
bool is_number(Frame&, const Value& value, Arguments&) { return value.is_number(); }
// Undefined values have a call operator in Jinja2, which only fails.
bool is_callable(Frame&, const Value& value, Arguments&) {
  return value.is_undefined() || (value.is(Kind::object) && value.object().callable());
}
bool is_iterable_value(Frame&, const Value& value, Arguments&) { return is_iterable(value); }
bool is_escaped(Frame&, const Value& value, Arguments&) { return value.is_string() && value.string().is_markup(); }

// Whatever has a length and items by number or key, as Jinja2 tests it.
bool is_sequence(Frame&, const Value& value, Arguments&) {
  if (value.is_undefined() || value.is_string() || value.is(Kind::dict)) return true;
  return value.is(Kind::list) && value.list().flavor() <= Flavor::range;
}

bool is_same(Frame&, const Value& value, Arguments& arguments) { return value.same_as(arguments.need(0, "other")); }

Integer remainder_by(Frame& frame, const Value& value, const Value& divisor) {
  require_defined(value);
  const Value rest = calculate(frame.heap(), Operator::modulo, value, divisor);
  if (rest.is_integer()) return rest.integer();
  if (rest.is(Kind::real)) return rest.real() == 0 ? 0 : rest.real() == 1 ? 1 : 2;
  raise("not all arguments converted during string formatting");
}

bool is_odd(Frame& frame, const Value& value, Arguments&) { return remainder_by(frame, value, 2) == 1; }
bool is_even(Frame& frame, const Value& value, Arguments&) { return remainder_by(frame, value, 2) == 0; }
bool is_divisible(Frame& frame, const Value& value, Arguments& arguments) {
  return remainder_by(frame, value, arguments.need(0, "num")) == 0;
}

// True if the text has letters and all of them are in this case.
template <Casing casing>
bool is_cased(Frame& frame, const Value& value, Arguments&) {
  Heap& heap = frame.heap();
  const String text = to_string(heap, value);
  constexpr Casing kOther = casing == Casing::upper ? Casing::lower : Casing::upper;
  return change_case(heap, text, casing).view() == text.view() && change_case(heap, text, kOther).view() != text.view();
}

bool is_equal(Frame& frame, const Value& value, Arguments& arguments) {
  return equal(frame.heap(), value, arguments.need(0, "other"));
}
bool is_unequal(Frame& frame, const Value& value, Arguments& arguments) { return !is_equal(frame, value, arguments); }

int compared(Frame& frame, const Value& value, Arguments& arguments, std::string_view operation) {
  require_defined(value);
  require_defined(arguments.need(0, "other"));
  return order(frame.heap(), value, arguments.need(0, "other"), operation);
}
bool is_less(Frame& frame, const Value& value, Arguments& arguments) {
  return compared(frame, value, arguments, "<") < 0;
}
bool is_at_most(Frame& frame, const Value& value, Arguments& arguments) {
  return compared(frame, value, arguments, "<=") <= 0;
}
bool is_greater(Frame& frame, const Value& value, Arguments& arguments) {
  return compared(frame, value, arguments, ">") > 0;
}
bool is_at_least(Frame& frame, const Value& value, Arguments& arguments) {
  return compared(frame, value, arguments, ">=") >= 0;
}

bool is_in(Frame& frame, const Value& value, Arguments& arguments) {
  return contains(frame.heap(), arguments.need(0, "seq"), value);
}

bool is_filter(Frame&, const Value& value, Arguments&) {
  return value.is_string() && find_filter(value.view()) != nullptr;
}
bool is_test(Frame&, const Value& value, Arguments&) { return value.is_string() && find_test(value.view()) != nullptr; }

constexpr auto kTests = std::to_array<TestEntry>({
    {"!=", is_unequal},
    {"<", is_less},
    {"<=", is_at_most},
    {"==", is_equal},
    {">", is_greater},
    {">=", is_at_least},
    {"boolean", is_kind<Kind::boolean>},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_false},
    {"filter", is_filter},
    {"float", is_kind<Kind::real>},
    {"ge", is_at_least},
    {"greaterthan", is_greater},
    {"gt", is_greater},
    {"in", is_in},
    {"integer", is_kind<Kind::integer>},
    {"iterable", is_iterable_value},
    {"le", is_at_most},
    {"lessthan", is_less},
    {"lower", is_cased<Casing::lower>},
    {"lt", is_less},
    {"mapping", is_kind<Kind::dict>},
    {"ne", is_unequal},
    {"none", is_kind<Kind::none>},
    {"number", is_number},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::string>},
    {"test", is_test},
    {"true", is_true},
    {"undefined", is_kind<Kind::undefined>},
    {"upper", is_cased<Casing::upper>},
});

}  // namespace

Test find_test(std::string_view name) {
  const auto found =
      std::lower_bound(kTests.begin(), kTests.end(), name,
                       [](const TestEntry& entry, std::string_view wanted) { return entry.name < wanted; });
  return found == kTests.end() || found->name != name ? nullptr : found->test;
}

bool run_test(Frame& frame, std::string_view name, const Value& value, Arguments& arguments) {
  const Test test = find_test(name);
  if (test == nullptr) raise("No test named '{}'.", name);
  frame.heap().work(1);
  return test(frame, value, arguments);
}

}  // namespace luce::text::jinja
