#include "app/option_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "app/option_table.hpp"
#include "base/byte_size.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::app {
namespace {

template <typename T>
std::optional<T> parse_exactly(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

int64_t parse_whole(const std::string& text, int64_t least, int64_t most) {
  const auto value = parse_exactly<int64_t>(text);
  if (!value || *value < least || *value > most)
    throw BadValue(fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

double parse_decimal(const std::string& text, double least, double most) {
  const auto value = parse_exactly<double>(text);
  if (!value || !(*value >= least && *value <= most))
    throw BadValue(fmt::format("a number from {} to {}", least, most));
  return *value;
}

bool parse_switch(const std::string& text) {
  for (const char* yes : {"true", "yes", "on", "1"})
    if (text == yes) return true;
  for (const char* no : {"false", "no", "off", "0"})
    if (text == no) return false;
  throw BadValue("true or false");
}

int64_t parse_size(const std::string& text) {
  try {
    return base::parse_byte_size(text);
  } catch (const Error&) {
    throw BadValue("a size such as 14GiB, 512MiB or a number of bytes");
  }
}

double parse_share(const std::string& text) {
  const bool percent = !text.empty() && text.back() == '%';
  const auto value = parse_exactly<double>(percent ? text.substr(0, text.size() - 1) : text);
  const double share = value.value_or(-1) / (percent ? 100 : 1);
  if (!(share >= 0 && share <= 1)) throw BadValue("a share such as 30% or 0.3, from 0% to 100%");
  return share;
}

std::string parse_choice(const std::string& text, std::initializer_list<std::string_view> choices) {
  if (std::find(choices.begin(), choices.end(), text) == choices.end())
    throw BadValue(fmt::format("one of {}", fmt::join(choices, ", ")));
  return text;
}

std::vector<std::string> parse_list(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const size_t first = part.find_first_not_of(" \t");
    if (first != std::string::npos) parts.push_back(part.substr(first, part.find_last_not_of(" \t") - first + 1));
    begin = end + 1;
  }
  return parts;
}

std::string show_number(double number) { return fmt::format("{}", number); }
std::string show_number(float number) { return fmt::format("{}", number); }

std::string show_size(int64_t bytes) {
  constexpr std::array<std::pair<int, const char*>, 3> kUnits = {{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}}};
  for (const auto& [shift, unit] : kUnits)
    if (bytes > 0 && bytes % (int64_t{1} << shift) == 0) return fmt::format("{}{}", bytes >> shift, unit);
  return std::to_string(bytes);
}

}  // namespace luce::app
