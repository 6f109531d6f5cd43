#include "completion/grammar/exclusive_choice.hpp"

#include <algorithm>
#include <string>

#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

bool is_among(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Of two types of a value, whether one value can have both.
bool types_meet(const std::string& a, const std::string& b) {
  return a == b || (a == "integer" && b == "number") || (a == "number" && b == "integer");
}

/// Whether values that are written for one schema can be allowed by another.
class Comparison {
 public:
  explicit Comparison(const Json& root) : root_(root) {}

  bool excludes(const Json& written, const Json& other) const {
    if (written == false || other == false) return true;
    if (!written.is_object() || !other.is_object()) return false;
    if (written.value("nullable", Json()) == true && allows_null(other)) return false;
    return types_exclude(written, other) || values_exclude(written, other) || bounds_exclude(written, other) ||
           members_exclude(written, other);
  }

 private:
  static bool allows_null(const Json& schema) {
    if (schema.value("nullable", Json()) == true || !schema.contains("type")) return true;
    return is_among(types_of(schema, "oneOf"), "null");
  }

  // Without "type" other keywords tell what is written, but not what is allowed.
  static bool types_exclude(const Json& written, const Json& other) {
    if (!other.contains("type")) return false;
    const std::vector<std::string> own = types_of(written, "oneOf"), allowed = types_of(other, "oneOf");
    if (own.empty()) return false;
    return std::none_of(own.begin(), own.end(), [&](const std::string& a) {
      return std::any_of(allowed.begin(), allowed.end(), [&](const std::string& b) { return types_meet(a, b); });
    });
  }

  static bool values_exclude(const Json& written, const Json& other) {
    const Json own = listed_values(written, "oneOf"), allowed = listed_values(other, "oneOf");
    if (!own.is_null() && !allowed.is_null())
      return std::none_of(own.begin(), own.end(), [&](const Json& value) {
        return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
      });
    if (own.is_null() || !other.contains("type")) return false;
    const std::vector<std::string> types = types_of(other, "oneOf");
    return std::none_of(own.begin(), own.end(), [&](const Json& value) {
      return std::any_of(types.begin(), types.end(), [&](const std::string& type) { return has_type(value, type); });
    });
  }

  static bool bounds_exclude(const Json& written, const Json& other) {
    struct Bound {
      const char *type, *least, *most;
    };
    static constexpr Bound kBounds[] = {{"number", "minimum", "maximum"},
                                        {"string", "minLength", "maxLength"},
                                        {"array", "minItems", "maxItems"},
                                        {"object", "minProperties", "maxProperties"}};
    const std::vector<std::string> own = types_of(written, "oneOf");
    return std::any_of(std::begin(kBounds), std::end(kBounds), [&](const Bound& bound) {
      const auto above = [&](const Json& high, const Json& low) {
        const Json least = high.value(bound.least, Json()), most = low.value(bound.most, Json());
        return least.is_number() && most.is_number() && most < least;
      };
      const bool bound_holds = own.size() == 1 && types_meet(own[0], bound.type);
      return bound_holds && (above(written, other) || above(other, written));
    });
  }

  bool members_exclude(const Json& written, const Json& other) const {
    if (types_of(written, "oneOf") != std::vector<std::string>{"object"}) return false;
    const Json own = properties(written), others = properties(other);
    const std::vector<std::string> needed = required_of(written, "oneOf");
    for (const std::string& name : required_of(other, "oneOf"))
      if (own.value(name, Json()) == false && !is_among(needed, name)) return true;
    const bool closed = other.value("additionalProperties", Json()) == false && !other.contains("patternProperties");
    return std::any_of(needed.begin(), needed.end(), [&](const std::string& name) {
      if (!others.contains(name)) return closed;
      return excludes(resolved(own.value(name, Json(true))), resolved(others[name]));
    });
  }

  Json resolved(const Json& schema) const { return resolve_schema(schema, root_, "oneOf"); }

  static Json properties(const Json& schema) {
    const Json found = schema.value("properties", Json());
    return found.is_object() ? found : Json::object();
  }

  const Json& root_;
};

// Forbids in one branch a member that the other needs. False where there is none.
bool part_by_member(Json& branch, const Json& other) {
  if (!branch.is_object() || !other.is_object()) return false;
  if (types_of(branch, "oneOf") != std::vector<std::string>{"object"}) return false;
  if (!branch.value("properties", Json::object()).is_object()) return false;
  const std::vector<std::string> needed = required_of(branch, "oneOf");
  for (const std::string& name : required_of(other, "oneOf")) {
    if (is_among(needed, name)) continue;
    branch["properties"][name] = false;
    return true;
  }
  return false;
}

}  // namespace

ChoiceOverlap make_exclusive(std::vector<Json>& branches, const Json& root) {
  const Comparison comparison(root);
  const std::vector<Json> allowed = branches;  // what is written becomes less, what is allowed does not
  for (size_t i = 0; i < branches.size(); ++i)
    for (size_t k = 0; k < branches.size(); ++k) {
      if (i == k || comparison.excludes(branches[i], allowed[k])) continue;
      if (!part_by_member(branches[i], allowed[k])) return {.found = true, .first = i, .second = k};
    }
  return {};
}

}  // namespace luce::completion
