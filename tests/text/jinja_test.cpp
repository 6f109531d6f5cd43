#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.hpp"
#include "support/golden_path.hpp"
#include "support/sanitizer.hpp"
#include "text/jinja/template.hpp"

namespace luce::text::jinja {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

std::tm noon() {
  std::tm now{};
  now.tm_year = 2026 - 1900;
  now.tm_mon = 10;
  now.tm_mday = 29;
  now.tm_hour = 12;
  now.tm_yday = 332;
  return now;
}

RenderedPrompt render(const std::string& source, const Json& variables = Json::object(), const Limits& limits = {}) {
  std::vector<Input> inputs;
  for (const auto& [name, value] : variables.items()) inputs.push_back({name, value});
  return Template(source).render(inputs, noon(), limits);
}

std::string failure(const std::string& source, const Json& variables = Json::object(), const Limits& limits = {}) {
  try {
    return "rendered: " + render(source, variables, limits).text.substr(0, 200);
  } catch (const Error& error) {
    return error.what();
  }
}

// Rows beside this file: templates with what Python's Jinja2 3.1 makes of them, set up as transformers does.
TEST(JinjaLanguage, every_row_is_as_in_python) {
  std::ifstream in(support::source_path("tests/text/jinja_language.jsonl"));
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  const Json variables = Json::parse(line)["vars"];
  size_t rows = 0;
  for (; std::getline(in, line); ++rows) {
    const Json row = Json::parse(line);
    const auto source = row["template"].get<std::string>();
    if (row.contains("expected")) {
      try {
        EXPECT_EQ(render(source, variables).text, row["expected"].get<std::string>()) << source;
      } catch (const Error& error) {
        ADD_FAILURE() << source << ": " << error.what();
      }
    } else {
      const std::string found = failure(source, variables);
      EXPECT_THAT(found, testing::StartsWith("chat template, line ")) << source;
      EXPECT_THAT(found, HasSubstr(row["error"].get<std::string>())) << source;
    }
  }
  EXPECT_GE(rows, 380u);
}

struct FailureRow {
  const char* source;
  const char* message;
};

TEST(JinjaErrors, name_the_place_and_the_reason) {
  const std::vector<FailureRow> rows = {
      {"a\nb {{ foo.bar }}", "line 2, column 10: 'foo' is undefined"},
      {"\n\n{{ raise_exception('no ' ~ 'way') }}", "line 3, column 19: no way"},
      {"{{ 'a' + 1 }}", "line 1, column 8: can only concatenate str (not \"int\") to str"},
      {"{% if x %}\n{% endfor %}",
       "line 2, column 4: expected 'elif', 'else' or 'endif' for the 'if' of line 1, column 4"},
      {"{% for x in y %}", "column 17: expected 'else' or 'endfor'"},
      {"{% endif %}", "nothing is open here"},
      {"{{ a", "line 1, column 1: this tag is never closed with '}}'"},
      {"x {# a", "column 3: this comment is never closed"},
      {"{{ 'a }}", "never closed with its quote"},
      {"{{ (1] }}", "unexpected ']', expected ')'"},
      {"{{ 1 ? 2 }}", "unexpected character '?'"},
      {"{% include 'x' %}", "a chat template is a single file"},
      {"{% import 'x' as y %}", "a chat template is a single file"},
      {"{% extends 'x' %}", "a chat template is a single file"},
      {"{% frobnicate %}", "there is no tag 'frobnicate'"},
      {"{{ 1|frobnicate }}", "No filter named 'frobnicate'."},
      {"{{ 1 is frobnicate }}", "No test named 'frobnicate'."},
      {"{% break %}", "'break' outside of a loop"},
      {"{% for x in [1] %}{% macro m() %}{% continue %}{% endmacro %}{% endfor %}", "'continue' outside of a loop"},
      {"{{ 99999999999999999999999999999999999999999 }}", "this number is too large"},
      {"{{ '\\xg' }}", "broken escape"},
  };
  for (const FailureRow& row : rows) EXPECT_THAT(failure(row.source), HasSubstr(row.message)) << row.source;
}

TEST(JinjaErrors, are_faults_of_the_file_or_of_the_request) {
  try {
    const Template broken("{{");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_file);
  }
  try {
    render("{{ foo.bar }}");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
  }
}

Limits test_limits() {
  Limits limits;
  if (support::kSanitized) {
    limits.steps = 500'000;
    limits.memory_bytes = 16u << 20;
    limits.string_bytes = 2u << 20;
  }
  return limits;
}

// Templates that would run long or fill the memory; each must fail within two seconds.
TEST(JinjaLimits, no_template_hangs_or_fills_the_memory) {
  const std::vector<FailureRow> rows = {
      {"{{ 'a' * 10**9 }}", "a text of more than"},
      {"{{ [0] * 10**12 }}", "of memory"},
      {"{{ range(10**9) }}", "Range too big"},
      {"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "more than"},
      {"{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}", "more than"},
      {"{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
       "a text of more than"},
      {"{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}", "more than"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nests more than 800 evaluations"},
      {"{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}", "nests more than"},
      {"{{ 2 ** 10 ** 20 }}", "too large"},
      {"{{ 10 ** 30 * 10 ** 30 }}", "too large"},
      {"{{ 'x'|indent(10**9, true) }}", "a text of more than"},
      {"{{ 'x'|center(10**15) }}", "a text of more than"},
      {"{{ 'x'.ljust(10**15) }}", "a text of more than"},
      {"{{ 'x'.zfill(10**12) }}", "a text of more than"},
      {"{{ '%999999999d' % 1 }}", "a text of more than"},
      {"{{ '%*d' % (10**20, 1) }}", "width too big"},
      {"{{ '{:999999999}'.format(1) }}", "a text of more than"},
      {"{{ '{:.999999999f}'.format(1) }}", "precision too big"},
      {"{{ [1]|batch(10**12, 'x')|list }}", "more than"},
      {"{{ [1]|slice(10**12)|list }}", "more than"},
      {"{{ [1]|tojson(indent=10**12) }}", "a text of more than"},
      {"{{ '\\t'.expandtabs(10**15) }}", "a text of more than"},
      {"{{ ('a' * 10**7).replace('a', 'b' * 1000) }}", "more than"},
      {"{{ ('a,' * 10**7).split(',')|length }}", "more than"},
      {"{% for c in 'a' * 10**7 %}{% endfor %}", "more than"},
      {"{% set a = 'a' * 10**6 %}{% for i in range(99999) %}{% if (a ~ 'b') in a %}{% endif %}{% endfor %}",
       "more than"},
      {"{% set l = range(99999)|list %}{% for i in range(99999) %}{% if -1 in l %}{% endif %}{% endfor %}",
       "more than"},
      {"{% set ns = namespace() %}{% set ns.a = [] %}{% for i in range(300) %}{% set ns.a = [ns.a] %}{% endfor %}{{ "
       "ns.a }}",
       "nested more than 200 deep"},
  };
  for (const FailureRow& row : rows) {
    const std::clock_t begin = std::clock();
    EXPECT_THAT(failure(row.source, {}, test_limits()), HasSubstr(row.message)) << row.source;
    EXPECT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC) << row.source;
  }
}

TEST(JinjaLimits, circles_and_deep_nests_are_freed) {
  EXPECT_EQ(render("{% set ns = namespace() %}{% set ns.me = ns %}{{ ns.me.me.me is defined }}").text, "True");
  EXPECT_EQ(render("{% set l = [] %}{% set _ = l.append(l) %}{{ l|length }}").text, "1");
  EXPECT_THAT(failure("{% set l = [] %}{% set _ = l.append(l) %}{{ l }}"), HasSubstr("nested more than"));
  EXPECT_THAT(failure("{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}"), HasSubstr("nested more than"));
  const std::string deep =
      "{% set ns = namespace(a=[]) %}{% for i in range(50000) %}{% set ns.a = [ns.a] %}{% endfor %}{{ ns.a|length }}";
  EXPECT_EQ(render(deep).text, "1");
  const std::string macros =
      "{% set ns = namespace() %}{% macro first() %}{% endmacro %}{% set ns.m = first %}{% for i in range(20000) %}"
      "{% macro next(f) %}{% set kept = f %}{% macro inner() %}{{ kept }}{% endmacro %}{% set ns.m = inner %}{% "
      "endmacro %}"
      "{{ next(ns.m) }}{% endfor %}done";
  EXPECT_EQ(render(macros).text, "done");
}

TEST(JinjaLimits, deep_sources_are_refused_not_fatal) {
  const auto repeated = [](const std::string& text, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  EXPECT_THAT(failure("{{ " + repeated("(", 100'000) + repeated(")", 100'000) + " }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure("{{ " + repeated("[", 100'000) + repeated("]", 100'000) + " }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure("{{ " + repeated("not ", 100'000) + "1 }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure("{{ " + repeated("-", 100'000) + "1 }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure("{{ a" + repeated(".b", 100'000) + " }}"), HasSubstr("too long"));
  EXPECT_THAT(failure("{{ a" + repeated("|e", 100'000) + " }}"), HasSubstr("too long"));
  EXPECT_THAT(failure("{{ 1" + repeated(" if 1 else 1", 100'000) + " }}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure(repeated("{% if 1 %}", 100'000)), HasSubstr("nested too deeply"));
  EXPECT_THAT(failure("{% set " + repeated("(", 100'000) + "a" + repeated(")", 100'000) + " = 1 %}"),
              HasSubstr("nested too deeply"));
  EXPECT_EQ(render("{{ 0" + repeated(" + 1", 50'000) + " }}").text, "50000");
  EXPECT_EQ(render("{{ ''" + repeated(" ~ 'a'", 50'000) + " }}").text, std::string(50'000, 'a'));
  EXPECT_EQ(render("{% if 0 %}" + repeated("{% elif 0 %}", 50'000) + "{% else %}x{% endif %}").text, "x");
}

TEST(JinjaLimits, deep_input_is_refused) {
  Json deep = Json::array();
  for (int i = 0; i < 300; ++i) deep = Json::array({deep});
  EXPECT_THAT(failure("{{ x }}", {{"x", deep}}), HasSubstr("nested more than 200 deep"));
}

TEST(JinjaLimits, small_budgets_hold) {
  Limits limits;
  limits.steps = 100;
  EXPECT_THAT(failure("{% for i in range(1000) %}{% endfor %}", {}, limits), HasSubstr("more than 100 steps"));
  limits = {};
  limits.memory_bytes = 1 << 20;
  EXPECT_THAT(failure("{{ 'a' * 3000000 }}", {}, limits), HasSubstr("more than 1 MiB"));
  EXPECT_EQ(render("{% for i in range(100) %}{% set x = 'a' * 500000 %}{% endfor %}ok", {}, limits).text, "ok");
}

// The text with what came from the client in brackets.
std::string marked(const RenderedPrompt& prompt) {
  std::string out;
  size_t at = 0;
  for (const Span& span : prompt.plain_spans) {
    out += prompt.text.substr(at, span.begin - at) + "[" + prompt.text.substr(span.begin, span.end - span.begin) + "]";
    at = span.end;
  }
  return out + prompt.text.substr(at);
}

struct MarkRow {
  const char* source;
  const char* expected;
};

TEST(JinjaOrigins, follow_text_through_the_language) {
  const Json variables = {{"u", "aXb c"}, {"l", {"p", "q"}}, {"d", {{"k", "v"}}}, {"n", 5}, {"w", " \n x \n"}};
  const std::vector<MarkRow> rows = {
      {"<{{ u }}>", "<[aXb c]>"},
      {"{{ '<' + u + '>' }}", "<[aXb c]>"},
      {"{{ '<' ~ u ~ n }}", "<[aXb c]5"},
      {"{{ u|upper }}{{ u.lower() }}", "[AXB Caxb c]"},
      {"{{ w|trim }}|{{ w.strip() }}", "[x]|[x]"},
      {"{{ u[1:3] }}{{ u[::-1] }}", "[Xbc bXa]"},
      {"{{ u.replace('X', '-') }}", "[a]-[b c]"},
      {"{{ 'a-b'.replace('-', u) }}", "a[aXb c]b"},
      {"{{ u.split('X')|join('+') }}", "[a]+[b c]"},
      {"{{ l|join(',') }}", "[p],[q]"},
      {"{{ ','.join(l) }}", "[p],[q]"},
      {"{{ d|tojson }}", "{\"[k]\": \"[v]\"}"},
      {"{{ d }}", "{'[k]': '[v]'}"},
      {"{% for k, v in d.items() %}{{ k }}={{ v }}{% endfor %}", "[k]=[v]"},
      {"{{ '%s-%s' % (u, 1) }}", "[aXb c]-1"},
      {"{{ u % () }}", "[aXb c]"},
      {"{{ '{}!{:>3}'.format(u, l[0]) }}", "[aXb c]!  [p]"},
      {"{% set x %}a{{ u }}b{% endset %}{{ x }}", "a[aXb c]b"},
      {"{% macro m(t) %}<{{ t }}>{% endmacro %}{{ m(u)|upper }}", "<[AXB C]>"},
      {"{% filter upper %}a{{ u }}{% endfilter %}", "A[AXB C]"},
      {"{{ u|e }}{{ '<'|e }}", "[aXb c]&lt;"},
      {"{{ u * 2 }}", "[aXb caXb c]"},
      {"{{ u|list|join('') }}", "[aXb c]"},
      {"{{ u|indent(2, true) }}", "  [aXb c]"},
      {"{{ u|title }}{{ u|truncate(3, true, '~', 0) }}", "[Axb CaX]~"},
      {"{{ u|center(9, ) }}", "  [aXb c]  "},
      {"{{ u|default('x') }}{{ zz|default('x') }}", "[aXb c]x"},
      {"{% set ns = namespace(t='') %}{% for x in l %}{% set ns.t = ns.t ~ x ~ ';' %}{% endfor %}{{ ns.t }}",
       "[p];[q];"},
      {"{{ {'x': u}.x }}{{ [u][0] }}{{ (u,)[0][:1] }}", "[aXb caXb ca]"},
      {"{{ u|reverse }}{{ u.partition('X')[0] }}{{ u|wordwrap(3) }}", "[c bXaaaXb]\n[c]"},
      {"{{ strftime_now('%Y') }}{{ n }}{{ l|length }}", "202652"},
  };
  for (const MarkRow& row : rows) EXPECT_EQ(marked(render(row.source, variables)), row.expected) << row.source;
}

TEST(JinjaThreads, render_one_template_at_once) {
  const Template shared(
      "{% macro m(x) %}{{ x ~ '!' }}{% endmacro %}{% for i in range(50) %}{{ m(i) }}{{ 'lit' }}{% endfor %}{{ "
      "v.upper() }}");
  const Json value = "text";
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) result = shared.render(std::vector<Input>{{"v", value}}, noon()).text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) {
    EXPECT_EQ(result, results[0]);
    EXPECT_THAT(result, testing::EndsWith("49!litTEXT"));
  }
}

}  // namespace
}  // namespace luce::text::jinja
