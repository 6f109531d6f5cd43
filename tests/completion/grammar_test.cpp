#include <gtest/gtest.h>

#include <regex>

#include "completion/grammar_fixture.hpp"
#include "completion/reply_fixture.hpp"
#include "text/utf8.hpp"

namespace luce::completion {
namespace {

struct Row {
  const char* schema;
  std::vector<const char*> good;
  std::vector<const char*> bad;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto program = schema_program(Json::parse(row.schema));
    for (const char* text : row.good) EXPECT_TRUE(matches(program, text)) << row.schema << " should allow " << text;
    for (const char* text : row.bad) EXPECT_FALSE(matches(program, text)) << row.schema << " should refuse " << text;
  }
}

TEST(SchemaGrammar, SimpleTypes) {
  check({{R"({"type": "integer"})", {"0", "-7", "120"}, {"", "01", "1.5", "\"1\"", "+1", "- 1"}},
         {R"({"type": "number"})", {"0", "-1.25", "1e9", "3.5E-7"}, {".5", "1.", "1e", "NaN", "--1"}},
         {R"({"type": "boolean"})", {"true", "false"}, {"True", "1", "null"}},
         {R"({"type": "null"})", {"null"}, {"", "None"}},
         {R"({"type": "string"})",
          {R"("")", R"("a\n\"\\\u00e9")", R"("\uD83e\udd99")", "\"\xC3\xA9\xF0\x9F\xA6\x99\""},
          {R"(")", "\"a\nb\"", R"("\x")", R"("\u12")", R"("\uD83e")", R"("\uDD99\uD83e")", "\"\xC3\"",
           "\"\xED\xA0\x80\"", "\"\xFF\""}},
         {R"({"type": ["integer", "null"]})", {"3", "null"}, {"\"3\""}},
         {R"({})",
          {"1", "{}", "[[]]", R"({"a": [null, {"b": "c"}]})", "{\n  \"a\": 1\n}"},
          {"{a: 1}", "[1,]", "{", "[1 2]"}},
         {R"(true)", {"1"}, {"x"}}});
}

TEST(SchemaGrammar, ConstantsAndLists) {
  check({{R"({"enum": ["a", 1, null, [1,2]]})", {"\"a\"", "1", "null", "[1,2]"}, {"\"b\"", "2", "a"}},
         {R"({"const": {"k": "v"}})", {R"({"k":"v"})"}, {"{}"}},
         {R"({"type": "array", "items": {"type": "integer"}})",
          {"[]", "[1]", "[1, 2,3]", "[\n  1,\n  2\n]"},
          {"[1,]", "[\"a\"]", "[1 2]"}},
         {R"({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3})",
          {"[1,2]", "[1,2,3]"},
          {"[]", "[1]", "[1,2,3,4]"}},
         {R"({"type": "array", "maxItems": 0})", {"[]"}, {"[1]"}},
         {R"({"prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false})",
          {R"([1, "a"])"},
          {"[1]", R"([1,"a",2])"}},
         {R"({"prefixItems": [{"type": "integer"}], "items": {"type": "null"}})",
          {"[1]", "[1,null,null]"},
          {"[]", "[1,2]"}}});
}

TEST(SchemaGrammar, Objects) {
  check(
      {{R"({"type": "object", "properties": {"answer": {"type": "integer"}}, "required": ["answer"], "additionalProperties": false})",
        {R"({"answer": 4})", R"({"answer":4})", "{\n  \"answer\": 4\n}"},
        {"{}", R"({"answer": "4"})", R"({"answer": 4, "b": 1})", R"({"answer": 4,})"}},
       {R"({"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}}, "required": ["b"]})",
        {R"({"b":1})", R"({"a":1,"b":2})", R"({"b":1,"c":2})", R"({"a":1, "b":2, "c":3})"},
        {"{}", R"({"a":1})", R"({"b":1,"a":2})", R"({"c":1})", R"({,"b":1})"}},
       {R"({"type": "object"})", {"{}", R"({"x": [1]})"}, {"[]"}},
       {R"({"type": "object", "additionalProperties": {"type": "integer"}})",
        {"{}", R"({"x": 1, "y": 2})"},
        {R"({"x": "a"})"}},
       {R"({"type": "object", "properties": {"a": true}, "additionalProperties": true})",
        {R"({"a": 1, "z": 2})", R"({"z": 2})", "{}"},
        {R"({"a": 1 "z": 2})"}},
       {R"({"type": "object", "properties": {}, "additionalProperties": false})", {"{}", "{ }"}, {R"({"a": 1})"}},
       {R"({"type": "object", "required": ["k"]})", {R"({"k": null})"}, {"{}"}},
       {R"({"type": "object", "properties": {"a\"b": {"type": "null"}}})",
        {R"({"a\"b": null})"},
        {R"({"a"b": null})"}}});
}

TEST(SchemaGrammar, Combinations) {
  check(
      {{R"({"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}]})",
        {"12", "\"a\"", "\"\""},
        {"\"ab\"", "null"}},
       {R"({"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {"type": "null"}}, "required": ["b"]}]})",
        {R"({"a":1,"b":null})"},
        {R"({"a":1})"}},
       {R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})",
        {R"({"a":1})", R"({"b":1})", R"({"a":1,"b":2})"},
        {"{}"}},
       {R"({"type": "string", "nullable": true})", {"\"a\"", "null"}, {"1"}},
       {R"({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}})", {"1"}, {"\"a\""}},
       {R"({"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}}})",
        {"{}", R"({"kids": [{}, {"kids": []}]})"},
        {R"({"kids": [1]})"}}});
}

TEST(SchemaGrammar, StringsAndNumbersWithin) {
  check({{R"({"type": "string", "minLength": 1, "maxLength": 3})",
          {"\"a\"", "\"\\n\\u0041b\"", "\"\xF0\x9F\xA6\x99\""},
          {"\"\"", "\"abcd\""}},
         {R"({"type": "string", "pattern": "^[a-z_]+$"})", {"\"ab_c\""}, {"\"\"", "\"aB\"", "\"a b\""}},
         {R"({"type": "string", "pattern": "b+"})", {"\"b\"", "\"abbc\""}, {"\"ac\"", "\"\""}},
         {R"({"type": "string", "pattern": "^(foo|ba[rz])-\\d{2,3}$"})",
          {"\"foo-12\"", "\"baz-123\""},
          {"\"foo-1\"", "\"bay-12\"", "\"foo-1234\""}},
         {R"({"type": "string", "pattern": "^[^\"a]\\\\$"})", {"\"b\\\\\""}, {"\"a\\\\\"", "\"\\\"\\\\\"", "\"b\\\""}},
         {R"({"type": "string", "pattern": "^\\w+@\\w+\\.[a-z]{2,}$|^none$"})",
          {"\"me@here.org\"", "\"none\""},
          {"\"me@here\"", "\"nonee\""}},
         {R"({"type": "string", "format": "date"})", {"\"2026-11-29\""}, {"\"2026-13-29\"", "\"26-1-1\""}},
         {R"({"type": "string", "format": "date-time"})",
          {"\"2026-11-29T12:00:00Z\"", "\"2026-11-29T12:00:00.5+01:00\""},
          {"\"2026-11-29\""}},
         {R"({"type": "string", "format": "uuid"})", {"\"123e4567-e89b-12d3-a456-426614174000\""}, {"\"123\""}},
         {R"({"type": "string", "format": "uri"})", {"\"whatever\""}, {"1"}},
         {R"({"type": "integer", "minimum": 0})", {"0", "99"}, {"-1", "-0"}},
         {R"({"type": "integer", "minimum": 8, "maximum": 121})",
          {"8", "9", "10", "99", "100", "121"},
          {"7", "122", "1000", "08"}},
         {R"({"type": "integer", "minimum": -12, "exclusiveMaximum": 3})",
          {"-12", "-9", "-1", "0", "2"},
          {"-13", "3", "-0", "-20"}},
         {R"({"type": "integer", "maximum": -5})", {"-5", "-1000"}, {"-4", "0", "5"}}});
}

TEST(SchemaGrammar, IntegerRangesAreExact) {
  std::mt19937 random(3);
  for (int run = 0; run < 60; ++run) {
    const int a = static_cast<int>(random() % 2400) - 1200, b = static_cast<int>(random() % 2400) - 1200;
    const int low = std::min(a, b), high = std::max(a, b);
    GrammarMachine machine(schema_program({{"type", "integer"}, {"minimum", low}, {"maximum", high}}));
    for (int value = -1300; value <= 1300; ++value) {
      const int state = machine.after(machine.start(), std::to_string(value));
      const bool allowed = state != GrammarMachine::kDead && machine.accepts(state);
      ASSERT_EQ(allowed, value >= low && value <= high) << value << " in " << low << " to " << high;
    }
  }
}

TEST(SchemaGrammar, PatternsAgreeWithAnotherEngine) {
  const char* const patterns[] = {"^a*b?[c-e]{1,3}$", "x(y|zz)*$",  "^\\d+(\\.\\d+)?$", "^[^abc]+$",
                                  "^\\s*\\S\\s*$",    "(ab|ba){2}", "^$|^ab.$"};
  std::mt19937 random(4);
  for (const char* pattern : patterns) {
    const std::regex reference(pattern);
    const auto program = schema_program({{"type", "string"}, {"pattern", pattern}});
    for (int run = 0; run < 2000; ++run) {
      std::string text;
      const size_t length = random() % 6;
      for (size_t i = 0; i < length; ++i) text.push_back("abcdexyz. 019\n\\\""[random() % 16]);
      ASSERT_EQ(matches(program, Json(text).dump()), std::regex_search(text, reference))
          << pattern << " on " << Json(text);
    }
  }
}

TEST(SchemaGrammar, WhatCannotBeHadIsNamed) {
  struct Refused {
    const char* schema;
    std::vector<const char*> words;
  };
  for (const Refused& row :
       std::vector<Refused>{{R"j({"properties": {"x": {"type": "string", "pattern": "(?<=a)b(?!c)"}}})j",
                             {"x", "pattern", "look-around"}},
                            {R"({"$ref": "#"})", {"$ref"}},
                            {R"({"properties": {"a": {"$ref": "#/$defs/none"}}})", {"a", "$ref", "#/$defs/none"}},
                            {R"({"$ref": "http://else.where"})", {"$ref"}},
                            {R"({"type": "whole"})", {"type", "whole"}},
                            {R"({"type": 7})", {"type"}},
                            {R"("text")", {"schema"}},
                            {R"({"minLength": 4, "maxLength": 2})", {"maxLength"}},
                            {R"({"type": "string", "maxLength": -1})", {"maxLength"}},
                            {R"({"enum": []})", {"enum"}},
                            {R"({"items": {"pattern": "a("}})", {"pattern", "closed"}},
                            {R"({"pattern": "[z-a]"})", {"pattern", "order"}},
                            {R"({"type": "integer", "minimum": 3, "maximum": 2})", {"maximum"}}}) {
    try {
      schema_program(Json::parse(row.schema));
      ADD_FAILURE() << row.schema;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
      for (const char* word : row.words)
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }
}

TEST(SchemaGrammar, RandomTextsAreJsonOfTheSchema) {
  const auto program = schema_program(Json::parse(R"({"type": "object", "properties": {"n": {"type": "number"},
      "l": {"type": "array", "items": {"type": "string", "maxLength": 4}}, "o": {"type": "object"}}, "required": ["n", "l"]})"));
  std::mt19937 random(6);
  int found = 0;
  for (int run = 0; run < 300; ++run) {
    const std::string text = random_text_of(program, 60, random);
    if (text.empty()) continue;
    ++found;
    const Json value = Json::parse(text, nullptr, false);
    ASSERT_TRUE(value.is_object()) << text;
    ASSERT_TRUE(value.at("n").is_number() && value.at("l").is_array()) << text;
  }
  EXPECT_GT(found, 100);
}

TEST(SchemaGrammar, LargeSchemasStayQuickAndSmall) {
  Json tools = Json::object();
  for (int i = 0; i < 60; ++i) tools["p" + std::to_string(i)] = {{"type", "string"}, {"maxLength", 65'536}};
  const auto program = schema_program({{"type", "object"}, {"properties", tools}});
  EXPECT_LT(program->nodes.size(), 5'000u);
  GrammarMachine machine(program);
  int state = machine.after(machine.start(), "{\"p3\": \"");
  for (int i = 0; i < 65'536; ++i) state = machine.trim(machine.next(state, 'x'));
  EXPECT_NE(state, GrammarMachine::kDead);
  EXPECT_EQ(machine.next(state, 'x'), GrammarMachine::kDead);
  EXPECT_NE(machine.next(state, '"'), GrammarMachine::kDead);
}

TEST(Gbnf, Rules) {
  struct Texts {
    const char* grammar;
    std::vector<const char*> good, bad;
  };
  for (const Texts& row : std::vector<Texts>{
           {"root ::= [a-f]+", {"a", "fade"}, {"", "g", "aG"}},
           {"root ::= \"a\" (\"b\" | c)* \"d\"? # done\nc ::= \"cc\"\n", {"a", "abccbd", "ad"}, {"ac", "ddd"}},
           {"root ::= item{2,3}\nitem ::= [^x\\n] \".\"", {"a.b.", "a.\xC3\xA9.c."}, {"a.", "x.a.", "a.b.c.d."}},
           {"root ::=\n  \"yes\"\n  | \"no\"", {"yes", "no"}, {"maybe"}},
           {"root ::= \"\\x41\\u00e9\\\"\" .", {"A\xC3\xA9\"z"}, {"A\xC3\xA9\""}},
           {"root ::= \"(\" root \")\" | \"\"", {"", "(())"}, {"(", "())"}},
           {"root ::= ([0-9]{3})+ [a\\-z]", {"123-", "123456z"}, {"12a", "123b"}}}) {
    const auto program = gbnf_program(row.grammar);
    for (const char* text : row.good) EXPECT_TRUE(matches(program, text)) << row.grammar << " on " << text;
    for (const char* text : row.bad) EXPECT_FALSE(matches(program, text)) << row.grammar << " on " << text;
  }
}

TEST(Gbnf, FaultsAreNamedWithTheirPlace) {
  for (const char* grammar :
       {"", "x ::= \"a\"", "root ::= y", "root ::= \"a", "root ::= [a", "root = \"a\"", "root ::= (\"a\"",
        "root ::= \"a\"{3,1}", "root ::= root \"a\"", "root ::= a\na ::= b\nb ::= \"\" a", "root ::= \"\\q\"",
        "root ::= \"a\"\nroot ::= \"b\"", "root ::= [z-a]", "root ::= \"a\"{999999999}"})
    EXPECT_THROW(gbnf_program(grammar), Error) << grammar;
}

}  // namespace
}  // namespace luce::completion
