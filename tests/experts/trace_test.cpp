#include "experts/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "base/error.hpp"
#include "experts/trace_steps.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {
namespace {

class TraceFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path); }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void expect_invalid(const std::string& bytes, const std::string& what) const {
    write(bytes);
    try {
      Trace::load(path);
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_file) << what;
      EXPECT_THAT(error.what(), testing::HasSubstr(path));
    }
  }

  const std::string path =
      testing::TempDir() + "trace_test_" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".lrt";
};

Trace small_trace(int experts) {
  Trace trace(2, experts, 3);
  std::mt19937 random(1);
  for (const int length : {4, 0, 7}) {
    trace.add_sequence();
    for (int token = 0; token < length; ++token) {
      std::vector<uint16_t> ids;
      for (int i = 0; i < 6; ++i) ids.push_back(static_cast<uint16_t>(random() % static_cast<unsigned>(experts)));
      trace.add_token(ids);
    }
  }
  return trace;
}

TEST_F(TraceFile, ComesBackAsItWasSaved) {
  for (const int experts : {5, 256, 257, 1000}) {
    const Trace saved = small_trace(experts);
    saved.save(path);
    const Trace loaded = Trace::load(path);
    EXPECT_EQ(std::filesystem::file_size(path), 24U + 3 * 4 + 11U * 6 * (experts > 256 ? 2 : 1));
    ASSERT_EQ(loaded.sequences(), 3);
    ASSERT_EQ(loaded.tokens(), 11);
    EXPECT_EQ(loaded.experts(), experts);
    for (int s = 0; s < 3; ++s) {
      ASSERT_EQ(loaded.length(s), saved.length(s));
      for (int64_t t = 0; t < saved.length(s); ++t)
        for (int layer = 0; layer < 2; ++layer)
          EXPECT_TRUE(std::ranges::equal(loaded.at(s, t, layer), saved.at(s, t, layer)));
    }
  }
}

TEST_F(TraceFile, LoadedAndSavedAgainHasTheSameBytes) {
  const std::string golden = support::golden_path("traces/gpt-oss-20b_mix8.lrt");
  Trace::load(golden).save(path);
  std::ifstream file(golden, std::ios::binary);
  EXPECT_EQ(read(), std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST_F(TraceFile, RefusesEveryOtherLength) {
  small_trace(9).save(path);
  const std::string whole = read();
  for (size_t length = 0; length < whole.size(); ++length)
    expect_invalid(whole.substr(0, length), fmt::format("cut to {} bytes", length));
  expect_invalid(whole + "x", "one byte more");
}

TEST_F(TraceFile, RefusesNumbersThatCannotBe) {
  small_trace(9).save(path);
  const std::string whole = read();
  const auto with = [&whole](size_t at, uint32_t value) {
    std::string bytes = whole;
    bytes.replace(at, 4, std::string(reinterpret_cast<const char*>(&value), 4));
    return bytes;
  };
  for (const size_t at : {4, 8, 12, 16, 20, 24, 28, 32})
    for (const uint32_t value : {0U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU})
      if (whole != with(at, value)) expect_invalid(with(at, value), fmt::format("{} at {}", value, at));
  std::string bad_id = whole;
  bad_id.back() = 9;
  expect_invalid(bad_id, "an id of 9 of 9 experts");
}

TEST_F(TraceFile, SaysWhichFileIsMissingOrCannotBeWritten) {
  EXPECT_THROW(Trace::load(path), Error);
  try {
    small_trace(9).save("/nonexistent-folder/x.lrt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
  }
}

TEST(Trace, RefusesTokensOfAnotherShape) {
  Trace trace(1, 4, 2);
  const std::vector<uint16_t> good = {0, 3}, short_one = {1}, bad = {0, 4};
  EXPECT_THROW(trace.add_token(good), Error);  // no sequence yet
  trace.add_sequence();
  trace.add_token(good);
  EXPECT_THROW(trace.add_token(short_one), Error);
  EXPECT_THROW(trace.add_token(bad), Error);
  EXPECT_EQ(trace.tokens(), 1);
}

TEST(TraceSteps, StreamsAdvanceInLockstep) {
  Trace trace(1, 16, 1);
  uint16_t id = 0;
  for (const int length : {2, 1, 1, 2}) {  // ids 0 1 | 2 | 3 | 4 5
    trace.add_sequence();
    for (int t = 0; t < length; ++t) trace.add_token(std::vector<uint16_t>{id++});
  }
  TraceSteps steps(trace, 2);  // stream 0: 0 1 3, stream 1: 2 4 5
  ASSERT_EQ(steps.count(), 3);
  const auto experts = [&steps](int64_t step) {
    std::vector<int32_t> ids;
    for (const UsedExpert& used : steps.use(step, 0).experts) ids.push_back(used.expert);
    return ids;
  };
  EXPECT_EQ(experts(0), (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(experts(1), (std::vector<int32_t>{1, 4}));
  EXPECT_EQ(experts(2), (std::vector<int32_t>{3, 5}));
  EXPECT_EQ(TraceSteps(trace, 1).count(), 6);
  EXPECT_EQ(TraceSteps(trace, 9).count(), 2);
}

}  // namespace
}  // namespace luce::experts
