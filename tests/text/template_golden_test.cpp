#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "support/golden_path.hpp"
#include "text/chat_template.hpp"
#include "text/golden_cases.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;

std::tm noon() {
  std::tm now{};
  now.tm_year = 2026 - 1900;
  now.tm_mon = 10;
  now.tm_mday = 29;
  now.tm_hour = 12;
  now.tm_yday = 332;
  return now;
}

ChatInput input_of(const Json& row) {
  ChatInput input;
  input.messages = row.at("messages");
  if (row.contains("tools")) input.tools = row["tools"];
  input.add_generation_prompt = row.at("add_generation_prompt");
  if (row.contains("enable_thinking")) input.enable_thinking = row["enable_thinking"].get<bool>();
  input.now = noon();
  return input;
}

class TemplateGolden : public testing::TestWithParam<std::string> {};

TEST_P(TemplateGolden, every_case_matches) {
  const std::string base = support::golden_path("templates/" + GetParam());
  const ChatTemplate chat(read_text(base + ".jinja"), {"<s>", "</s>", "", ""});
  const Json rows = Json::parse(read_text(base + ".cases.json"));
  ASSERT_EQ(rows.size(), 17u);
  for (const Json& row : rows) {
    const std::string name = row.at("name");
    try {
      const RenderedPrompt prompt = chat.render_as_given(input_of(row));
      ASSERT_TRUE(row.contains("expected")) << name << " rendered, but must fail";
      EXPECT_EQ(prompt.text, row["expected"].get<std::string>()) << name;
    } catch (const Error& error) {
      ASSERT_TRUE(row.contains("error")) << name << ": " << error.what();
      EXPECT_EQ(error.kind(), ErrorKind::invalid_request);
      EXPECT_NE(std::string(error.what()).find(row["error"].get<std::string>()), std::string::npos)
          << name << ": " << error.what();
    }
  }
}

std::vector<std::string> template_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(support::golden_path("templates"))) {
    if (file.path().extension() == ".jinja") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(all, TemplateGolden, testing::ValuesIn(template_names()), [](const auto& row) {
  std::string name = row.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(TemplateGoldenFiles, none_is_missing) { EXPECT_EQ(template_names().size(), 11u); }

}  // namespace
}  // namespace luce::text
