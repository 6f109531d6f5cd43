// Constrained replies with a real vocabulary and template.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "completion/grammar/call_grammar.hpp"
#include "completion/grammar/grammar_constraint.hpp"
#include "completion/grammar/output_grammar.hpp"
#include "completion/grammar_fixture.hpp"
#include "completion/reply_fixture.hpp"
#include "completion/thinking_budget.hpp"
#include "gguf/file.hpp"
#include "text/tokenizer.hpp"

namespace luce::completion {
namespace {

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer instance(
      gguf::File::open(support::golden_path("tokenizers/vocab-qwen35.gguf")).metadata());
  return instance;
}

std::shared_ptr<const TokenTable> token_table() {
  static const auto table = std::make_shared<const TokenTable>(
      tokenizer().vocabulary(), token_ids(format_of("Qwen3.5-4B").markup_tokens, tokenizer().vocabulary()));
  return table;
}

int32_t token(const std::string& text) { return tokenizer().vocabulary().find(text).value(); }
std::vector<int32_t> tokens(const std::string& text) { return tokenizer().encode(text, text::Special::parse); }

ReplyPlan chat_plan(const std::string& template_name = "Qwen3.5-4B") {
  ReplyPlan plan;
  plan.format = std::make_shared<const ReplyFormat>(format_of(template_name));
  plan.chat = true;
  return plan;
}

TEST(Constraint, JsonSchemaOnlyAfterThinking) {
  for (const Json& row : read_cases("reasoning")) {
    if (row["id"] != "json-schema-only-after-thinking") continue;
    ReplyPlan plan = chat_plan();
    plan.starts_in_reasoning = true;
    const Json& schema = row["given"]["request"]["response_format"]["json_schema"]["schema"];
    GrammarConstraint constraint(output_grammar(plan, {OutputFormat::json_schema, schema, {}}), token_table(),
                                 tokenizer().vocabulary().end_tokens());
    const std::string output = row["given"]["model_output"];
    const size_t answer = output.find("{\"answer\"");
    for (const int32_t each : tokens(output.substr(0, answer))) {
      EXPECT_TRUE(constraint.allows(each)) << tokenizer().vocabulary().text(each);
      EXPECT_FALSE(constraint.allows(token("<|im_end|>")));
      constraint.accept(each);
    }
    EXPECT_FALSE(constraint.allows(token("The")));
    EXPECT_TRUE(constraint.allows(token("{")));
    for (const int32_t each : tokens(output.substr(answer))) {
      EXPECT_TRUE(constraint.allows(each)) << tokenizer().vocabulary().text(each);
      constraint.accept(each);
    }
    std::vector<float> logits(static_cast<size_t>(tokenizer().vocabulary().size()), 0.0f);
    constraint.mask(logits);
    for (int32_t each = 0; each < tokenizer().vocabulary().size(); ++each) {
      if (std::isinf(logits[each])) continue;
      const std::string bytes = tokenizer().vocabulary().bytes(each);
      EXPECT_TRUE(tokenizer().vocabulary().is_end(each) || trimmed_length(bytes) == 0) << bytes;
    }
    EXPECT_TRUE(constraint.allows(token("<|im_end|>")));
  }
}

TEST(Constraint, MaskAndAllowsAgreeEverywhere) {
  const auto program = schema_program(Json::parse(
      R"({"type":"object","properties":{"name":{"type":"string"},"n":{"type":"integer","minimum":10,"maximum":20}},"required":["name","n"]})"));
  GrammarConstraint constraint(program, token_table(), tokenizer().vocabulary().end_tokens());
  for (const int32_t next : tokens("{\"name\": \"caf\xC3\xA9 \\n x\", \"n\": 12}")) {
    std::vector<float> logits(static_cast<size_t>(tokenizer().vocabulary().size()), 0.0f);
    constraint.mask(logits);
    for (int32_t each = 0; each < tokenizer().vocabulary().size(); each += 7)
      ASSERT_EQ(!std::isinf(logits[each]), constraint.allows(each)) << tokenizer().vocabulary().bytes(each);
    ASSERT_FALSE(std::isinf(logits[next])) << tokenizer().vocabulary().bytes(next);
    constraint.accept(next);
  }
}

TEST(Constraint, ControlTokensAreNoText) {
  GrammarConstraint constraint(schema_program({{"type", "string"}}), token_table(),
                               tokenizer().vocabulary().end_tokens());
  constraint.accept(token("\""));
  EXPECT_TRUE(constraint.allows(token("The")));
  EXPECT_FALSE(constraint.allows(token("<|im_start|>")));
  EXPECT_FALSE(constraint.allows(token("<|im_end|>")));
}

// A forced call in every model's form is read as that call.
TEST(Constraint, ForcedCallsAreReadBack) {
  const Json tools = Json::parse(R"([
    {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}},
    {"type": "function", "function": {"name": "set", "parameters": {"type": "object", "required": ["city", "days"], "properties": {
      "city": {"type": "string"}, "days": {"type": "integer"}, "unit": {"enum": ["c", "f"]}, "on": {"type": "boolean"},
      "list": {"type": "array", "items": {"type": "integer"}, "maxItems": 3}}}}}])");
  std::mt19937 random(2);
  for (const char* name : {"Qwen3.5-4B", "Qwen3-Coder", "Qwen-Qwen3-0.6B", "GLM-4.7-Flash", "poolside-Laguna-XS.2",
                           "meta-llama-Llama-3.1-8B-Instruct", "mistralai-Mistral-Nemo-Instruct-2407",
                           "deepseek-ai-DeepSeek-V3.1", "openai-gpt-oss-120b"}) {
    ReplyPlan plan = chat_plan(name);
    plan.tools = ToolSet(tools);
    int read = 0;
    for (const char* function : {"ping", "set"}) {
      plan.tool_choice = {ToolMode::named, function};
      const auto program = output_grammar(plan, {});
      for (int run = 0; run < 40; ++run) {
        const std::string text = random_text_of(program, 8, random);
        if (text.empty()) continue;
        ++read;
        const ReadReply reply = read_reply({.template_name = name, .tools = tools, .one_call = true}, {text});
        ASSERT_EQ(reply.calls.size(), 1u) << name << ": " << text;
        EXPECT_EQ(reply.calls[0].name, function) << text;
        const Json arguments = Json::parse(reply.calls[0].arguments, nullptr, false);
        ASSERT_TRUE(arguments.is_object()) << text;
        EXPECT_EQ(arguments.contains("days"), std::string(function) == "set") << text;
        EXPECT_EQ(reply.content, "") << text;
        EXPECT_TRUE(!arguments.contains("days") || arguments["days"].is_number_integer()) << text;
      }
    }
    EXPECT_GE(read, 20) << name;
  }
}

TEST(Constraint, SchemasThatCannotBeHadNameTheFunction) {
  const Json odd =
      Json::parse(R"j([{"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}},
    {"type": "function", "function": {"name": "odd", "parameters": {"properties": {"x": {"type": "string", "pattern": "(?<=a)b(?!c)"}}}}},
    {"type": "function", "function": {"name": "loop", "parameters": {"$ref": "#"}}},
    {"type": "function", "function": {"name": "lost", "parameters": {"properties": {"a": {"$ref": "#/$defs/none"}}}}}])j");
  ReplyPlan plan = chat_plan("Qwen-Qwen3-0.6B");
  plan.tools = ToolSet(odd);
  plan.tool_choice = {ToolMode::named, "ping"};
  EXPECT_NE(output_grammar(plan, {}), nullptr);
  plan.tool_choice = {ToolMode::required, {}};
  EXPECT_NE(output_grammar(plan, {}), nullptr);
  const std::pair<const char*, std::vector<const char*>> refused[] = {
      {"odd", {"odd", "x", "pattern"}}, {"loop", {"loop", "$ref"}}, {"lost", {"lost", "$ref"}}};
  for (const auto& [name, words] : refused) {
    plan.tool_choice = {ToolMode::named, name};
    try {
      output_grammar(plan, {});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.param(), "tools");
      for (const char* word : words) EXPECT_THAT(error.what(), ::testing::HasSubstr(word));
    }
  }
}

TEST(Constraint, ReasoningMayComeFirstWhereTheModelOpensIt) {
  ReplyPlan plan = chat_plan("Qwen-Qwen3-0.6B");
  const OutputConstraint json{OutputFormat::json_object, {}, {}};
  EXPECT_FALSE(matches(output_grammar(plan, json), "<think>\nHm.\n</think>\n\n{}"));
  EXPECT_TRUE(matches(output_grammar(plan, json), "{}"));
  plan.may_reason = true;
  EXPECT_TRUE(matches(output_grammar(plan, json), "<think>\nHm {.\n</think>\n\n{}"));
  EXPECT_TRUE(matches(output_grammar(plan, json), "{}"));
  plan.starts_in_reasoning = true;
  EXPECT_TRUE(matches(output_grammar(plan, json), "Hm.</think>{}"));
  EXPECT_FALSE(matches(output_grammar(plan, json), "{}"));
}

ThinkingBudget::Tags think_tags() { return {"<think>", "</think>", tokens("</think>")}; }

void force_all(ThinkingBudget& budget, const std::string& text) {
  for (const int32_t each : tokens(text)) {
    ASSERT_TRUE(budget.forced());
    EXPECT_EQ(*budget.forced(), each);
    budget.accept(each);
  }
}

TEST(Budget, ClosesTheReasoningAtItsEnd) {
  ThinkingBudget budget(think_tags(), 3, true, token_table(), nullptr);
  for (const int32_t each : tokens("one two three")) {
    EXPECT_FALSE(budget.forced());
    budget.accept(each);
  }
  force_all(budget, "</think>");
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(budget.forced());
    budget.accept(token("The"));
  }
}

TEST(Budget, NothingIsForcedAfterTheModelClosedIt) {
  ThinkingBudget budget(think_tags(), 9, true, token_table(), nullptr);
  for (const int32_t each : tokens("one</think>two three four five six seven eight nine")) {
    EXPECT_FALSE(budget.forced());
    budget.accept(each);
  }
}

TEST(Budget, ZeroClosesAtOnceAndAnAnswerIsNoReasoning) {
  EXPECT_TRUE(ThinkingBudget(think_tags(), 0, true, token_table(), nullptr).forced());
  ThinkingBudget answer(think_tags(), 0, false, token_table(), nullptr);
  for (const int32_t each : tokens("An answer <think> that mentions it")) {
    EXPECT_FALSE(answer.forced());
    answer.accept(each);
  }
  ThinkingBudget opened(think_tags(), 1, false, token_table(), nullptr);
  for (const int32_t each : tokens("<think>")) opened.accept(each);
  EXPECT_FALSE(opened.forced());
  opened.accept(token("The"));
  EXPECT_TRUE(opened.forced());
}

// In the harmony format reasoning is a message, and the answer is begun for the model.
TEST(Budget, ClosesAMessageOfReasoning) {
  const std::string closing = "<|end|><|start|>assistant<|channel|>final<|message|>";
  ThinkingBudget budget({"<|channel|>analysis<|message|>", "<|end|>", tokens(closing)}, 2, false, token_table(),
                        nullptr);
  for (const int32_t each : tokens("<|channel|>analysis<|message|>")) {
    EXPECT_FALSE(budget.forced());
    budget.accept(each);
  }
  for (int i = 0; i < 2 && !budget.forced(); ++i) budget.accept(token("The"));
  force_all(budget, closing);
  EXPECT_FALSE(budget.forced());
}

TEST(Budget, HoldsWithAGrammarToo) {
  ReplyPlan plan = chat_plan();
  plan.starts_in_reasoning = true;
  auto grammar = std::make_unique<GrammarConstraint>(output_grammar(plan, {OutputFormat::json_object, {}, {}}),
                                                     token_table(), tokenizer().vocabulary().end_tokens());
  ThinkingBudget budget(think_tags(), 1, true, token_table(), std::move(grammar));
  budget.accept(token("The"));
  force_all(budget, "</think>");
  EXPECT_FALSE(budget.allows(token("The")));
  EXPECT_TRUE(budget.allows(token("{")));
}

}  // namespace
}  // namespace luce::completion
