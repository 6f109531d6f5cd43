// Every keyword of JSON schema is enforced, refused by name and place, or a remark that changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "completion/grammar/output_grammar.hpp"
#include "completion/grammar/schema_keywords.hpp"
#include "completion/grammar_fixture.hpp"
#include "completion/reply_fixture.hpp"
#include "completion/schema_validator.hpp"

namespace luce::completion {
namespace {

using testing::HasSubstr;

// The vocabularies of draft 2020-12, from its meta-schemas.
const std::set<std::string> kDraft = {
    // core
    "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$comment", "$defs",
    // applicator
    "prefixItems", "items", "contains", "additionalProperties", "properties", "patternProperties", "dependentSchemas",
    "propertyNames", "if", "then", "else", "allOf", "anyOf", "oneOf", "not",
    // unevaluated
    "unevaluatedItems", "unevaluatedProperties",
    // validation
    "type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties",
    "minProperties", "required", "dependentRequired",
    // meta-data, format, content
    "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "format", "contentEncoding",
    "contentMediaType", "contentSchema"};

struct Enforced {
  const char* keyword;
  const char* schema;
  std::vector<const char*> good;
  std::vector<const char*> bad;
};

const std::vector<Enforced>& enforced() {
  static const std::vector<Enforced> rows = {
      {"$ref",
       R"({"$ref":"#/$defs/n","minimum":5,"$defs":{"n":{"type":"integer","maximum":7}}})",
       {"5", "7"},
       {"4", "8"}},
      {"allOf",
       R"({"allOf":[{"type":"number","minimum":2},{"minimum":4},{"type":"integer","maximum":9}]})",
       {"4", "9"},
       {"3", "10", "4.5"}},
      {"anyOf", R"({"minimum":3,"anyOf":[{"type":"integer"},{"type":"null"}]})", {"3", "null"}, {"2", "\"a\""}},
      {"oneOf", R"({"oneOf":[{"type":"string"},{"type":"integer"}]})", {"\"a\"", "4"}, {"null"}},
      {"oneOf",
       R"({"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"integer"}},"required":["k","x"]},
                             {"properties":{"k":{"const":"b"},"y":{"type":"integer"}},"required":["k","y"]}]})",
       {R"({"k":"a","x":1})", R"({"k":"b","y":1})"},
       {R"({"k":"a","y":1})", R"({"k":"b"})"}},
      {"oneOf",
       R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
       {R"({"a":1})", R"({"b":1})"},
       {"{}", R"({"a":1,"b":2})"}},
      {"dependentRequired",
       R"({"type":"object","properties":{"card":{"type":"integer"},"name":{"type":"string"}},"dependentRequired":{"card":["name"]}})",
       {"{}", R"({"name":"x"})", R"({"card":1,"name":"x"})"},
       {R"({"card":1})"}},
      {"dependentSchemas",
       R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependentSchemas":{"a":{"required":["b"],"properties":{"b":{"minimum":5}}}}})",
       {"{}", R"({"b":1})", R"({"a":1,"b":5})"},
       {R"({"a":1})", R"({"a":1,"b":1})"}},
      {"dependencies",
       R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"dependencies":{"a":["b"]}})",
       {R"({"a":null,"b":null})"},
       {R"({"a":null})"}},
      {"properties",
       R"({"properties":{"a":{"type":"integer"},"b":false}})",
       {R"({"a":1})", "{}"},
       {R"({"a":"x"})", R"({"b":1})"}},
      {"patternProperties",
       R"({"type":"object","patternProperties":{"^x_":{"type":"integer"}}})",
       {"{}", R"({"x_a":1,"x_b":2})"},
       {R"({"x_a":"s"})"}},
      {"patternProperties",
       R"({"type":"object","properties":{"x_n":{"type":"number"},"y":{"type":"null"}},"patternProperties":{"^x_":{"minimum":3}}})",
       {R"({"x_n":3,"y":null})"},
       {R"({"x_n":2})"}},
      {"additionalProperties",
       R"({"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}})",
       {R"({"a":1,"b":"x"})", R"({"aa":"x"})", R"({"":"x"})"},
       {R"({"b":1})", R"({"a":"x"})", R"({"a":1,"a":"x"})", R"({"\u0061":"x"})"}},
      {"unevaluatedProperties",
       R"({"allOf":[{"properties":{"a":{"type":"integer"}}}],"properties":{"b":{"type":"integer"}},"unevaluatedProperties":false})",
       {R"({"b":1,"a":2})", "{}"},
       {R"({"c":1})"}},
      {"propertyNames",
       R"({"type":"object","propertyNames":{"pattern":"^[a-c]+$"},"additionalProperties":{"type":"integer"}})",
       {"{}", R"({"ab":1})"},
       {R"({"d":1})", R"({"ab":"x"})"}},
      {"propertyNames",
       R"({"type":"object","properties":{"ok":true,"toolong":true},"propertyNames":{"maxLength":3}})",
       {R"({"ok":1})"},
       {R"({"toolong":1})"}},
      {"prefixItems",
       R"({"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"maxItems":1})",
       {"[1]"},
       {"[1,\"a\"]", "[\"a\"]"}},
      {"items", R"({"items":{"type":"integer"}})", {"[]", "[1,2]"}, {"[\"a\"]"}},
      {"items", R"({"items":[{"type":"integer"}],"additionalItems":false})", {"[1]"}, {"[1,2]", "[\"a\"]"}},
      {"additionalItems",
       R"({"items":[{"type":"integer"}],"additionalItems":{"type":"null"}})",
       {"[1,null]"},
       {"[1,2]"}},
      {"unevaluatedItems", R"({"prefixItems":[{"type":"integer"}],"unevaluatedItems":false})", {"[1]"}, {"[1,2]"}},
      {"type", R"({"type":["integer","null"]})", {"1", "null"}, {"\"a\"", "1.5"}},
      {"enum", R"({"type":"string","enum":["a",1,"bcd"],"maxLength":2})", {"\"a\""}, {"1", "\"bcd\""}},
      {"const", R"({"const":{"k":[1]}})", {R"({"k":[1]})"}, {"{}"}},
      {"multipleOf",
       R"({"type":"integer","multipleOf":7,"minimum":-30,"maximum":100})",
       {"0", "-28", "98", "7"},
       {"-29", "99", "-35", "105", "1"}},
      {"multipleOf",
       R"({"type":"number","multipleOf":0.25})",
       {"0", "0.25", "-1.75", "12.5", "3"},
       {"0.3", "0.1", "1.255"}},
      {"minimum",
       R"({"type":"number","minimum":-1.5})",
       {"-1.5", "-1.49", "-0.001", "0", "7.25"},
       {"-1.51", "-2", "-10"}},
      {"minimum", R"({"minimum":3})", {"3", "3.0"}, {"2", "\"a\"", "2.999"}},
      {"maximum",
       R"({"type":"number","maximum":10.05})",
       {"10.05", "10.04999", "-3", "0"},
       {"10.051", "10.1", "11", "100"}},
      {"exclusiveMinimum",
       R"({"type":"number","exclusiveMinimum":0})",
       {"0.5", "0.0001", "3"},
       {"0", "0.0", "-1", "-0.5", "0.000"}},
      {"exclusiveMinimum", R"({"type":"integer","minimum":3,"exclusiveMinimum":true})", {"4"}, {"3", "2"}},
      {"exclusiveMaximum",
       R"({"type":"number","minimum":0,"exclusiveMaximum":1})",
       {"0", "0.99", "0.5"},
       {"1", "1.0", "-0.1", "2"}},
      {"minLength", R"({"minLength":2})", {"\"ab\""}, {"\"a\""}},
      {"maxLength",
       R"({"type":"string","pattern":"^[a-z]+$","maxLength":3,"minLength":2})",
       {"\"ab\"", "\"abc\""},
       {"\"a\"", "\"abcd\"", "\"A\""}},
      {"pattern", R"({"pattern":"^\\d{3}$"})", {"\"123\""}, {"\"12\""}},
      {"minItems", R"({"items":{"type":"integer"},"minItems":2})", {"[1,2]"}, {"[1]"}},
      {"maxItems", R"({"items":{"type":"integer"},"maxItems":2})", {"[1,2]"}, {"[1,2,3]"}},
      {"uniqueItems",
       R"({"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true,"minItems":1})",
       {R"(["a"])", R"(["c","a","b"])"},
       {R"(["a","a"])", "[]", R"(["a","b","c","a"])"}},
      {"uniqueItems", R"({"type":"array","items":{"type":"string"},"uniqueItems":false})", {R"(["a","a"])"}, {"[1]"}},
      {"minProperties",
       R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"},"c":{"type":"null"}},"minProperties":2})",
       {R"({"a":null,"b":null})", R"({"b":null,"c":null})"},
       {R"({"a":null})", "{}"}},
      {"maxProperties",
       R"({"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"maxProperties":1,"additionalProperties":{"type":"null"}})",
       {"{}", R"({"b":null})", R"({"z":null})"},
       {R"({"a":null,"b":null})", R"({"a":null,"z":null})"}},
      {"required", R"({"required":["a"]})", {R"({"a":1})"}, {"{}"}},
      {"nullable", R"({"enum":["a"],"nullable":true})", {"null", "\"a\""}, {"\"b\""}},
      {"format", R"({"type":"string","format":"date"})", {"\"2026-11-29\""}, {"\"today\""}},
      {"format", R"({"type":"string","format":"email"})", {"\"a.b@c.org\""}, {"\"a\"", "\"a@b\""}},
      {"format", R"({"type":"string","format":"ipv4"})", {"\"127.0.0.1\""}, {"\"256.0.0.1\"", "\"1.2.3\""}},
  };
  return rows;
}

struct Refused {
  const char* keyword;
  const char* schema;
  const char* place;
};

const std::vector<Refused>& refused() {
  static const std::vector<Refused> rows = {
      {"not", R"({"properties":{"a":{"not":{"type":"string"}}}})", "schema/properties/a/not"},
      {"if", R"({"items":{"if":{"type":"string"},"then":{"minLength":1}}})", "schema/items/if"},
      {"contains", R"({"type":"array","contains":{"type":"integer"}})", "schema/contains"},
      {"$dynamicRef", R"({"$dynamicRef":"#x"})", "schema/$dynamicRef"},
      {"$recursiveRef", R"({"anyOf":[{"type":"null"},{"$recursiveRef":"#"}]})", "schema/anyOf/1/$recursiveRef"},
      {"uniqueItems", R"({"type":"array","items":{"type":"string"},"uniqueItems":true})", "schema/uniqueItems"},
      {"oneOf", R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "schema/oneOf"},
      {"multipleOf", R"({"type":"integer","multipleOf":1031})", "schema/multipleOf"},
      {"minimum", R"({"type":"number","minimum":1e20})", "schema/minimum"},
      {"minimum", R"({"type":"number","minimum":"3"})", "schema/minimum"},
      {"pattern", R"({"type":"string","pattern":"^(ab|c)+$","minLength":3})", "schema/pattern"},
      {"pattern", R"({"allOf":[{"pattern":"a"},{"pattern":"b"}]})", "schema/allOf/1/pattern"},
      {"patternProperties", R"({"type":"object","patternProperties":{"^a":{"type":"integer"},"b$":{"type":"string"}}})",
       "schema/patternProperties"},
      {"type", R"({"allOf":[{"type":"string"},{"type":"integer"}]})", "schema/allOf/1/type"},
      {"enum", R"({"allOf":[{"enum":[1,2]},{"const":3}]})", "schema/allOf/1/enum"},
      {"minProperties", R"({"properties":{"a":true},"minProperties":2})", "schema"},
      {"required", R"({"properties":{"a":false},"required":["a"]})", "schema/properties/a"},
      {"required",
       R"({"allOf":[{"properties":{"a":true},"additionalProperties":false},{"properties":{"b":true},"required":["b"]}]})",
       "schema/properties/b"}};
  return rows;
}

const std::vector<const char*> kRemarks = {"$schema", "$id", "$anchor", "$vocabulary", "$comment", "$defs",
                                           "$dynamicAnchor", "title", "description", "default", "deprecated",
                                           "readOnly", "writeOnly", "examples", "contentEncoding", "contentMediaType",
                                           "contentSchema",
                                           // of other keywords that are not there
                                           "then", "else", "minContains", "maxContains",
                                           // of other drafts, of OpenAPI and of nobody
                                           "definitions", "$recursiveAnchor", "example", "discriminator", "x-order"};

TEST(SchemaKeywords, TheTableHasThemAll) {
  std::set<std::string> known, tried(kRemarks.begin(), kRemarks.end());
  for (const SchemaKeyword& keyword : schema_keywords()) known.emplace(keyword.name);
  for (const Enforced& row : enforced()) tried.emplace(row.keyword);
  for (const Refused& row : refused()) tried.emplace(row.keyword);
  for (const std::string& keyword : kDraft) {
    EXPECT_TRUE(known.contains(keyword)) << keyword;
    EXPECT_TRUE(tried.contains(keyword)) << keyword;
  }
  for (const std::string& keyword : known) EXPECT_TRUE(tried.contains(keyword)) << keyword;
}

TEST(SchemaKeywords, EnforcedOnesHold) {
  for (const Enforced& row : enforced()) {
    const auto program = schema_program(Json::parse(row.schema));
    for (const char* text : row.good) EXPECT_TRUE(matches(program, text)) << row.schema << " should allow " << text;
    for (const char* text : row.bad) EXPECT_FALSE(matches(program, text)) << row.schema << " should refuse " << text;
  }
}

TEST(SchemaKeywords, RefusedOnesAreNamedWithTheirPlace) {
  for (const Refused& row : refused()) {
    try {
      schema_program(Json::parse(row.schema));
      ADD_FAILURE() << row.schema;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
      EXPECT_THAT(error.what(), HasSubstr(row.keyword)) << row.schema;
      EXPECT_THAT(error.what(), testing::StartsWith(row.place)) << row.schema;
    }
  }
}

TEST(SchemaKeywords, RefusedOnesWithoutEffectPass) {
  for (const char* schema : {R"({"type":"integer","not":false})", R"({"type":"integer","if":{"type":"string"}})",
                             R"({"type":"integer","contains":{"type":"null"},"minContains":0})"}) {
    const auto program = schema_program(Json::parse(schema));
    EXPECT_TRUE(matches(program, "7")) << schema;
    EXPECT_FALSE(matches(program, "null")) << schema;
  }
}

TEST(SchemaKeywords, RemarksChangeNothing) {
  for (const char* keyword : kRemarks) {
    const auto program = schema_program({{"type", "integer"}, {keyword, Json::object()}});
    EXPECT_TRUE(matches(program, "7")) << keyword;
    EXPECT_FALSE(matches(program, "\"a\"")) << keyword;
    EXPECT_FALSE(has_constraints({{keyword, true}})) << keyword;
  }
}

// Texts that the grammar writes are values of the schema, as a literal reading of the specification has it.
TEST(SchemaKeywords, WhatIsWrittenIsValid) {
  std::mt19937 random(17);
  for (const Enforced& row : enforced()) {
    const std::string keyword = row.keyword;
    Json schema = Json::parse(row.schema);
    const auto program = schema_program(schema);
    const bool older = keyword == "dependencies" || keyword == "nullable" || keyword == "additionalItems" ||
                       schema.contains("additionalItems") || schema.value("exclusiveMinimum", Json()) == true ||
                       keyword.starts_with("unevaluated");
    if (older) continue;  // the validator knows the present draft alone
    int written = 0;
    for (int run = 0; run < 200; ++run) {
      const std::string text = random_text_of(program, static_cast<size_t>(run % 24), random);
      if (text.empty()) continue;
      const Json value = Json::parse(text, nullptr, false);
      ASSERT_FALSE(value.is_discarded()) << row.schema << ": " << text;
      ASSERT_TRUE(schema_allows(schema, value)) << row.schema << ": " << text;
      ++written;
    }
    EXPECT_GT(written, 5) << row.schema;
  }
}

struct Range {
  double least, most;
};

TEST(SchemaKeywords, NumberRangesAreExact) {
  std::mt19937 random(5);
  for (int run = 0; run < 200; ++run) {
    const auto any = [&] { return (static_cast<int>(random() % 4000) - 2000) / (random() % 2 ? 100.0 : 10.0); };
    const double a = any(), b = any();
    const Range range{std::min(a, b), std::max(a, b)};
    const bool open = random() % 2 == 0;
    if (open && range.least == range.most) continue;
    const Json schema = {{"type", "number"},
                         {open ? "exclusiveMinimum" : "minimum", range.least},
                         {open ? "exclusiveMaximum" : "maximum", range.most}};
    const auto program = schema_program(schema);
    for (int probe = -4100; probe <= 4100; probe += 7) {
      const Json value = probe / 200.0;
      EXPECT_EQ(matches(program, value.dump()), schema_allows(schema, value)) << schema << " " << value;
    }
    for (const double edge : {range.least, range.most})
      EXPECT_EQ(matches(program, Json(edge).dump()), !open) << schema << " " << edge;
  }
}

TEST(SchemaKeywords, MultiplesWithinBoundsAreExact) {
  std::mt19937 random(6);
  for (int run = 0; run < 100; ++run) {
    const int step = 1 + static_cast<int>(random() % 60);
    const int low = static_cast<int>(random() % 400) - 300, high = low + step + static_cast<int>(random() % 300);
    const Json schema = {{"type", "integer"}, {"multipleOf", step}, {"minimum", low}, {"maximum", high}};
    const auto program = schema_program(schema);
    for (int value = -350; value <= 500; ++value)
      ASSERT_EQ(matches(program, std::to_string(value)), schema_allows(schema, value)) << schema << value;
  }
}

Json tool(const char* parameters, bool strict) {
  return Json::array({{{"type", "function"},
                       {"function", {{"name", "f"}, {"strict", strict}, {"parameters", Json::parse(parameters)}}}}});
}

std::shared_ptr<const GrammarProgram> call_program(const char* template_name, const Json& tools) {
  ReplyPlan plan;
  plan.format = std::make_shared<const ReplyFormat>(format_of(template_name));
  plan.chat = true;
  plan.tools = ToolSet(tools);
  plan.tool_choice = {ToolMode::required, {}};
  return output_grammar(plan, {});
}

// OpenAI's rule: without "strict" the schema of a tool is kept as far as possible.
TEST(SchemaKeywords, ToolsThatAreNotStrictKeepWhatCanBeHad) {
  const char* const odd =
      R"({"type":"object","properties":{"n":{"type":"integer","maximum":5,"not":{"const":3}}},"required":["n"]})";
  const auto program = call_program("Qwen-Qwen3-0.6B", tool(odd, false));
  EXPECT_TRUE(matches(program, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 4}}\n</tool_call>"));
  EXPECT_FALSE(matches(program, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": 7}}\n</tool_call>"));
  for (const char* name : {"Qwen-Qwen3-0.6B", "Qwen3.5-4B"}) {
    try {
      call_program(name, tool(odd, true));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.param(), "tools");
      EXPECT_THAT(error.what(), AllOf(HasSubstr("\"f\""), HasSubstr("properties/n/not")));
    }
  }
}

TEST(SchemaKeywords, TextParametersAreBoundToo) {
  const char* const schema =
      R"({"type":"object","required":["code"],"properties":{"code":{"type":"string","pattern":"^[A-Z<]{2}$"},
      "short":{"type":"string","maxLength":2},"unit":{"anyOf":[{"enum":["km"]},{"type":"null"}]},"kind":{"const":"x"}}})";
  const auto program = call_program("Qwen3.5-4B", tool(schema, true));
  const auto call = [&](const std::string& name, const std::string& value) {
    return "<tool_call>\n<function=f>\n<parameter=code>\nAB\n</parameter>\n<parameter=" + name + ">\n" + value +
           "\n</parameter>\n</function>\n</tool_call>";
  };
  EXPECT_FALSE(
      matches(program, "<tool_call>\n<function=f>\n<parameter=code>\nabc\n</parameter>\n</function>\n</tool_call>"));
  EXPECT_TRUE(matches(program, call("short", "ab")));
  EXPECT_FALSE(matches(program, call("short", "abc")));
  EXPECT_TRUE(matches(program, call("unit", "km")));
  EXPECT_TRUE(matches(program, call("unit", "null")));
  EXPECT_FALSE(matches(program, call("unit", "mi")));
  EXPECT_TRUE(matches(program, call("kind", "x")));
  EXPECT_FALSE(matches(program, call("kind", "y")));
  const char* const beyond = R"({"type":"object","properties":{"a":{"type":"string"}},"minProperties":1})";
  EXPECT_NE(call_program("Qwen3.5-4B", tool(beyond, false)), nullptr);
  EXPECT_THROW(call_program("Qwen3.5-4B", tool(beyond, true)), Error);
}

}  // namespace
}  // namespace luce::completion
