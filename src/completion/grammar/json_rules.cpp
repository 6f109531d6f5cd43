#include "completion/grammar/json_rules.hpp"

namespace luce::completion {

namespace {

constexpr int kMostIndent = 24;
constexpr int kMostDigits = 16;

}  // namespace

ByteSet bytes_of(std::string_view text) {
  ByteSet set;
  for (const char c : text) set.set(static_cast<unsigned char>(c));
  return set;
}

ByteSet byte_span(unsigned char first, unsigned char last) {
  ByteSet set;
  for (int byte = first; byte <= last; ++byte) set.set(static_cast<size_t>(byte));
  return set;
}

int JsonRules::call(int& rule, int (JsonRules::*define)(), int next) {
  if (rule < 0) {
    rule = builder_.declare_rule();
    builder_.define(rule, (this->*define)());
  }
  return builder_.call(rule, next);
}

int JsonRules::space(int next) { return call(space_, &JsonRules::define_space, next); }
int JsonRules::value(int next) { return call(value_, &JsonRules::define_value, next); }
int JsonRules::object(int next) { return call(object_, &JsonRules::define_object, next); }
int JsonRules::array(int next) { return call(array_, &JsonRules::define_array, next); }
int JsonRules::string(int next) { return call(string_, &JsonRules::define_string, next); }
int JsonRules::integer(int next) { return call(integer_, &JsonRules::define_integer, next); }
int JsonRules::number(int next) { return call(number_, &JsonRules::define_number, next); }
int JsonRules::character(int next) { return call(character_, &JsonRules::define_character, next); }

int JsonRules::boolean(int next) {
  return builder_.any_of({builder_.literal("true", next), builder_.literal("false", next)});
}

int JsonRules::define_space() {
  const int blank = builder_.rule(builder_.bytes(bytes_of(" \t"), kReturn));
  const int indent = builder_.repeat(blank, 0, kMostIndent, kReturn);
  return builder_.any_of({kReturn, builder_.literal(" ", kReturn), builder_.literal("\n", indent)});
}

int JsonRules::define_value() {
  return builder_.any_of(
      {object(kReturn), array(kReturn), string(kReturn), number(kReturn), boolean(kReturn), null(kReturn)});
}

// open [element (, element)*] close, with white space between all.
int JsonRules::list(std::string_view open, std::string_view close, int element) {
  const int end = punctuation(close, kReturn);
  const int more = builder_.rule(punctuation(",", space(builder_.call(element, kReturn))));
  const int elements = space(builder_.call(element, builder_.repeat(more, 0, kUnbounded, end)));
  return builder_.literal(open, builder_.any_of({end, elements}));
}

int JsonRules::define_object() {
  return list("{", "}", builder_.rule(string(punctuation(":", space(value(kReturn))))));
}

int JsonRules::define_array() { return list("[", "]", builder_.rule(value(kReturn))); }

int JsonRules::define_string() {
  const int characters = builder_.rule(character(kReturn));
  return builder_.literal("\"", builder_.repeat(characters, 0, kUnbounded, builder_.literal("\"", kReturn)));
}

// The four digits of \u: no half of a surrogate pair stands alone.
int JsonRules::unicode_escape() {
  const ByteSet hex = bytes_of("0123456789abcdefABCDEF");
  const auto digits = [&](int count, int next) {
    for (int i = 0; i < count; ++i) next = builder_.bytes(hex, next);
    return next;
  };
  const int low_half = builder_.bytes(bytes_of("dD"), builder_.bytes(bytes_of("cdefCDEF"), digits(2, kReturn)));
  const int high_half = builder_.bytes(bytes_of("89abAB"), digits(2, builder_.literal("\\u", low_half)));
  const int with_d = builder_.any_of({builder_.bytes(byte_span('0', '7'), digits(2, kReturn)), high_half});
  return builder_.any_of(
      {builder_.bytes(hex & ~bytes_of("dD"), digits(3, kReturn)), builder_.bytes(bytes_of("dD"), with_d)});
}

int JsonRules::define_character() {
  const int escaped =
      builder_.any_of({builder_.bytes(bytes_of("\"\\/bfnrt"), kReturn), builder_.literal("u", unicode_escape())});
  const ByteSet plain = byte_span(0x20, 0x7E) & ~bytes_of("\"\\");
  return builder_.any_of(
      {builder_.bytes(plain, kReturn), builder_.code_points(0x80, 0x10FFFF, kReturn), builder_.literal("\\", escaped)});
}

int JsonRules::digits(int least, int most, int next) {
  if (digit_ < 0) digit_ = builder_.rule(builder_.bytes(byte_span('0', '9'), kReturn));
  return builder_.repeat(digit_, least, most, next);
}

int JsonRules::define_integer() {
  const int positive = builder_.any_of(
      {builder_.literal("0", kReturn), builder_.bytes(byte_span('1', '9'), digits(0, kMostDigits - 1, kReturn))});
  return builder_.optional(builder_.literal("-", positive), positive);
}

int JsonRules::define_number() {
  const int exponent_digits = digits(1, 2, kReturn);  // a double holds all such numbers
  const int signed_exponent = builder_.optional(builder_.bytes(bytes_of("+-"), exponent_digits), exponent_digits);
  const int exponent = builder_.optional(builder_.bytes(bytes_of("eE"), signed_exponent), kReturn);
  const int fraction = builder_.optional(builder_.literal(".", digits(1, kMostDigits, exponent)), exponent);
  return integer(fraction);
}

}  // namespace luce::completion
