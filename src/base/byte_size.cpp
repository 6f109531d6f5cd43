#include "base/byte_size.hpp"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <limits>

#include "base/error.hpp"

namespace luce::base {
namespace {

struct Unit {
  const char* name;  // lower case
  int64_t bytes;
};

constexpr std::array<Unit, 10> kUnits = {{
    {"", 1},
    {"b", 1},
    {"kib", int64_t{1} << 10},
    {"mib", int64_t{1} << 20},
    {"gib", int64_t{1} << 30},
    {"tib", int64_t{1} << 40},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
}};
constexpr int kMaxFractionDigits = 18;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Takes the digits at the front of `text`.
std::string_view take_digits(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  const auto digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

const Unit* find_unit(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& unit : kUnits)
    if (lower == unit.name) return &unit;
  return nullptr;
}

/// whole.fraction * unit in 128 bits; -1 when it exceeds 63 bits.
int64_t scaled(std::string_view whole, std::string_view fraction, int64_t unit) {
  constexpr auto kMax = static_cast<unsigned __int128>(std::numeric_limits<int64_t>::max());
  unsigned __int128 value = 0;
  for (const char digit : whole) {
    value = value * 10 + static_cast<unsigned>(digit - '0');
    if (value > kMax) return -1;
  }
  unsigned __int128 part = 0;
  unsigned __int128 scale = 1;
  for (const char digit : fraction.substr(0, kMaxFractionDigits)) {
    part = part * 10 + static_cast<unsigned>(digit - '0');
    scale *= 10;
  }
  const auto factor = static_cast<unsigned __int128>(unit);
  value = value * factor + part * factor / scale;
  return value > kMax ? -1 : static_cast<int64_t>(value);
}

}  // namespace

int64_t parse_byte_size(std::string_view text, std::string_view what) {
  auto rest = trim(text);
  const auto whole = take_digits(rest);
  std::string_view fraction;
  const bool has_point = !rest.empty() && rest.front() == '.';
  if (has_point) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
  }
  const auto* unit = find_unit(trim(rest));
  if (whole.empty() || (has_point && fraction.empty()) || unit == nullptr)
    fail(ErrorKind::usage,
         "{}: \"{}\" is no size; give a number of bytes or a number with one of "
         "B KiB MiB GiB TiB KB MB GB TB, for example 14GiB",
         what, text);
  const auto bytes = scaled(whole, fraction, unit->bytes);
  if (bytes < 0) fail(ErrorKind::usage, "{}: \"{}\" is too large; the most is 2^63 - 1 bytes", what, text);
  return bytes;
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<const char*, 6> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const double magnitude = bytes < 0 ? -static_cast<double>(bytes) : static_cast<double>(bytes);
  if (magnitude < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // 1023.995 would print as 1024.00 of the smaller unit.
  while ((value >= 1023.995 || value <= -1023.995) && unit + 1 < kNames.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.2f} {}", value, kNames[unit]);
}

}  // namespace luce::base
