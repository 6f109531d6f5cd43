// Whatever is given as grammar or schema: an error of the client or a grammar, soon and in little memory; and what a
// schema's grammar writes is JSON.
#include <gtest/gtest.h>

#include <ctime>

#include "base/memory_limit.hpp"
#include "completion/grammar_fixture.hpp"
#include "completion/schema_validator.hpp"
#include "support/mutation_rounds.hpp"

namespace luce::completion {
namespace {

const char* const kSchemas[] = {
    R"({"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]+(b|c)*$"},"b":{"anyOf":[{"$ref":"#/$defs/x"},{"enum":[1,"y"]}]}},"required":["a"],"$defs":{"x":{"type":"array","items":{"$ref":"#"}}}})",
    R"({"type":"number","minimum":-1.5,"exclusiveMaximum":1e3,"multipleOf":0.25})",
    R"({"oneOf":[{"properties":{"k":{"const":"a"}},"required":["k"]},{"type":"array","items":{"enum":["p","q"]},"uniqueItems":true,"minItems":1,"maxItems":3},{"type":"integer","minimum":3,"nullable":true}]})",
    R"({"allOf":[{"$ref":"#/$defs/b","minProperties":1},{"properties":{"n":{"type":"integer","maximum":40}},"additionalProperties":{"type":"string","maxLength":4}}],"$defs":{"b":{"type":"object","properties":{"n":{"type":"number","minimum":2}},"propertyNames":{"maxLength":6}}}})",
    R"({"type":"object","patternProperties":{"^x_[a-z]{1,3}$":{"type":["null","boolean"]}},"maxProperties":3,"dependentRequired":{"x_a":["x_b"]},"dependentSchemas":{"x_c":{"required":["x_d"]}}})",
    R"({"type":"array","prefixItems":[{"format":"date"},{"type":"string","minLength":1,"maxLength":3,"pattern":"^[A-Z]+$"}],"items":false,"contains":true,"minContains":0})"};

const char* const kPieces[] = {"\"type\":\"integer\",",
                               "\"not\":{},",
                               "\"$ref\":\"#\",",
                               "\"enum\":[],",
                               "1e400",
                               "-1",
                               "null",
                               "true",
                               "[]",
                               "{}",
                               "\"allOf\":[{}],",
                               "\"minItems\":99999999,",
                               "\"^(a|b){9}$\"",
                               "\"properties\":7,",
                               "\"required\":[\"z\"],",
                               "0.0001",
                               "\"additionalProperties\":false,"};

std::string mutated(std::string text, std::mt19937& random) {
  for (size_t i = random() % 4; i > 0 && !text.empty(); --i) {
    const size_t at = random() % text.size();
    static constexpr std::string_view kChanges = "ab|()[]{}\"\\*+?^$1, :#~";
    switch (random() % 5) {
      case 0: text[at] = kChanges[random() % kChanges.size()]; break;
      case 1: text.erase(at, 1 + random() % 12); break;
      case 2: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
      default: {
        // A piece where a value or a member may stand.
        const size_t place = text.find_first_of("{:,[", at);
        if (place != std::string::npos) text.insert(place + 1, kPieces[random() % std::size(kPieces)]);
      }
    }
  }
  return text;
}

struct Outcome {
  size_t built = 0;
  size_t written = 0;
};

// Builds and follows; what is refused must be the client's fault.
template <typename Build>
void attempt(Build build, std::mt19937& random, Outcome& outcome, std::string& text) {
  try {
    const std::shared_ptr<const GrammarProgram> program = build();
    if (program == nullptr) return;
    ++outcome.built;
    text = random_text_of(program, 20, random);
    outcome.written += text.empty() ? 0 : 1;
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::invalid_request) << error.what();
  }
}

TEST(GrammarMutation, Schemas) {
  std::mt19937 random(8);
  Outcome outcome;
  const size_t rounds = support::mutation_rounds(4000);
  const int64_t before = base::resident_bytes();
  for (size_t round = 0; round < rounds; ++round) {
    const std::string source = mutated(kSchemas[round % std::size(kSchemas)], random);
    const Json schema = Json::parse(source, nullptr, false);
    if (schema.is_discarded()) continue;
    std::string text;
    const std::clock_t begin = std::clock();
    attempt([&] { return schema_program(schema); }, random, outcome, text);
    ASSERT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC) << source;
    ASSERT_TRUE(text.empty() || Json::accept(text)) << source << ": " << text;
  }
  EXPECT_GT(outcome.built, rounds / 10);
  EXPECT_GT(outcome.written, rounds / 20);
  EXPECT_LT(base::resident_bytes() - before, support::kMostMutationBytes);
}

// Each letter may begin another level: what is open grows with the text.
TEST(GrammarMutation, AGrammarThatIsTooAmbiguousFailsSoon) {
  const auto program = gbnf_program("root ::= item (\",\" item)* | \"x\"{2,5}\nitem ::= [a-z]+ root \")\"");
  GrammarMachine machine(program);
  const std::clock_t begin = std::clock();
  int state = machine.start();
  const auto try_all = [&] {
    for (int token = 0; token < 2000; ++token) {
      int next = GrammarMachine::kDead;
      for (int byte = 0; byte < 256; ++byte) next = std::max(next, machine.next(state, static_cast<uint8_t>(byte)));
      state = machine.trim(machine.next(state, 'a'));
      if (std::clock() - begin > CLOCKS_PER_SEC / 2) return;
    }
  };
  EXPECT_THROW(
      {
        try_all();
        for (int i = 0; i < 100'000; ++i) state = machine.next(state, 'a');
      },
      Error);
}

TEST(GrammarMutation, Gbnf) {
  std::mt19937 random(9);
  Outcome outcome;
  const std::string gbnf = "root ::= item (\",\" item)* | \"x\"{2,5}\nitem ::= [a-z]+ | \"(\" root \")\" # note\n";
  const size_t rounds = support::mutation_rounds(2000);
  for (size_t round = 0; round < rounds; ++round) {
    const std::string source = mutated(gbnf, random);
    std::string text;
    const std::clock_t begin = std::clock();
    attempt([&] { return gbnf_program(source); }, random, outcome, text);
    ASSERT_LT(std::clock() - begin, 2 * CLOCKS_PER_SEC) << source;
  }
  EXPECT_GT(outcome.built, rounds / 10);
}

}  // namespace
}  // namespace luce::completion
