#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/golden_path.hpp"
#include "text/chat_template.hpp"
#include "text/golden_cases.hpp"
#include "text/jinja/template.hpp"
#include "text/tokenizer.hpp"
#include "text/vocabulary_files.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

const Json& case_of(const char* id) { return golden_cases("template").at(id); }

ChatTemplate template_of(const Json& given) {
  return ChatTemplate(read_text(case_path(given.at("template_file"))), {"<s>", "</s>", "", ""});
}

// A body of the chat or messages API as input of a template.
ChatInput input_of(const Json& request) {
  ChatInput input;
  input.messages = request.value("messages", Json());
  if (request.contains("system")) {
    Json system = Json::object({{"role", "system"}, {"content", request["system"]}});
    input.messages.insert(input.messages.begin(), system);
  }
  if (request.contains("tools")) input.tools = request["tools"];
  if (request.contains("chat_template_kwargs")) input.template_kwargs = request["chat_template_kwargs"];
  return input;
}

std::string prompt_of(const ChatTemplate& chat, const Json& request) { return chat.render(input_of(request)).text; }

// Applies the checks of a case that are about the prompt of a request.
void expect_prompt(const Json& test, const std::string& path, const std::string& prompt) {
  for (const Json& check : test.at("expect")) {
    if (!check.is_object() || check.value("path", "") != path) continue;
    if (check.contains("equals")) {
      EXPECT_EQ(prompt, check["equals"].get<std::string>());
    } else {
      EXPECT_THAT(prompt, HasSubstr(check.at("contains").get<std::string>()));
    }
  }
}

class OneRequest : public testing::TestWithParam<const char*> {};

TEST_P(OneRequest, renders_as_expected) {
  const Json& test = case_of(GetParam());
  const Json& given = test.at("given");
  expect_prompt(test, "prompt", prompt_of(template_of(given), given.at("request")));
}

INSTANTIATE_TEST_SUITE_P(cases, OneRequest,
                         testing::Values("late-system-becomes-reminder", "late-developer-parts", "two-leading-systems",
                                         "messages-api-system-after-first-user", "developer-role-first",
                                         "assistant-null-content-with-tool-call", "empty-tool-calls-array",
                                         "content-parts-every-role", "content-parts-on-string-only-template",
                                         "trailing-empty-assistant", "prefill-closed-think",
                                         "reasoning-kept-inside-tool-loop", "history-argument-types-rendered",
                                         "history-parallel-calls-and-results"),
                         [](const auto& row) {
                           std::string name = row.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

TEST(TemplateCases, late_system_keeps_prefix) {
  const Json& test = case_of("late-system-keeps-prefix");
  const ChatTemplate chat = template_of(test["given"]);
  ChatInput first = input_of(test["given"]["turn_1"]);
  ChatInput second = input_of(test["given"]["turn_2"]);
  first.add_generation_prompt = second.add_generation_prompt = false;
  const std::string turn_1 = chat.render(first).text;
  const std::string turn_2 = chat.render(second).text;
  expect_prompt(test, "prompt(turn_2)", turn_2);
  EXPECT_EQ(turn_2.substr(0, turn_1.size()), turn_1);
}

TEST(TemplateCases, late_developer_text_occurs_once_and_without_markup) {
  const Json& given = case_of("late-developer-parts")["given"];
  const std::string prompt = prompt_of(template_of(given), given["request"]);
  const size_t at = prompt.find("Use metric units.");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(prompt.find("Use metric units.", at + 1), std::string::npos);
  EXPECT_THAT(prompt, Not(HasSubstr("[{")));
  EXPECT_THAT(prompt, Not(HasSubstr("\"type\"")));
}

TEST(TemplateCases, absent_content_forms_agree) {
  const Json& test = case_of("assistant-content-absent-forms-agree");
  const Json& given = test["given"];
  const ChatTemplate chat = template_of(given);
  ASSERT_EQ(given["content_forms"].size(), 5u);
  for (size_t i = 0; i < given["content_forms"].size(); ++i) {
    Json request = {{"messages", given["messages_with_key_missing"]}, {"tools", given["tools"]}};
    if (i > 0) request["messages"][1]["content"] = given["content_forms"][i];
    expect_prompt(test, "prompt", prompt_of(chat, request));
  }
}

TEST(TemplateCases, parts_and_texts_give_the_same_bytes) {
  const Json& given = case_of("content-parts-on-string-only-template")["given"];
  const ChatTemplate chat = template_of(given);
  Json request = given["request"];
  for (Json& message : request["messages"]) {
    std::string joined;
    for (const Json& part : message["content"]) joined += part["text"].get<std::string>();
    message["content"] = joined;
  }
  EXPECT_EQ(prompt_of(chat, request), prompt_of(chat, given["request"]));
}

TEST(TemplateCases, prefill_parts_equal_text) {
  const Json& test = case_of("prefill-parts-equals-string");
  const ChatTemplate chat = template_of(test["given"]);
  const std::string prompt = prompt_of(chat, test["given"]["request_a"]);
  expect_prompt(test, "prompt(request_a)", prompt);
  EXPECT_EQ(prompt_of(chat, test["given"]["request_b"]), prompt);
}

TEST(TemplateCases, prefill_with_a_closed_thought_starts_outside_of_reasoning) {
  const Json& given = case_of("prefill-closed-think")["given"];
  const ChatPrompt prompt = template_of(given).render(input_of(given["request"]));
  EXPECT_TRUE(prompt.prefill);
  EXPECT_FALSE(prompt.opens_thinking);
}

TEST(TemplateCases, strict_template_holds_every_text_once) {
  const Json& given = case_of("strict-template-repeated-roles")["given"];
  const std::string prompt = prompt_of(template_of(given), given["request"]);
  size_t last = 0;
  for (const char* text : {"alpha", "bravo", "charlie", "delta", "echo"}) {
    const size_t at = prompt.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(prompt.find(text, at + 1), std::string::npos);
    EXPECT_GE(at, last);
    last = at;
  }
  EXPECT_EQ(prompt,
            "<s><start_of_turn>user\nalpha\n\nbravo<end_of_turn>\n<start_of_turn>model\ncharlie\n\ndelta<end_of_turn>\n"
            "<start_of_turn>user\necho<end_of_turn>\n<start_of_turn>model\n");
}

TEST(TemplateCases, a_failing_template_never_harms_the_next_rendering) {
  for (const char* id : {"template-exception-one-400", "template-exception-with-tools"}) {
    const Json& given = case_of(id)["given"];
    const ChatTemplate chat(given["server"]["chat_template"].get<std::string>());
    const std::string text =
        std::string(id) == "template-exception-one-400" ? "zzz is not allowed here" : "this template has no tools";
    for (int round = 0; round < 3; ++round) {
      try {
        prompt_of(chat, given["requests"][0]);
        ADD_FAILURE() << id;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
        EXPECT_THAT(error.what(), HasSubstr(text));
      }
      const std::string fine = prompt_of(chat, given["requests"][1]);
      EXPECT_EQ(fine,
                std::string(id) == "template-exception-one-400" ? "[user]fine[assistant]" : "<user>hi<assistant>");
    }
  }
}

TEST(TemplateCases, language_table) {
  const Json& rows = case_of("template-language-table")["given"]["rows"];
  ASSERT_EQ(rows.size(), 13u);
  for (const Json& row : rows) {
    std::vector<jinja::Input> inputs;
    for (const auto& [name, value] : row["vars"].items()) inputs.push_back({name, value});
    const jinja::Template parsed(row["template"].get<std::string>());
    EXPECT_EQ(parsed.render(inputs, {}).text, row["expected"].get<std::string>()) << row["template"];
  }
}

TEST(TemplateCases, an_unclosed_tag_is_named_with_its_line) {
  const Json& given = case_of("template-unclosed-tag-at-start")["given"];
  try {
    const ChatTemplate chat(given["server"]["chat_template"].get<std::string>());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_file);
    EXPECT_THAT(error.what(), HasSubstr("chat template"));
    EXPECT_THAT(error.what(), HasSubstr("line 5"));
  }
}

TEST(TemplateCases, broken_arguments_of_an_earlier_call_are_shown_raw) {
  const Json& given = case_of("history-arguments-broken-json")["given"];
  EXPECT_THAT(prompt_of(template_of(given), given["request"]), HasSubstr("{\"unit\":\"web\",\"span\":\"6h\""));
}

TEST(TemplateCases, an_image_part_is_refused_by_its_type) {
  const Json& given = case_of("image-part-on-text-model")["given"];
  const ChatTemplate chat("{{ messages[0].content }}");
  try {
    prompt_of(chat, given["request"]);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
    EXPECT_THAT(error.what(), HasSubstr("image_url"));
    EXPECT_THAT(error.what(), Not(HasSubstr("iVBORw0KGgo")));
    EXPECT_EQ(error.param(), "messages[0].content[1]");
  }
}

TEST(TemplateCases, billing_line_is_left_out) {
  const Json& test = case_of("billing-line-stripped");
  const ChatTemplate chat = template_of(test["given"]);
  const std::string prompt = prompt_of(chat, test["given"]["request_a"]);
  expect_prompt(test, "prompt(request_a)", prompt);
  EXPECT_EQ(prompt_of(chat, test["given"]["request_b"]), prompt);
}

TEST(TemplateCases, reasoning_of_earlier_turns_gives_the_same_prompt) {
  const Json& test = case_of("history-reasoning-same-prompt");
  const ChatTemplate chat = template_of(test["given"]);
  for (const char* form : {"with", "without", "inline"}) {
    expect_prompt(test, "prompt", prompt_of(chat, test["given"][form]));
  }
}

TEST(TemplateCases, malformed_messages_are_named) {
  const Json& given = case_of("no-messages-and-no-user")["given"];
  const ChatTemplate chat = template_of(given);
  ASSERT_EQ(given["bodies"].size(), 8u);
  for (const Json& body : given["bodies"]) {
    try {
      prompt_of(chat, body);
      ADD_FAILURE() << body;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_request) << body;
      EXPECT_THAT(error.what(), HasSubstr("messages")) << body;
    }
  }
}

TEST(TokenizerCases, control_text_in_user_content_stays_plain) {
  const Json& test = golden_cases("tokenizer").at("control-text-in-user-content");
  const Json& given = test["given"];
  const Tokenizer& tokenizer = golden_tokenizer(given["vocab"].get<std::string>().substr(4));
  const ChatPrompt prompt = template_of(given).render(input_of(given["request"]));
  const std::vector<int32_t> ids = tokenizer.encode(prompt);
  EXPECT_EQ(ids, test["expect"][0]["equals"].get<std::vector<int32_t>>());
  EXPECT_EQ(std::count(ids.begin(), ids.end(), given["special_ids"]["<|im_start|>"]), 2);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), given["special_ids"]["<|im_end|>"]), 1);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), given["special_ids"]["<think>"]), 1);
  EXPECT_TRUE(prompt.opens_thinking);
}

}  // namespace
}  // namespace luce::text
