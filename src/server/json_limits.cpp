#include "server/json_limits.hpp"

#include <array>
#include <cstdint>

#include "base/check.hpp"
#include "base/error.hpp"

namespace luce::server {
namespace {

constexpr size_t kMostDepth = 256;

/// Walks over the text once. Malformed text is left to the parser, so only brackets, commas and strings are looked at.
class LimitScan {
 public:
  explicit LimitScan(const JsonLimits& limits) : limits_(limits) {
    LUCE_CHECK(limits.depth > 0 && static_cast<size_t>(limits.depth) <= kMostDepth, "depth beyond the counters");
  }

  void run(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      switch (text[i]) {
        case '"': i = string_end(text, i); break;
        case '{':
        case '[': open(text[i] == '{'); break;
        case '}':
        case ']': close(); break;
        case ',': next_value(); break;
        default: break;
      }
    }
  }

 private:
  struct Level {
    bool object = false;
    uint64_t values = 0;
  };

  static size_t string_end(std::string_view text, size_t begin) {
    for (size_t i = begin + 1; i < text.size(); ++i) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        return i;
    }
    return text.size();
  }

  void open(bool object) {
    if (depth_ >= static_cast<size_t>(limits_.depth))
      fail(ErrorKind::invalid_request, "the JSON body is nested deeper than {} levels", limits_.depth);
    levels_[depth_++] = {object, 1};
    count_value();
  }

  void close() {
    if (depth_ == 0) return;
    const Level& level = levels_[--depth_];
    if (!level.object) return;
    squared_ += level.values * level.values;
    if (squared_ > limits_.squared_members)
      fail(ErrorKind::invalid_request, "the JSON body has an object with too many members");
  }

  void next_value() {
    if (depth_ > 0) ++levels_[depth_ - 1].values;
    count_value();
  }

  void count_value() {
    if (++values_ > limits_.values)
      fail(ErrorKind::invalid_request, "the JSON body has more than {} values", limits_.values);
  }

  const JsonLimits& limits_;
  std::array<Level, kMostDepth> levels_{};
  size_t depth_ = 0;
  size_t values_ = 0;
  uint64_t squared_ = 0;
};

}  // namespace

completion::Json parse_json_object(std::string_view body, const JsonLimits& limits) {
  using completion::Json;
  LimitScan(limits).run(body);
  Json parsed;
  try {
    parsed = Json::parse(body);
  } catch (const Json::parse_error& error) {
    fail(ErrorKind::invalid_request, "the body is not valid JSON: error at byte {}", error.byte);
  } catch (const Json::exception&) {
    fail(ErrorKind::invalid_request, "the body is not valid JSON: a number is out of range");
  }
  if (!parsed.is_object())
    fail(ErrorKind::invalid_request, "the body must be a JSON object, not {}", parsed.type_name());
  return parsed;
}

}  // namespace luce::server
