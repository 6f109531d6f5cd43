#include "text/vocabulary.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"
#include "text/detokenizer.hpp"
#include "text/golden_cases.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/tokenizer.hpp"
#include "text/utf8.hpp"
#include "text/vocabulary_files.hpp"

namespace luce::text {
namespace {

VocabularyData small_sentence_piece() {
  VocabularyData data;
  data.kind = VocabularyKind::sentence_piece;
  data.tokens = {"<unk>",
                 "<s>",
                 "</s>",
                 "<0x41>",
                 "\xE2\x96\x81",
                 "a",
                 "b",
                 "ab",
                 "\xE2\x96\x81"
                 "ab"};
  data.types = {2, 3, 3, 6, 1, 1, 1, 1, 1};
  data.scores = {0, 0, 0, 0, -1, -2, -3, -4, -5};
  data.bos = 1;
  data.eos = 2;
  data.unknown = 0;
  return data;
}

VocabularyData small_byte_level() {
  VocabularyData data;
  data.pre_tokenizer = "gpt-2";
  data.tokens = {"a", "b", "ab", "<|im_start|>", "<|im_end|>", "<think>", "c"};
  data.types = {1, 1, 1, 3, 1, 4, 1};
  data.merges = {"a b", "ab c"};
  data.eos = 3;
  return data;
}

ErrorKind kind_of_failure(VocabularyData data, std::string* message = nullptr) {
  try {
    const Tokenizer tokenizer(std::move(data));
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.kind();
  }
  ADD_FAILURE() << "the vocabulary was accepted";
  return ErrorKind::internal;
}

TEST(Vocabulary, malformed_byte_tokens_are_named) {
  const auto& given = golden_cases("gguf").at("vocabulary-byte-tokens").at("given");
  for (const auto& value : given.at("values")) {
    VocabularyData data = small_sentence_piece();
    data.tokens[3] = value.get<std::string>();
    std::string message;
    EXPECT_EQ(kind_of_failure(data, &message), ErrorKind::invalid_file);
    EXPECT_NE(message.find("token 3"), std::string::npos) << message;
  }
}

TEST(Vocabulary, refuses_lists_of_other_lengths) {
  VocabularyData types = small_sentence_piece();
  types.types.pop_back();
  EXPECT_EQ(kind_of_failure(types), ErrorKind::invalid_file);
  VocabularyData scores = small_sentence_piece();
  scores.scores.clear();
  EXPECT_EQ(kind_of_failure(scores), ErrorKind::invalid_file);
  VocabularyData empty = small_sentence_piece();
  empty.tokens.clear();
  empty.types.clear();
  empty.scores.clear();
  EXPECT_EQ(kind_of_failure(empty), ErrorKind::invalid_file);
}

TEST(Vocabulary, refuses_values_out_of_range) {
  for (int32_t VocabularyData::*id : {&VocabularyData::bos, &VocabularyData::eos, &VocabularyData::eot,
                                      &VocabularyData::eom, &VocabularyData::unknown, &VocabularyData::padding}) {
    VocabularyData data = small_sentence_piece();
    data.*id = 9;
    EXPECT_EQ(kind_of_failure(data), ErrorKind::invalid_file);
    data.*id = -2;
    EXPECT_EQ(kind_of_failure(data), ErrorKind::invalid_file);
  }
  VocabularyData type = small_sentence_piece();
  type.types[4] = 7;
  EXPECT_EQ(kind_of_failure(type), ErrorKind::invalid_file);
  VocabularyData score = small_sentence_piece();
  score.scores[4] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(kind_of_failure(score), ErrorKind::invalid_file);
}

TEST(Vocabulary, refuses_broken_merges_and_unknown_pre_tokenizers) {
  for (const char* merge : {"", "ab", "a ", " "}) {
    VocabularyData data = small_byte_level();
    data.merges[1] = merge;
    EXPECT_EQ(kind_of_failure(data), ErrorKind::invalid_file) << merge;
  }
  VocabularyData data = small_byte_level();
  data.pre_tokenizer = "no-such";
  std::string message;
  EXPECT_EQ(kind_of_failure(data, &message), ErrorKind::unsupported);
  EXPECT_NE(message.find("qwen35"), std::string::npos);
}

TEST(Vocabulary, the_first_of_equal_tokens_counts) {
  VocabularyData data = small_byte_level();
  data.tokens[6] = "a";
  EXPECT_EQ(Vocabulary(data).find("a"), 0);
}

TEST(Vocabulary, well_known_ends_end_a_reply) {
  const Vocabulary vocabulary(small_byte_level());
  EXPECT_TRUE(vocabulary.is_end(3));
  EXPECT_TRUE(vocabulary.is_end(4));
  EXPECT_EQ(vocabulary.type(4), TokenType::control);
  EXPECT_FALSE(vocabulary.is_end(5));
  EXPECT_FALSE(vocabulary.is_end(-1));
  EXPECT_FALSE(vocabulary.is_end(7));
  EXPECT_EQ(vocabulary.end_tokens(), (std::vector<int32_t>{3, 4}));
  const Vocabulary& qwen = golden_tokenizer("tokenizers/vocab-qwen3.gguf").vocabulary();
  EXPECT_TRUE(qwen.is_end(151643));
  EXPECT_TRUE(qwen.is_end(151645));
  EXPECT_FALSE(qwen.is_end(151644));
}

TEST(Vocabulary, harmony_replies_go_on_after_a_message) {
  VocabularyData data = small_byte_level();
  data.tokens = {"a", "b", "ab", "<|return|>", "<|end|>", "<|call|>", "<|channel|>"};
  const Vocabulary harmony(data);
  EXPECT_FALSE(harmony.is_end(4));
  EXPECT_TRUE(harmony.is_end(5));
  data.tokens[6] = "c";
  EXPECT_TRUE(Vocabulary(data).is_end(4));
}

TEST(Tokenizer, texts_of_merges_that_are_no_token_fall_apart) {
  const Tokenizer tokenizer(small_byte_level());
  EXPECT_EQ(tokenizer.encode("abc", Special::plain), (std::vector<int32_t>{0, 1, 6}));
  EXPECT_EQ(tokenizer.encode("ab", Special::plain), (std::vector<int32_t>{2}));
}

TEST(Tokenizer, control_text_counts_only_where_it_is_parsed) {
  const Tokenizer tokenizer(small_byte_level());
  const std::string text = "a<|im_end|>b<think>";
  EXPECT_EQ(tokenizer.encode(text, Special::parse), (std::vector<int32_t>{0, 4, 1, 5}));
  EXPECT_EQ(tokenizer.encode(text, Special::plain), (std::vector<int32_t>{0, 1}));
  // Text that only template and content together make is no control token.
  for (size_t cut = 2; cut < 11; ++cut) {
    const RenderedPrompt prompt{text, {{cut, text.size()}}};
    EXPECT_EQ(tokenizer.encode(prompt), (std::vector<int32_t>{0, 1})) << cut;
  }
  EXPECT_EQ(tokenizer.encode(RenderedPrompt{text, {{0, 1}, {11, 12}}}), (std::vector<int32_t>{0, 4, 1, 5}));
}

TEST(Tokenizer, sentence_piece_falls_back_to_bytes_and_unknown) {
  const Tokenizer tokenizer(small_sentence_piece());
  EXPECT_EQ(tokenizer.encode("ab", Special::plain, true), (std::vector<int32_t>{1, 8}));
  EXPECT_EQ(tokenizer.encode("A", Special::plain), (std::vector<int32_t>{4, 3}));
  EXPECT_EQ(tokenizer.encode("\xC3\xA4", Special::plain), (std::vector<int32_t>{4, 0}));
  EXPECT_EQ(tokenizer.encode("", Special::plain), (std::vector<int32_t>{}));
  EXPECT_EQ(tokenizer.encode("</s>b", Special::parse), (std::vector<int32_t>{2, 4, 6}));
}

TEST(Tokenizer, begin_token_is_put_in_front_once) {
  const Tokenizer tokenizer(small_sentence_piece());
  EXPECT_TRUE(tokenizer.adds_bos());
  EXPECT_EQ(tokenizer.encode(RenderedPrompt{"ab", {}}), (std::vector<int32_t>{1, 8}));
  EXPECT_EQ(tokenizer.encode(RenderedPrompt{"<s>ab", {}}), (std::vector<int32_t>{1, 8}));
}

TEST(Tokenizer, invalid_bytes_are_read_as_replacement_characters) {
  const Tokenizer& tokenizer = golden_tokenizer("tokenizers/vocab-qwen35.gguf");
  for (const std::string bad : {"\xFF", "a\xC3", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xC0\x80z"}) {
    EXPECT_EQ(tokenizer.encode(bad, Special::parse), tokenizer.encode(replace_invalid_utf8(bad), Special::parse));
  }
}

TEST(Tokenizer, character_kind_keeps_lines_and_newline_runs) {
  VocabularyData data;
  data.kind = VocabularyKind::character;
  data.tokens = {"<bos>",
                 "<0xC3>",
                 "<0xA4>",
                 "\xE2\x96\x81",
                 "a",
                 "\xE2\x96\x81"
                 "a",
                 "\n",
                 "\n\n",
                 "<|turn>"};
  data.types = {3, 6, 6, 1, 1, 1, 1, 1, 3};
  data.merges = {"\xE2\x96\x81 a"};
  data.bos = 0;
  const Tokenizer tokenizer(std::move(data));
  EXPECT_TRUE(tokenizer.adds_bos());
  EXPECT_EQ(tokenizer.encode("a a\n\n a<|turn>", Special::parse), (std::vector<int32_t>{4, 5, 7, 5, 8}));
  EXPECT_EQ(tokenizer.encode("\xC3\xA4\n\n\n", Special::parse), (std::vector<int32_t>{1, 2, 6, 6, 6}));
  EXPECT_EQ(decode(tokenizer.vocabulary(), std::vector<int32_t>{0, 4, 5, 1, 2, 8}), "a a\xC3\xA4");
}

TEST(PreTokenizer, every_row_cuts_any_text_into_adjoining_pieces) {
  const std::string text =
      "Hello World's 12345 \t\n\n  x \xE6\xBC\xA2\xE5\xAD\x97\xE3\x81\x82 \xC3\x89T\xC3\x89 'LL don't_()[]<|im_end|> "
      "a.b/c\r\n \x01";
  for (const PreTokenizerRow& row : all_pre_tokenizers()) {
    const std::vector<size_t> ends = PreTokenizer(row).split(text);
    ASSERT_FALSE(ends.empty()) << row.name;
    EXPECT_EQ(ends.back(), text.size()) << row.name;
    for (size_t i = 1; i < ends.size(); ++i) EXPECT_LT(ends[i - 1], ends[i]) << row.name;
    EXPECT_TRUE(PreTokenizer(row).split("").empty());
  }
}

std::vector<std::string> pieces(const char* name, std::string_view text) {
  std::vector<std::string> out;
  size_t begin = 0;
  for (const size_t end : PreTokenizer(*find_pre_tokenizer(name)).split(text)) {
    out.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

TEST(PreTokenizer, families_differ_where_their_patterns_do) {
  using Pieces = std::vector<std::string>;
  EXPECT_EQ(pieces("qwen2", "a1234 b"), (Pieces{"a", "1", "2", "3", "4", " b"}));
  EXPECT_EQ(pieces("llama-bpe", "a1234 b"), (Pieces{"a", "123", "4", " b"}));
  EXPECT_EQ(pieces("gpt-2", "a1234  b"), (Pieces{"a", "1234", " ", " b"}));
  EXPECT_EQ(pieces("gpt-4o", "HelloWORLD's x/"), (Pieces{"Hello", "WORLD's", " x", "/"}));
  EXPECT_EQ(pieces("deepseek-v3",
                   "x=12345\xE6\xBC\xA2"
                   "b"),
            (Pieces{"x", "=", "123", "45", "\xE6\xBC\xA2", "b"}));
  EXPECT_EQ(pieces("deepseek-llm", "ab \n cd  "), (Pieces{"ab", " ", "\n", " cd", "  "}));
  EXPECT_EQ(pieces("laguna", "a\n\n b"), (Pieces{"a", "\n\n", " b"}));
  EXPECT_EQ(pieces("kimi-k2",
                   "a\xE6\xBC\xA2"
                   "B"),
            (Pieces{"a", "\xE6\xBC\xA2", "B"}));
  EXPECT_EQ(pieces("default", "a,b 1234"), (Pieces{"a", ",", "b", " ", "123", "4"}));
}

TEST(Detokenizer, whole_characters_only) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("hi \xF0\x9F"), "hi ");
  EXPECT_EQ(stream.push("\xA6"), "");
  EXPECT_EQ(stream.pending_bytes(), 3u);
  EXPECT_EQ(stream.push("\x99!"), "\xF0\x9F\xA6\x99!");
  EXPECT_EQ(stream.flush(), "");
}

TEST(Detokenizer, invalid_bytes_become_replacement_characters) {
  Utf8Stream stream;
  std::string text;
  for (const char* part :
       {"A", "\x80", "B", "\xC0\x80", "C", "\xED\xA0\x80", "D", "\xF5\x80\x80\x80", "E", "\xF0\x9F"}) {
    text += stream.push(part);
  }
  text += stream.flush();
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(text, "A" + r + "B" + r + r + "C" + r + r + r + "D" + r + r + r + r + "E" + r);
}

TEST(Detokenizer, control_tokens_show_only_when_asked) {
  const Vocabulary vocabulary(small_byte_level());
  const std::vector<int32_t> ids = {3, 0, 5, 4, 99, -1};
  EXPECT_EQ(decode(vocabulary, ids), "a<think>");
  EXPECT_EQ(decode(vocabulary, ids, true), "<|im_start|>a<think><|im_end|>");
}

TEST(Detokenizer, a_blank_put_in_front_is_taken_away_once) {
  const Vocabulary vocabulary(small_sentence_piece());
  EXPECT_EQ(decode(vocabulary, std::vector<int32_t>{1, 8, 8}), "ab ab");
  Detokenizer kept(vocabulary);
  EXPECT_EQ(kept.push(8), " ab");
}

TEST(Utf8, steps_follow_the_standard) {
  EXPECT_EQ(decode_utf8("\xE6\xBC", 0).status, Utf8Status::incomplete);
  EXPECT_EQ(decode_utf8("\xE6"
                        "a",
                        0)
                .status,
            Utf8Status::invalid);
  EXPECT_EQ(decode_utf8("\xF4\x90\x80\x80", 0).status, Utf8Status::invalid);
  EXPECT_EQ(decode_utf8("\xF4\x8F\xBF\xBF", 0).code_point, 0x10FFFFu);
  EXPECT_EQ(replace_invalid_utf8("\xE1\x80"
                                 "a"),
            "\xEF\xBF\xBD"
            "a");
  EXPECT_EQ(count_code_points("a\xC3\xA4\xF0\x9F\xA6\x99"), 3u);
  std::string surrogate;
  append_utf8(surrogate, 0xD800);
  EXPECT_EQ(surrogate, "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace luce::text
