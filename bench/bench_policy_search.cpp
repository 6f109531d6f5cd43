// Compares eviction policies on recorded routings and chooses hot-score's constants leave-one-trace-out.
// Usage: bench_policy_search FOLDER [grid]   with the .lrt files of tests/golden/traces in FOLDER.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "experts/decayed_counts.hpp"
#include "experts/hot_score.hpp"
#include "experts/replay.hpp"

namespace {

using namespace luce;
using namespace luce::experts;

constexpr const char* kTraces[] = {"gpt-oss-20b_mix8",
                                   "gpt-oss-20b_mix48_decode",
                                   "deepseek-v2-lite_switch4",
                                   "qwen3-30b-a3b_top6_decode128",
                                   "gemma4-26b-a4b_top6_decode128",
                                   "gpt-oss-120b_top2_decode64"};
constexpr int kStreams[] = {1, 4, 8};
constexpr double kShares[] = {0.125, 0.25, 0.5, 0.6};
constexpr double kLeastGap = 0.005;  // in hit ratio; smaller ones are noise

/// One trace at one size and number of streams, with the two ends of the scale.
struct Point {
  size_t trace = 0;
  int streams = 1, slots = 0;
  double share = 0, lru = 0, opt = 0;
};

struct Suite {
  std::deque<Trace> traces;
  std::vector<Point> points;
};

template <typename Work>
void in_parallel(size_t count, Work work) {
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::max(1U, std::thread::hardware_concurrency()); ++t) threads.emplace_back(loop);
  loop();
  for (std::thread& thread : threads) thread.join();
}

Suite load_suite(const std::string& folder) {
  Suite suite;
  for (const char* name : kTraces) suite.traces.push_back(Trace::load(folder + "/" + name + ".lrt"));
  std::vector<Point> all;
  for (const int streams : kStreams)
    for (size_t t = 0; t < suite.traces.size(); ++t)
      for (const double share : kShares)
        if (suite.traces[t].sequences() >= streams)
          all.push_back({t, streams, static_cast<int>(std::lround(share * suite.traces[t].experts())), share, 0, 0});
  in_parallel(all.size(), [&](size_t i) {
    Point& p = all[i];
    p.lru = replay(suite.traces[p.trace], {"lru", p.slots, p.streams}).hit_ratio();
    p.opt = replay(suite.traces[p.trace], {"opt", p.slots, p.streams}).hit_ratio();
  });
  for (const Point& p : all)
    if (p.opt - p.lru > kLeastGap) suite.points.push_back(p);
  return suite;
}

/// Hit ratio of a policy at every point.
std::vector<double> evaluate(const Suite& suite, const PolicyFactory& factory) {
  std::vector<double> hits(suite.points.size());
  in_parallel(hits.size(), [&](size_t i) {
    const Point& p = suite.points[i];
    hits[i] = replay(suite.traces[p.trace], {"", p.slots, p.streams}, factory).hit_ratio();
  });
  return hits;
}

double gap_closed(const Point& p, double hits) { return (hits - p.lru) / (p.opt - p.lru); }

/// Mean over the points that `counts` accepts; 0 if there is none.
template <typename Counts>
double mean_gap(const Suite& suite, const std::vector<double>& hits, Counts counts) {
  double sum = 0;
  int points = 0;
  for (size_t i = 0; i < hits.size(); ++i)
    if (counts(suite.points[i])) {
      sum += gap_closed(suite.points[i], hits[i]);
      ++points;
    }
  return points > 0 ? sum / points : 0;
}

void print_row(const Suite& suite, const std::string& name, const std::vector<double>& hits) {
  std::printf("%-44s", name.c_str());
  for (const int streams : kStreams)
    std::printf(" %6.2f", 100 * mean_gap(suite, hits, [&](const Point& p) { return p.streams == streams; }));
  double worst = 1;
  for (size_t i = 0; i < hits.size(); ++i) worst = std::min(worst, hits[i] - suite.points[i].lru);
  std::printf("   %+6.2f\n", 100 * worst);
  std::fflush(stdout);
}

/// Two decayed counts of different speed, added.
class TwoSpeeds final : public LayerPolicy {
 public:
  TwoSpeeds(int experts, double fast, double slow, double weight)
      : fast_(experts, fast), slow_(experts, slow), weight_(weight) {}
  void record(const LayerUse& use) override {
    ++now_;
    for (const UsedExpert& used : use.experts) {
      fast_.add(used.expert, now_, used.decode_rows);
      slow_.add(used.expert, now_, used.decode_rows);
    }
  }
  double keep_value(int32_t expert) const override { return fast_.at(expert, now_) + weight_ * slow_.at(expert, now_); }

 private:
  DecayedCounts fast_, slow_;
  double weight_;
  int64_t now_ = 0;
};

PolicyFactory hot_score(const HotScoreSettings& settings) {
  return [settings](int, int experts) { return std::make_unique<HotScore>(experts, settings); };
}

PolicyFactory two_speeds(double fast, double slow, double weight) {
  return [=](int, int experts) { return std::make_unique<TwoSpeeds>(experts, fast, slow, weight); };
}

template <typename Change>
HotScoreSettings changed(Change change) {
  HotScoreSettings settings;
  change(settings);
  return settings;
}

void print_comparison(const Suite& suite) {
  std::printf("%% of the gap from LRU to OPT closed, mean over %zu points\n", suite.points.size());
  std::printf("%-44s %6s %6s %6s   worst point against LRU\n", "policy", "1", "4", "8 streams");
  for (const char* name : {"lfu", "decay:8", "decay:16", "decay:32", "decay:64", "class-lru:64", "age-crf:64"})
    print_row(suite, name, evaluate(suite, PolicySpec::parse(name).factory()));
  print_row(suite, "decay:16, each row counts", evaluate(suite, two_speeds(16, 16, 0)));
  print_row(suite, "decay:4 + 0.2 decay:32", evaluate(suite, two_speeds(4, 32, 0.2)));
  print_row(suite, "decay:8 + 0.1 decay:64", evaluate(suite, two_speeds(8, 64, 0.1)));
  print_row(suite, "decay:8 + 0.05 decay:512", evaluate(suite, two_speeds(8, 512, 0.05)));
  print_row(suite, "hot-score", evaluate(suite, hot_score({})));
  const auto variant = [&suite](const char* name, auto change) {
    print_row(suite, name, evaluate(suite, hot_score(changed(change))));
  };
  using S = HotScoreSettings;
  variant("hot-score without context", [](S& s) { s.power = 0; });
  variant("hot-score, context of one token", [](S& s) { s.second_weight = 0; });
  variant("hot-score, transitions never fade", [](S& s) { s.transitions.half_life_rows = 1e9; });
  variant("hot-score, transitions fade in 100 rows", [](S& s) { s.transitions.half_life_rows = 100; });
  variant("hot-score, no prior", [](S& s) { s.transitions.prior = 0.01; });
  variant("hot-score, prior of 16 rows", [](S& s) { s.transitions.prior = 16; });
  variant("hot-score, no floor under shares", [](S& s) { s.transitions.floor = 1e-4; });
  variant("hot-score, lift alone", [](S& s) { s.lift_floor = 0, s.power = 1; });
  variant("hot-score, lift^2 without floor", [](S& s) { s.lift_floor = 0, s.power = 2; });
  variant("hot-score, (lift + 0.25)^2", [](S& s) { s.lift_floor = 0.25, s.power = 2; });
  variant("hot-score, (lift + 1)^5", [](S& s) { s.power = 5; });
  variant("hot-score, half-life 12", [](S& s) { s.half_life_tokens = 12; });
  variant("hot-score, half-life 48", [](S& s) { s.half_life_tokens = 48; });
}

std::vector<HotScoreSettings> constants_grid() {
  std::vector<HotScoreSettings> grid;
  for (const double half_life : {16.0, 24.0, 32.0})
    for (const double rows : {250.0, 500.0, 1000.0})
      for (const double second : {0.0, 0.3})
        for (const auto& [floor, power] : {std::pair{0.0, 1}, std::pair{0.25, 2}, std::pair{1.0, 3}}) {
          HotScoreSettings settings;
          settings.half_life_tokens = half_life;
          settings.transitions.half_life_rows = rows;
          settings.second_weight = second;
          settings.lift_floor = floor;
          settings.power = power;
          grid.push_back(settings);
        }
  return grid;
}

/// Each trace is judged with the constants that are best on the others.
void leave_one_out(const Suite& suite) {
  const std::vector<HotScoreSettings> grid = constants_grid();
  std::vector<std::vector<double>> hits;
  for (const HotScoreSettings& settings : grid) hits.push_back(evaluate(suite, hot_score(settings)));
  std::vector<double> judged(suite.points.size());
  for (size_t left_out = 0; left_out < suite.traces.size(); ++left_out) {
    const auto others = [&](size_t g) {
      double sum = 0;
      for (const int streams : kStreams)
        sum += mean_gap(suite, hits[g], [&](const Point& p) { return p.streams == streams && p.trace != left_out; });
      return sum;
    };
    size_t best = 0;
    for (size_t g = 1; g < grid.size(); ++g)
      if (others(g) > others(best)) best = g;
    const HotScoreSettings& s = grid[best];
    std::printf("without %-30s half-life %.0f, rows %.0f, second %.1f, floor %.2f, power %d\n", kTraces[left_out],
                s.half_life_tokens, s.transitions.half_life_rows, s.second_weight, s.lift_floor, s.power);
    for (size_t i = 0; i < judged.size(); ++i)
      if (suite.points[i].trace == left_out) judged[i] = hits[best][i];
  }
  print_row(suite, "leave one trace out", judged);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_policy_search FOLDER_OF_TRACES [grid]\n");
    return 2;
  }
  try {
    const Suite suite = load_suite(argv[1]);
    print_comparison(suite);
    if (argc > 2) leave_one_out(suite);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
