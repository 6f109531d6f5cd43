#include "experts/traffic_shape.hpp"

#include <gtest/gtest.h>

#include <random>

#include "experts/trace.hpp"
#include "support/golden_path.hpp"

namespace luce::experts {
namespace {

void count_row(Usage& usage, int layer, const std::vector<int32_t>& experts) {
  std::vector<UsedExpert> used;
  for (const int32_t expert : experts) used.push_back({expert, 0, 1, 0.0F, 0.25F});
  usage.count({layer, 0, 1, used});
}

/// Usage of one layer of 64 experts, top 4.
struct Traffic {
  /// Rows spread evenly over the first `experts` experts.
  void even(int rows, int experts) {
    for (int i = 0; i < rows; ++i) {
      std::vector<int32_t> row;
      for (int k = 0; k < 4; ++k) row.push_back((i * 4 + k) % experts);
      count_row(usage, 0, row);
      usage.end_step(1);
    }
  }
  TrafficShape shape() const { return traffic_shape(usage, 4); }

  Usage usage{{64}, 1600};
};

TEST(TrafficShape, EvenTrafficIsSpreadOverAllExperts) {
  Traffic traffic;
  traffic.even(1600, 64);
  EXPECT_NEAR(traffic.shape().spread, 1.0, 1e-3);
  EXPECT_NEAR(traffic.shape().largest_share, 4.0 / 64, 1e-3);
  TrafficJudge judge;
  EXPECT_FALSE(judge.topic_is_narrow(traffic.shape()));
  EXPECT_FALSE(judge.one_expert_takes_more(traffic.shape(), 4.0 / 64));
}

TEST(TrafficShape, FewerExpertsThanBeforeAreANarrowTopic) {
  Traffic traffic;
  traffic.even(6400, 64);
  traffic.even(1700, 48);
  EXPECT_NEAR(traffic.shape().spread, 0.75, 0.02);
  EXPECT_GT(traffic.shape().spread_of_all, 0.95);
  TrafficJudge judge;
  EXPECT_TRUE(judge.topic_is_narrow(traffic.shape()));
  traffic.even(1700, 64);
  EXPECT_FALSE(judge.topic_is_narrow(traffic.shape()));
}

TEST(TrafficShape, VeryFewExpertsAreANarrowTopicWhateverWasBefore) {
  Traffic traffic;
  traffic.even(1700, 36);
  EXPECT_TRUE(TrafficJudge().topic_is_narrow(traffic.shape()));
}

TEST(TrafficShape, OneExpertInNearlyEveryRowIsNamedAndStaysByAMargin) {
  Traffic traffic;
  const auto rows = [&](int often, int other) {
    for (int i = 0; i < often + other; ++i) {
      const int32_t first = i < often ? 63 : i % 63;
      count_row(traffic.usage, 0, {first, (i + 9) % 63, (i + 20) % 63, (i + 40) % 63});
      traffic.usage.end_step(1);
    }
  };
  rows(1360, 240);
  TrafficJudge judge;
  EXPECT_EQ(traffic.shape().largest_expert, 63);
  EXPECT_TRUE(judge.one_expert_takes_more(traffic.shape(), 4.0 / 64));
  EXPECT_FALSE(judge.one_expert_takes_more(traffic.shape(), 0.25)) << "of few experts each serves many rows";
  TrafficShape shape = traffic.shape();
  shape.largest_share = 0.77;
  EXPECT_FALSE(judge.one_expert_takes_more(shape, 4.0 / 64));
  judge.one_expert_takes_more(traffic.shape(), 4.0 / 64);
  EXPECT_TRUE(judge.one_expert_takes_more(shape, 4.0 / 64));
}

/// The routing of some sequences of a trace as usage.
TrafficShape shape_of(const Trace& trace, int first, int end) {
  Usage usage(std::vector<int>(static_cast<size_t>(trace.layers()), trace.experts()), int64_t{1} << 30);
  for (int sequence = first; sequence < end; ++sequence)
    for (int64_t token = 0; token < trace.length(sequence); ++token)
      for (int layer = 0; layer < trace.layers(); ++layer) {
        const auto row = trace.at(sequence, token, layer);
        count_row(usage, layer, {row.begin(), row.end()});
      }
  return traffic_shape(usage, trace.top_k());
}

// What the limits were chosen by.
TEST(TrafficShape, MixedTracesAreNotNarrowAndSingleTextsAre) {
  const Trace demo = Trace::load(support::source_path("models/demo-routing.lrt"));
  const Trace mix = Trace::load(support::golden_path("traces/gpt-oss-20b_mix48_decode.lrt"));
  TrafficJudge judge;
  EXPECT_FALSE(judge.topic_is_narrow(shape_of(demo, 0, demo.sequences())));
  EXPECT_FALSE(judge.topic_is_narrow(shape_of(mix, 0, mix.sequences())));
  EXPECT_TRUE(TrafficJudge().topic_is_narrow(shape_of(mix, 0, 1)));
  TrafficShape one_topic = shape_of(demo, 4, 5);
  one_topic.spread_of_all = shape_of(demo, 0, demo.sequences()).spread;
  EXPECT_TRUE(TrafficJudge().topic_is_narrow(one_topic));
}

}  // namespace
}  // namespace luce::experts
