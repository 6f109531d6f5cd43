#include "experts/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {
namespace {

const ModelFingerprint kModel = {"qwen35moe", "Demo \"1\"", "2 x 4x64x32", "2 x Q4_K/Q4_K/Q6_K"};

Profile small_profile() {
  return {kModel,
          1'750'000'000,
          321,
          {{{1, 0, 2.5, 9000.125}, {0, 3, 0, 1}, {0.25, 0, 1, 0}}, {{0, 0, 0, 7}, {4, 4, 4, 4}, {}}},
          {{"rag_qa", 12.5, {{1, 0, 0.5, 2}, {0, 0, 0, 3}}}}};
}

std::string refusal(const std::string& text, const ModelFingerprint& model = kModel) {
  try {
    decode_profile(text, model);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_file);
    return error.what();
  }
  return {};
}

TEST(Profile, ReadsWhatItWrote) { EXPECT_EQ(decode_profile(encode_profile(small_profile()), kModel), small_profile()); }

TEST(Profile, RefusesEveryTruncation) {
  const std::string text = encode_profile(small_profile());
  for (size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_NE(refusal(text.substr(0, length)), "") << length << " bytes";
}

TEST(Profile, ABitFlipIsRefusedOrChangesNothing) {
  const std::string text = encode_profile(small_profile());
  int refused = 0;
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    try {
      EXPECT_EQ(decode_profile(damaged, kModel), small_profile()) << "bit " << bit;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_file);
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(text.size()) * 8 * 95 / 100);
}

TEST(Profile, SaysWhyItRefuses) {
  std::string newer = encode_profile(small_profile());
  newer.replace(newer.find("\"version\":2"), 11, "\"version\":3");
  EXPECT_NE(refusal(newer).find("version 3"), std::string::npos);
  ModelFingerprint other = kModel;
  other.name = "Other";
  EXPECT_NE(refusal(encode_profile(small_profile()), other).find("another model"), std::string::npos);
  other = kModel;
  other.formats = "2 x Q8_0/Q8_0/Q8_0";
  EXPECT_NE(refusal(encode_profile(small_profile()), other).find("formats"), std::string::npos);
  std::string changed = encode_profile(small_profile());
  changed.replace(changed.find("9000.125"), 8, "9000.126");
  EXPECT_NE(refusal(changed).find("checksum"), std::string::npos);
}

TEST(Profile, ReadsVersionOneAsOneWithoutFastScoresAndTags) {
  // Written by a luce-spark of that version.
  const char* const text =
      R"({"version":1,"checksum":"af707cc32b3b324e","body":{"layers":[{"decode":[1.0,0.0],"prompt":[0.0,3.5]}],"model":)"
      R"({"architecture":"a","formats":"f","name":"n","shape":"s"},"saved_at":17,"tokens":5}})";
  const Profile read = decode_profile(text, {"a", "n", "s", "f"});
  EXPECT_EQ(read, (Profile{{"a", "n", "s", "f"}, 17, 5, {{{1, 0}, {0, 3.5}, {}}}, {}}));
}

TEST(Profile, RefusesWhatIsNoProfile) {
  for (const char* text : {"", "{}", "[]", "null", "{\"version\":\"1\"}", "{\"version\":1,\"body\":{}}", "\xff\xfe",
                           "{\"version\":1e400}", "{\"version\":1,\"checksum\":7,\"body\":[]}"})
    EXPECT_NE(refusal(text), "") << text;
  EXPECT_NE(refusal(std::string(1'000'000, '[')), "");
}

TEST(Profile, WritesANameThatIsNoText) {
  Profile profile = small_profile();
  profile.model.name = "a\xff";
  EXPECT_EQ(decode_profile(encode_profile(profile), profile.model), profile);
}

std::string target_ranking() {
  std::ifstream file(support::golden_path("traces/qwen36-35b-a3b_domain_top100.json"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RankingImport, TakesTheOneOfTheTargetModel) {
  const std::string text = target_ranking();
  ASSERT_TRUE(is_ranking(text));
  EXPECT_FALSE(is_ranking(encode_profile(small_profile())));
  EXPECT_FALSE(is_ranking("{\"domains\""));
  const std::vector<LayerCounts> layers = import_ranking(text, std::vector<int>(40, 256));
  ASSERT_EQ(layers.size(), 40U);
  for (const LayerCounts& layer : layers) {
    ASSERT_EQ(layer.decode.size(), 256U);
    const auto ranked = std::count_if(layer.decode.begin(), layer.decode.end(), [](double c) { return c > 0; });
    EXPECT_GE(ranked, 100);
  }
  // Expert 99 leads layer 0 of the first domain: it is worth more there than one that no domain lists.
  EXPECT_GE(layers[0].decode[99], 1.0);
}

TEST(RankingImport, RefusesOtherShapesAndOddLists) {
  const auto refuses = [](const std::string& text, const std::vector<int>& experts) {
    EXPECT_THROW(import_ranking(text, experts), Error) << text.substr(0, 90);
  };
  refuses(target_ranking(), std::vector<int>(39, 256));
  refuses(target_ranking(), std::vector<int>(40, 128));
  const auto list = [](const std::string& inner) {
    return "{\"domains\":{\"d\":{\"per_layer_domain_preferred\":" + inner + "}}}";
  };
  EXPECT_EQ(import_ranking(list("{\"0\":[2,1]}"), {4})[0].decode, (std::vector<double>{0, 8.0 / 9, 1, 0}));
  for (const char* inner : {"{\"0\":[2,2]}", "{\"0\":[-1]}", "{\"0\":[4]}", "{\"1\":[0]}", "{\"x\":[0]}",
                            "{\"0\":\"a\"}", "{\"0\":[\"a\"]}", "{\"-1\":[0]}"})
    refuses(list(inner), {4});
  refuses("{\"domains\":7}", {4});
  refuses("{\"domains\":{\"d\":{}}}", {4});
}

}  // namespace
}  // namespace luce::experts
