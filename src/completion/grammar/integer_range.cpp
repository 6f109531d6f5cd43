#include "completion/grammar/integer_range.hpp"

#include <algorithm>
#include <cmath>

#include "completion/grammar/json_rules.hpp"
#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

constexpr int64_t kOpenEnd = 9'999'999'999'999'999;

std::optional<double> bound(const Json& schema, const std::string& key, const std::string& place) {
  const auto found = schema.find(key);
  if (found == schema.end() || found->is_null() || found->is_boolean()) return std::nullopt;
  if (!found->is_number()) refuse_schema(place + "/" + key, "must be a number");
  return std::clamp(found->get<double>(), -static_cast<double>(kOpenEnd), static_cast<double>(kOpenEnd));
}

/// Digit strings of equal length between two bounds.
class DigitRange {
 public:
  DigitRange(GrammarBuilder& builder, int next) : builder_(builder), next_(next) {}

  int between(const std::string& low, const std::string& high, size_t at) {
    if (at == low.size()) return next_;
    if (low[at] == high[at]) return digit(low[at], high[at], between(low, high, at + 1));
    std::vector<int> branches = {digit(low[at], low[at], at_least(low, at + 1)),
                                 digit(high[at], high[at], at_most(high, at + 1))};
    if (low[at] + 1 < high[at])
      branches.push_back(
          digit(static_cast<char>(low[at] + 1), static_cast<char>(high[at] - 1), any(low.size() - at - 1)));
    return builder_.any_of(std::move(branches));
  }

 private:
  int digit(char first, char last, int next) {
    return builder_.bytes(byte_span(static_cast<unsigned char>(first), static_cast<unsigned char>(last)), next);
  }
  int any(size_t digits) {
    int next = next_;
    for (size_t i = 0; i < digits; ++i) next = digit('0', '9', next);
    return next;
  }
  int at_least(const std::string& low, size_t at) {
    if (at == low.size()) return next_;
    const int same = digit(low[at], low[at], at_least(low, at + 1));
    if (low[at] == '9') return same;
    return builder_.any_of({same, digit(static_cast<char>(low[at] + 1), '9', any(low.size() - at - 1))});
  }
  int at_most(const std::string& high, size_t at) {
    if (at == high.size()) return next_;
    const int same = digit(high[at], high[at], at_most(high, at + 1));
    if (high[at] == '0') return same;
    return builder_.any_of({same, digit('0', static_cast<char>(high[at] - 1), any(high.size() - at - 1))});
  }

  GrammarBuilder& builder_;
  int next_;
};

// Numbers low to high, both 0 or more, without leading zeros.
void add_magnitudes(GrammarBuilder& builder, int64_t low, int64_t high, int next, std::vector<int>& branches) {
  for (int64_t first = low; first <= high;) {
    const std::string digits = std::to_string(first);
    const int64_t last = std::min<int64_t>(high, std::stoll(std::string(digits.size(), '9')));
    branches.push_back(DigitRange(builder, next).between(digits, std::to_string(last), 0));
    first = last + 1;
  }
}

}  // namespace

IntegerBounds integer_bounds(const Json& schema, const std::string& place) {
  IntegerBounds bounds;
  if (const auto minimum = bound(schema, "minimum", place)) bounds.least = static_cast<int64_t>(std::ceil(*minimum));
  if (const auto maximum = bound(schema, "maximum", place)) bounds.most = static_cast<int64_t>(std::floor(*maximum));
  if (const auto above = bound(schema, "exclusiveMinimum", place))
    bounds.least = std::max(bounds.least.value_or(INT64_MIN), static_cast<int64_t>(std::floor(*above)) + 1);
  if (const auto below = bound(schema, "exclusiveMaximum", place))
    bounds.most = std::min(bounds.most.value_or(INT64_MAX), static_cast<int64_t>(std::ceil(*below)) - 1);
  return bounds;
}

int compile_integer_range(GrammarBuilder& builder, const IntegerBounds& bounds, int next) {
  const int64_t least = std::max(bounds.least.value_or(-kOpenEnd), -kOpenEnd - 1);
  const int64_t most = std::min(bounds.most.value_or(kOpenEnd), kOpenEnd + 1);
  std::vector<int> branches, negative;
  if (most >= 0) add_magnitudes(builder, std::max<int64_t>(least, 0), most, next, branches);
  if (least < 0) add_magnitudes(builder, std::max<int64_t>(1, -most), -least, next, negative);
  if (!negative.empty()) branches.push_back(builder.literal("-", builder.any_of(std::move(negative))));
  return builder.any_of(std::move(branches));
}

}  // namespace luce::completion
