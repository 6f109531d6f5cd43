#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/golden_path.hpp"
#include "text/detokenizer.hpp"
#include "text/vocabulary_files.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;

struct GoldenSet {
  const char* rows;
  const char* vocabulary;
  size_t count;
};

void PrintTo(const GoldenSet& set, std::ostream* out) { *out << set.rows; }

class TokenizerGolden : public testing::TestWithParam<GoldenSet> {};

std::vector<Json> read_rows(const std::string& name) {
  std::ifstream in(support::golden_path(name));
  std::vector<Json> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(Json::parse(line));
  return rows;
}

TEST_P(TokenizerGolden, every_row_matches) {
  const Tokenizer& tokenizer = golden_tokenizer(GetParam().vocabulary);
  const std::vector<Json> rows = read_rows(GetParam().rows);
  ASSERT_EQ(rows.size(), GetParam().count);
  for (const Json& row : rows) {
    const auto text = row.at("text").get<std::string>();
    const auto plain = tokenizer.encode(text, Special::plain);
    const auto parsed = tokenizer.encode(text, Special::parse);
    if (row.contains("ids")) {
      EXPECT_EQ(plain, row["ids"].get<std::vector<int32_t>>()) << "plain: " << row.dump();
      EXPECT_EQ(decode(tokenizer.vocabulary(), plain), text);
    }
    const char* parsed_key = row.contains("ids_parse_special") ? "ids_parse_special" : "ids";
    EXPECT_EQ(parsed, row[parsed_key].get<std::vector<int32_t>>()) << "parsed: " << row.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, TokenizerGolden,
    testing::Values(GoldenSet{"tokenizers/qwen35.jsonl", "tokenizers/vocab-qwen35.gguf", 268},
                    GoldenSet{"tokenizers/qwen3.jsonl", "tokenizers/vocab-qwen3.gguf", 310},
                    GoldenSet{"tokenizers/llama-bpe.jsonl", "tokenizers/vocab-llama-bpe.gguf", 310},
                    GoldenSet{"tokenizers/llama-spm.jsonl", "tokenizers/vocab-llama-spm.gguf", 310}),
    [](const auto& row) {
      std::string name = row.param.rows;
      name = name.substr(name.find('/') + 1);
      name = name.substr(0, name.find('.'));
      for (char& c : name) c = c == '-' ? '_' : c;
      return name;
    });

}  // namespace
}  // namespace luce::text
