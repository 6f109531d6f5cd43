#include "experts/route_recorder.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "experts/routing_rows.hpp"
#include "experts/trace.hpp"
#include "support/temporary_folder.hpp"

namespace luce::experts {
namespace {

using Rows = std::vector<std::vector<int32_t>>;

class RouteRecording : public testing::Test {
 protected:
  RecorderSettings settings(size_t open_sequences = 64) {
    RecorderSettings settings{path(), {0, 8, 8}, 2};
    settings.open_sequences = open_sequences;
    settings.warn = [this](const std::string& text) { warnings_.push_back(text); };
    return settings;
  }
  std::string path() const { return folder_.path("traffic.lrt"); }
  /// A step whose second layer with experts routes to ids one higher.
  static void step(RouteRecorder& recorder, const Rows& rows, const std::vector<uint64_t>& sequences) {
    Rows second = rows;
    for (auto& row : second)
      for (int32_t& id : row) id = (id + 1) % 8;
    recorder.record(RoutingRows(1, rows).view());
    recorder.record(RoutingRows(2, second).view());
    recorder.end_step(sequences);
  }
  static std::vector<uint16_t> ids(const Trace& trace, int sequence, int64_t token, int layer) {
    const auto found = trace.at(sequence, token, layer);
    return {found.begin(), found.end()};
  }
  support::TemporaryFolder folder_;
  std::vector<std::string> warnings_;
};

TEST_F(RouteRecording, KeepsSequencesApart) {
  RouteRecorder recorder(settings());
  step(recorder, {{0, 1}, {4, 5}}, {10, 11});
  step(recorder, {{6, 7}}, {11});
  step(recorder, {{2, 3}, {1, 0}}, {10, 12});
  EXPECT_EQ(recorder.tokens(), 5);
  recorder.finish();
  const Trace trace = Trace::load(path());
  EXPECT_EQ(trace.layers(), 2);
  EXPECT_EQ(trace.experts(), 8);
  ASSERT_EQ(trace.sequences(), 3);
  EXPECT_EQ(trace.tokens(), 5);
  // By last use: 11, 10, 12.
  EXPECT_EQ(ids(trace, 0, 0, 0), (std::vector<uint16_t>{4, 5}));
  EXPECT_EQ(ids(trace, 0, 1, 1), (std::vector<uint16_t>{7, 0}));
  EXPECT_EQ(ids(trace, 1, 0, 0), (std::vector<uint16_t>{0, 1}));
  EXPECT_EQ(ids(trace, 1, 1, 0), (std::vector<uint16_t>{2, 3}));
  EXPECT_EQ(ids(trace, 2, 0, 0), (std::vector<uint16_t>{1, 0}));
  EXPECT_FALSE(std::filesystem::exists(path() + ".spool"));
}

TEST_F(RouteRecording, LeavesPromptsOut) {
  RouteRecorder recorder(settings());
  for (const int layer : {1, 2})
    recorder.record(RoutingRows(layer, {{0, 1}, {2, 3}, {4, 5}}).set_class(1, device::RowClass::prompt).view());
  recorder.end_step(std::vector<uint64_t>{1, 2});
  recorder.finish();
  const Trace trace = Trace::load(path());
  ASSERT_EQ(trace.sequences(), 2);
  EXPECT_EQ(ids(trace, 1, 0, 0), (std::vector<uint16_t>{4, 5}));
}

TEST_F(RouteRecording, ForgetsAStepThatFailed) {
  RouteRecorder recorder(settings());
  recorder.record(RoutingRows(1, {{0, 1}}).view());
  step(recorder, {{6, 7}}, {1});
  recorder.record(RoutingRows(1, {{0, 1}}).view());
  recorder.end_step(std::vector<uint64_t>{1});
  recorder.finish();
  const Trace trace = Trace::load(path());
  ASSERT_EQ(trace.tokens(), 1);
  EXPECT_EQ(ids(trace, 0, 0, 0), (std::vector<uint16_t>{6, 7}));
}

TEST_F(RouteRecording, SpoolsWhatEndedAndIsReadBackWhole) {
  RouteRecorder recorder(settings(2));
  for (uint64_t sequence = 0; sequence < 500; ++sequence)
    for (int32_t token = 0; token < 20; ++token)
      step(recorder, {{static_cast<int32_t>(sequence % 8), (token + 1) % 8}}, {sequence});
  recorder.finish();
  const Trace trace = Trace::load(path());
  ASSERT_EQ(trace.sequences(), 500);
  for (int sequence = 0; sequence < 500; ++sequence) {
    ASSERT_EQ(trace.length(sequence), 20);
    EXPECT_EQ(trace.at(sequence, 19, 0)[0], sequence % 8);
    EXPECT_EQ(trace.at(sequence, 19, 0)[1], 4);
  }
}

TEST_F(RouteRecording, WritesTwoByteIdsForManyExperts) {
  RecorderSettings wide{path(), {512}, 2};
  RouteRecorder recorder(wide);
  recorder.record(RoutingRows(0, {{511, 256}}).view());
  recorder.end_step(std::vector<uint64_t>{1});
  recorder.finish();
  EXPECT_EQ(ids(Trace::load(path()), 0, 0, 0), (std::vector<uint16_t>{511, 256}));
}

TEST_F(RouteRecording, SaysWhyItCannotRecord) {
  RecorderSettings nowhere = settings();
  nowhere.path = folder_.path("none/traffic.lrt");
  EXPECT_THROW(RouteRecorder{nowhere}, Error);
  RecorderSettings uneven = settings();
  uneven.experts = {8, 16};
  EXPECT_THROW(RouteRecorder{uneven}, Error);
}

TEST_F(RouteRecording, AFailureToWriteIsToldAndHarmless) {
  std::filesystem::create_directory(path());
  std::filesystem::create_directory(path() + "/in_the_way");
  RouteRecorder recorder(settings());
  step(recorder, {{0, 1}}, {1});
  recorder.finish();
  EXPECT_NE(recorder.failure(), "");
  EXPECT_EQ(warnings_.size(), 1U);
  step(recorder, {{0, 1}}, {1});
}

TEST_F(RouteRecording, TheFileIsWholeWhileRecordingGoesOn) {
  RecorderSettings often = settings(2);
  often.save_interval_seconds = 0.002;
  RouteRecorder recorder(often);
  int64_t seen = 0;
  for (uint64_t sequence = 0; seen < 2000 && sequence < 2000000; ++sequence) {
    for (int token = 0; token < 5; ++token) step(recorder, {{0, 1}, {2, 3}}, {2 * sequence, 2 * sequence + 1});
    if (!std::filesystem::exists(path())) continue;
    const Trace trace = Trace::load(path());
    EXPECT_GE(trace.tokens(), seen);
    EXPECT_LE(trace.tokens(), recorder.tokens());
    seen = trace.tokens();
  }
  EXPECT_GE(seen, 2000);
  recorder.save();
  EXPECT_EQ(Trace::load(path()).tokens(), recorder.tokens());
}

TEST_F(RouteRecording, AKilledProcessLosesAtMostTheLastInterval) {
  for (const int milliseconds : {3, 10, 17, 29, 41, 60}) {
    std::filesystem::remove(path());
    auto* const saved = static_cast<std::atomic<int64_t>*>(
        mmap(nullptr, sizeof(std::atomic<int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(static_cast<void*>(saved), MAP_FAILED);
    const pid_t child = fork();
    if (child == 0) {
      RecorderSettings often = settings(2);
      often.save_interval_seconds = 0.001;
      RouteRecorder recorder(often);
      for (uint64_t sequence = 0;; ++sequence) {
        for (int token = 0; token < 20; ++token) step(recorder, {{0, 1}, {2, 3}}, {2 * sequence, 2 * sequence + 1});
        recorder.save();
        *saved = recorder.tokens();
      }
    }
    while (*saved == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_GE(Trace::load(path()).tokens(), *saved);
    munmap(saved, sizeof(*saved));
  }
}

TEST_F(RouteRecording, NothingDecodedIsAnEmptyTrace) {
  { const RouteRecorder recorder(settings()); }
  EXPECT_EQ(Trace::load(path()).tokens(), 0);
}

}  // namespace
}  // namespace luce::experts
