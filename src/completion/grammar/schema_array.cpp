#include <algorithm>
#include <map>
#include <utility>

#include "base/format.hpp"
#include "completion/grammar/schema_compiler.hpp"
#include "completion/grammar/schema_keywords.hpp"

namespace luce::completion {

namespace {

constexpr size_t kMostUniqueValues = 8;  // each subset of them is a place in the grammar

// Draft 2019 and before: a list in "items" is what "prefixItems" is now, "additionalItems" what "items" is.
Json modern_items(const Json& schema) {
  Json modern = schema;
  if (schema.contains("items") && schema["items"].is_array()) {
    modern["prefixItems"] = schema["items"];
    modern.erase("items");
    if (modern["prefixItems"].empty()) modern.erase("prefixItems");
    if (schema.contains("additionalItems")) modern["items"] = schema["additionalItems"];
  }
  if (!modern.contains("items") && schema.contains("unevaluatedItems")) modern["items"] = schema["unevaluatedItems"];
  return modern;
}

// The values that a schema of few values allows, null for one of many.
Json few_values(const Json& schema, const std::string& place) {
  if (!schema.is_object()) return nullptr;
  const Json listed = listed_values(schema, place);
  if (!listed.is_null()) return listed;
  const std::vector<std::string> types = types_of(schema, place);
  Json values = Json::array();
  for (const std::string& type : types) {
    if (type == "boolean") values.insert(values.end(), {true, false});
    if (type == "null") values.push_back(nullptr);
    if (type != "boolean" && type != "null") return nullptr;
  }
  return values.empty() ? Json() : values;
}

}  // namespace

int SchemaCompiler::array(const Json& schema, const std::string& place, int next) {
  const Json modern = modern_items(schema);
  const int least = count_of(modern, "minItems", place, 0), most = count_of(modern, "maxItems", place, kUnbounded);
  if (most != kUnbounded && most < least) refuse_schema(place, "has a maxItems below its minItems");
  if (most == 0) return builder_.literal("[", json_.punctuation("]", next));
  if (modern.value("uniqueItems", Json()) == true && most != 1) return unique_items(modern, place, next);
  return items(modern, place, next);
}

int SchemaCompiler::items(const Json& schema, const std::string& place, int next) {
  const int close = json_.punctuation("]", next);
  const int least = count_of(schema, "minItems", place, 0), most = count_of(schema, "maxItems", place, kUnbounded);
  const Json& prefix = schema.contains("prefixItems") ? list_of(schema, "prefixItems", place) : empty_list();
  const int listed = static_cast<int>(prefix.size());
  const int named = most == kUnbounded ? listed : std::min(listed, most);
  const Json value = schema.value("items", Json(true));
  if (value == false && least > named) refuse_schema(place, "has a minItems above what its items allow");
  int rest = close;
  if (value != false) {
    const int element = builder_.rule(compile(value, place + "/items", kReturn));
    const int more = builder_.rule(json_.punctuation(",", json_.space(builder_.call(element, kReturn))));
    const int done = std::max(named, 1);  // before the repetition
    const int most_more = most == kUnbounded ? kUnbounded : most - done;
    rest = builder_.repeat(more, std::max(0, least - done), most_more, close);
    if (named == 0) {
      const int elements = json_.space(builder_.call(element, rest));
      return builder_.literal("[", least > 0 ? elements : builder_.any_of({close, elements}));
    }
  }
  for (int i = named; i-- > 0;) {
    const int element = compile(prefix[static_cast<size_t>(i)], fmt::format("{}/prefixItems/{}", place, i), rest);
    rest = i == 0 ? json_.space(element) : json_.punctuation(",", json_.space(element));
  }
  return builder_.literal("[", rest);
}

// A place for each set of values that are still to be had.
int SchemaCompiler::unique_items(const Json& schema, const std::string& place, int next) {
  const Json element = flattened(schema.value("items", Json(true)), place + "/items");
  Json values = schema.contains("prefixItems") ? Json() : few_values(element, place + "/items");
  if (values.is_null() || values.size() > kMostUniqueValues) {
    cannot(place, "uniqueItems",
           fmt::format("can be enforced for items with an enum of {} values at most", kMostUniqueValues));
    return items(schema, place, next);
  }
  std::vector<int> reads;
  for (const Json& value : values) {
    Json one = element;
    one.erase("const");
    one["enum"] = Json::array({value});
    reads.push_back(builder_.rule(compile(one, place + "/items", kReturn)));
  }
  const size_t least = static_cast<size_t>(count_of(schema, "minItems", place, 0));
  const size_t most = static_cast<size_t>(count_of(schema, "maxItems", place, static_cast<int>(kMostUniqueValues)));
  const int close = json_.punctuation("]", next);
  std::map<unsigned, int> places;  // by the set of values that were written; larger sets first
  for (unsigned used = 1u << reads.size(); used-- > 0;) {
    const auto written = static_cast<size_t>(__builtin_popcount(used));
    std::vector<int> branches;
    if (written >= least) branches.push_back(close);
    for (size_t i = 0; i < reads.size() && written < most; ++i) {
      const auto more = places.find(used | 1u << i);
      if ((used >> i & 1u) != 0 || more == places.end()) continue;
      const int reads_one = json_.space(builder_.call(reads[i], more->second));
      branches.push_back(written == 0 ? reads_one : json_.punctuation(",", reads_one));
    }
    if (!branches.empty()) places[used] = builder_.any_of(std::move(branches));
  }
  if (!places.contains(0)) refuse_schema(place, "has a minItems above the number of different items");
  return builder_.literal("[", places[0]);
}

}  // namespace luce::completion
