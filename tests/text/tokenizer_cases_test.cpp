#include <gtest/gtest.h>
#include <pthread.h>

#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "support/sanitizer.hpp"
#include "text/detokenizer.hpp"
#include "text/golden_cases.hpp"
#include "text/vocabulary_files.hpp"

namespace luce::text {
namespace {

using Json = nlohmann::ordered_json;
using Ids = std::vector<int32_t>;

const Json& given(const char* id) { return golden_cases("tokenizer").at(id).at("given"); }

const Tokenizer& vocabulary_of(const Json& part) {
  return golden_tokenizer(part.at("vocab").get<std::string>().substr(4));
}

void expect_rows(const Json& part) {
  const Tokenizer& tokenizer = vocabulary_of(part);
  for (const Json& row : part.at("rows")) {
    EXPECT_EQ(tokenizer.encode(row["text"].get<std::string>(), Special::plain), row["ids"].get<Ids>()) << row.dump();
  }
}

// Of this thread alone, so that other work on the machine does not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds(const std::function<void()>& work) {
  const double begin = cpu_seconds();
  work();
  return cpu_seconds() - begin;
}

void run_with_stack(size_t bytes, std::function<void()> work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread{};
  const auto call = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &work), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(TokenizerCases, combining_marks_per_family) {
  const Json& both = given("combining-marks-per-family");
  expect_rows(both.at("qwen35"));
  expect_rows(both.at("qwen3"));
  for (size_t i = 0; i < 3; ++i) EXPECT_NE(both["qwen35"]["rows"][i]["ids"], both["qwen3"]["rows"][i]["ids"]);
}

TEST(TokenizerCases, decomposed_letters_normalised) {
  const Json& part = given("decomposed-letters-normalised");
  expect_rows(part);
  for (const Json& row : part.at("rows")) {
    EXPECT_EQ(vocabulary_of(part).encode(row["composed"].get<std::string>(), Special::plain), row["ids"].get<Ids>());
  }
}

TEST(TokenizerCases, separators_and_rare_classes) {
  const Json& part = given("separators-and-rare-classes");
  expect_rows(part);
  for (const Json& row : part.at("rows")) {
    EXPECT_EQ(decode(vocabulary_of(part).vocabulary(), row["ids"].get<Ids>()), row["text"].get<std::string>());
  }
}

TEST(TokenizerCases, long_run_of_letters) {
  const Json& part = given("long-run-of-letters");
  const Tokenizer& tokenizer = vocabulary_of(part);
  const Ids exact = tokenizer.encode(std::string(1000, 'a'), Special::plain);
  EXPECT_EQ(exact.size(), part["exact"]["count"]);
  EXPECT_EQ(exact.front(), part["exact"]["first_id"]);
  EXPECT_EQ(exact.back(), part["exact"]["last_id"]);
  for (const size_t stack_bytes : {size_t{8} << 20, size_t{512} << 10}) {
    run_with_stack(stack_bytes, [&] {
      for (const std::string& text : {std::string(26'000, 'a'), std::string(51'000, 'a'), std::string(131'072, 'a'),
                                      std::string(1'000'000, 'x')}) {
        EXPECT_TRUE(decode(tokenizer.vocabulary(), tokenizer.encode(text, Special::plain)) == text);
      }
    });
  }
}

// Runs that are hard for splitting or merging: no blanks, only blanks, marks in descending order of class, and such.
std::vector<std::string> hard_runs(size_t characters) {
  const std::vector<std::string> units = {"a",
                                          "ab",
                                          "aB",
                                          "Ab1",
                                          "A",
                                          "z9",
                                          " ",
                                          "\n",
                                          "\r\n",
                                          " \n",
                                          "\t ",
                                          "0",
                                          "12a",
                                          ".",
                                          "!?",
                                          "'s",
                                          "'",
                                          "\xC2\xA0",
                                          "ä",
                                          "漢",
                                          "漢a",
                                          "あ",
                                          "ㄅ",
                                          "\xE3\x80\x80",
                                          "\xCC\x81",
                                          "\xCC\x81\xCC\xA3",
                                          "🏳️‍🌈",
                                          "\x01",
                                          "\xFF",
                                          "\xE2\x96\x81",
                                          "<",
                                          "<|im_",
                                          "กิ",
                                          "_",
                                          "/",
                                          "(",
                                          "=="};
  std::vector<std::string> runs;
  for (const std::string& unit : units) {
    std::string run;
    while (run.size() < characters) run += unit;
    runs.push_back(run);
    runs.push_back(run + "x");
  }
  return runs;
}

constexpr size_t kHardRun = support::kSanitized ? 16'384 : 131'072;

TEST(TokenizerCases, time_is_linear) {
  for (const char* name : {"tokenizers/vocab-qwen35.gguf", "tokenizers/vocab-llama-bpe.gguf",
                           "tokenizers/vocab-llama-spm.gguf", "tokenizers/vocab-qwen3.gguf"}) {
    const Tokenizer& tokenizer = golden_tokenizer(name);
    for (const std::string& run : hard_runs(kHardRun)) {
      Ids ids;
      const double taken = seconds([&] { ids = tokenizer.encode(run, Special::parse); });
      EXPECT_LT(taken, 1.0) << name << ": a run of '" << run.substr(0, 12) << "'";
    }
  }
}

TEST(TokenizerCases, long_runs_take_at_most_three_times_as_long_a_letter) {
  const Tokenizer& tokenizer = golden_tokenizer("tokenizers/vocab-qwen35.gguf");
  const auto best_of_five = [&](const std::string& text) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) best = std::min(best, seconds([&] { tokenizer.encode(text, Special::plain); }));
    return best / static_cast<double>(text.size());
  };
  const double longer = best_of_five(std::string(131'072, 'a'));
  EXPECT_LT(longer * 131'072, 0.5);
  EXPECT_LE(longer, 3 * best_of_five(std::string(26'000, 'a')));
}

}  // namespace
}  // namespace luce::text
