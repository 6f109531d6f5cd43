#include <optional>
#include <utility>

#include "base/format.hpp"
#include "completion/grammar/pattern.hpp"
#include "completion/grammar/pattern_lengths.hpp"
#include "completion/grammar/schema_compiler.hpp"
#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

/// A pattern and the keyword that gives it.
struct NamedPattern {
  std::string keyword;
  std::string text;
};

std::optional<NamedPattern> pattern_of(const Json& schema, const std::string& place) {
  if (const auto pattern = schema.find("pattern"); pattern != schema.end()) {
    if (!pattern->is_string()) refuse_schema(place + "/pattern", "must be a string");
    return NamedPattern{"pattern", *pattern};
  }
  if (std::string known = pattern_of_format(schema); !known.empty()) return NamedPattern{"format", std::move(known)};
  return std::nullopt;
}

}  // namespace

int SchemaCompiler::string(const Json& schema, const std::string& place, int next) {
  const bool free = !pattern_of(schema, place) && !schema.contains("minLength") && !schema.contains("maxLength");
  if (free) return json_.string(next);
  return builder_.literal("\"", string_inside(schema, place, false, builder_.literal("\"", next)));
}

int SchemaCompiler::string_inside(const Json& schema, const std::string& place, bool raw, int next) {
  const LengthBounds bounds{.least = count_of(schema, "minLength", place, 0),
                            .most = count_of(schema, "maxLength", place, kUnbounded)};
  if (bounds.most != kUnbounded && bounds.most < bounds.least)
    refuse_schema(place, "has a maxLength below its minLength");
  const std::optional<NamedPattern> given = pattern_of(schema, place);
  if (!given) {
    const int character = builder_.rule(raw ? raw_character(builder_, kReturn) : json_.character(kReturn));
    return builder_.repeat(character, bounds.least, bounds.most, next);
  }
  const std::string here = place + "/" + given->keyword;
  PatternNode pattern = parse_pattern(given->text, here);
  if (!bound_lengths(pattern, bounds))
    cannot(place, given->keyword,
           "cannot be enforced together with this minLength or maxLength; say the lengths in it");
  return compile_pattern(builder_, json_, {.pattern = pattern, .raw = raw}, next);
}

}  // namespace luce::completion
