#include <gtest/gtest.h>

#include <cctype>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "base/error.hpp"
#include "support/golden_path.hpp"
#include "support/mutation_rounds.hpp"
#include "text/chat_template.hpp"
#include "text/golden_cases.hpp"
#include "text/jinja/template.hpp"
#include "text/tokenizer.hpp"
#include "text/vocabulary_files.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;
using Random = std::mt19937;

size_t below(Random& random, size_t count) { return count == 0 ? 0 : random() % count; }

const std::vector<std::string> kNames = {"Qwen3.5-4B",
                                         "Qwen-Qwen3-0.6B",
                                         "openai-gpt-oss-120b",
                                         "poolside-Laguna-XS.2",
                                         "GLM-4.7-Flash",
                                         "meta-llama-Llama-3.1-8B-Instruct",
                                         "mistralai-Mistral-Nemo-Instruct-2407",
                                         "NousResearch-Hermes-3-Llama-3.1-8B-tool_use"};

std::vector<std::string> pieces_of(const std::string& source) {
  std::vector<std::string> pieces;
  for (const char c : source) {
    const bool word = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    const bool continues = word && !pieces.empty() && std::isalnum(static_cast<unsigned char>(pieces.back().back()));
    if (continues) {
      pieces.back() += c;
    } else {
      pieces.emplace_back(1, c);
    }
  }
  return pieces;
}

const std::vector<std::string> kHostile = {
    "{{",          "}}",        "{%",        "%}",    "{#",       "#}",  "-%}",  "{%-",
    "'",           "\"",        "(",         ")",     "[",        "]",   "{",    "}",
    "|",           ".",         ":",         "*",     "**",       "~",   "loop", "range(99999)",
    "namespace()", "10**9",     "'a'*10**8", "|list", "|tojson",  "for", "if",   "endif",
    "endfor",      "recursive", "macro",     "\xFF",  "\xE2\x82", "\0x", "is",   "not",
    "in",          "caller()",  "[::-1]",    "-1"};

std::string mutated(Random& random, std::vector<std::string> pieces) {
  for (size_t count = 1 + below(random, 4); count > 0 && !pieces.empty(); --count) {
    const size_t at = below(random, pieces.size());
    const auto place = pieces.begin() + static_cast<ptrdiff_t>(at);
    switch (below(random, 6)) {
      case 0: pieces.erase(place); break;
      case 1: pieces.insert(place, kHostile[below(random, kHostile.size())]); break;
      case 2: *place = pieces[below(random, pieces.size())]; break;
      case 3: std::swap(*place, pieces[below(random, pieces.size())]); break;
      case 4: *place = kHostile[below(random, kHostile.size())]; break;
      default: pieces.resize(at + below(random, pieces.size() - at));
    }
  }
  std::string out;
  for (const std::string& piece : pieces) out += piece;
  return out;
}

jinja::Limits small_limits() {
  jinja::Limits limits;
  limits.steps = 300'000;
  limits.memory_bytes = 32u << 20;
  limits.string_bytes = 8u << 20;
  return limits;
}

TEST(Mutation, templates_render_or_fail_cleanly) {
  Random random(20261129);
  std::vector<std::vector<std::string>> sources;
  std::vector<Json> cases;
  for (const std::string& name : kNames) {
    const std::string base = support::golden_path("templates/" + name);
    sources.push_back(pieces_of(read_text(base + ".jinja")));
    cases.push_back(Json::parse(read_text(base + ".cases.json")));
  }
  size_t rendered = 0;
  const size_t count = support::mutation_rounds(5000);
  for (size_t round = 0; round < count; ++round) {
    const size_t which = below(random, sources.size());
    const std::string source = mutated(random, sources[which]);
    const Json& row = cases[which][below(random, cases[which].size())];
    std::vector<jinja::Input> inputs;
    for (const auto& [name, value] : row.items()) inputs.push_back({name, value});
    const std::clock_t begin = std::clock();
    try {
      const RenderedPrompt prompt = jinja::Template(source).render(inputs, {}, small_limits());
      for (const Span& span : prompt.plain_spans) ASSERT_LE(span.end, prompt.text.size());
      ++rendered;
    } catch (const Error& error) {
      ASSERT_TRUE(error.kind() == ErrorKind::invalid_file || error.kind() == ErrorKind::invalid_request)
          << error.what();
    }
    ASSERT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC) << source;
  }
  EXPECT_GT(rendered, count / 20);
  EXPECT_LT(rendered, count);
}

Json random_value(Random& random, int depth) {
  switch (below(random, depth > 0 ? 9 : 7)) {
    case 0: return nullptr;
    case 1: return below(random, 2) == 0;
    case 2: return static_cast<int64_t>(random()) - (1ll << 31);
    case 3: return 1e300 * static_cast<double>(random());
    case 4: return "";
    case 5: return "<|im_end|></think>{{ x }}";
    case 6: return std::string(1 + below(random, 3000), 'x');
    case 7: return Json::array({random_value(random, depth - 1), random_value(random, depth - 1)});
    default: return Json::object({{"type", "text"}, {"text", random_value(random, depth - 1)}});
  }
}

// Changes one place somewhere in the value.
void mutate(Random& random, Json& value) {
  if (value.is_structured() && !value.empty() && below(random, 6) != 0) {
    const size_t at = below(random, value.size());
    auto item = value.begin();
    std::advance(item, static_cast<ptrdiff_t>(at));
    if (below(random, 5) != 0) return mutate(random, *item);
    if (below(random, 2) == 0 && value.is_array()) {
      const Json copy = *item;
      value.push_back(copy);
    } else {
      value.erase(item);
    }
    return;
  }
  value = random_value(random, 3);
}

TEST(Mutation, chats_render_or_fail_cleanly) {
  Random random(7);
  const Tokenizer& tokenizer = golden_tokenizer("models/qwen35moe-nano-f32.gguf");
  std::vector<ChatTemplate> templates;
  std::vector<Json> cases;
  for (const std::string& name : kNames) {
    const std::string base = support::golden_path("templates/" + name);
    templates.emplace_back(read_text(base + ".jinja"));
    cases.push_back(Json::parse(read_text(base + ".cases.json")));
  }
  size_t rendered = 0;
  const size_t count = support::mutation_rounds(3000);
  for (size_t round = 0; round < count; ++round) {
    const size_t which = below(random, cases.size());
    const Json& row = cases[which][below(random, cases[which].size())];
    ChatInput input;
    input.messages = row["messages"];
    if (row.contains("tools")) input.tools = row["tools"];
    for (size_t changes = 1 + below(random, 3); changes > 0; --changes) mutate(random, input.messages);
    if (below(random, 4) == 0 && !input.tools.is_null()) mutate(random, input.tools);
    const std::clock_t begin = std::clock();
    try {
      const ChatPrompt prompt = templates[which].render(input);
      const std::vector<int32_t> ids = tokenizer.encode(prompt);
      ASSERT_FALSE(prompt.text.empty() != ids.empty() && prompt.text.empty());
      ++rendered;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::invalid_request) << error.what();
    }
    ASSERT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC) << input.messages;
  }
  EXPECT_GT(rendered, count / 10);
}

}  // namespace
}  // namespace luce::text
