#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "text/jinja/value_text.hpp"

namespace luce::text::jinja {

std::string integer_text(Integer value) {
  if (value == 0) return "0";
  const bool negative = value < 0;
  auto rest = negative ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  for (; rest != 0; rest /= 10) digits.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

// The shortest digits that read back as the same number, with an exponent from 1e16 and below 1e-4 on.
std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t mark = text.find('e');
  int exponent = 0;
  const size_t digits_of_exponent = text[mark + 1] == '+' ? mark + 2 : mark + 1;
  std::from_chars(text.data() + digits_of_exponent, text.data() + text.size(), exponent);
  const bool negative = text.front() == '-';
  std::string digits;
  for (const char c : text.substr(0, mark)) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  const std::string sign = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    const int size = std::abs(exponent);
    std::string out = sign + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "");
    return out + (exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + std::to_string(size);
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace luce::text::jinja
