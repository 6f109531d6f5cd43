// What a usage profile is worth at the start of a sequence: hit ratio over its first tokens with a warm cache against a
// cold one, at 60 % resident. Usage: bench_warm_start TRACE.lrt
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "experts/replay.hpp"

namespace {

using namespace luce;
using namespace luce::experts;

using Profile = std::vector<std::vector<double>>;
constexpr int64_t kLengths[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
constexpr size_t kCount = std::size(kLengths);

template <typename Work>
void in_parallel(size_t count, Work work) {
  std::atomic<size_t> next{0};
  const auto loop = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::thread other(loop);
  loop();
  other.join();
}

Trace first_tokens(const Trace& trace, int sequence, int64_t tokens) {
  Trace cut(trace.layers(), trace.experts(), trace.top_k());
  cut.add_sequence();
  std::vector<uint16_t> ids;
  for (int64_t token = 0; token < std::min(tokens, trace.length(sequence)); ++token) {
    ids.clear();
    for (int layer = 0; layer < trace.layers(); ++layer)
      for (const uint16_t expert : trace.at(sequence, token, layer)) ids.push_back(expert);
    cut.add_token(ids);
  }
  return cut;
}

struct Study {
  explicit Study(const Trace& whole) : trace(whole) {
    for (int s = 0; s < trace.sequences(); ++s)
      for (const int64_t tokens : kLengths) starts.push_back(first_tokens(trace, s, tokens));
    cold.resize(starts.size());
    in_parallel(starts.size(), [&](size_t i) { cold[i] = hits(i, nullptr); });
  }

  double hits(size_t start, const Profile* profile) const {
    const int slots = static_cast<int>(std::lround(0.6 * trace.experts()));
    return replay(starts[start], {"hot-score", slots, 1, profile}).hit_ratio();
  }
  Profile counts(const std::vector<int>& sequences) const {
    Profile profile(static_cast<size_t>(trace.layers()), std::vector<double>(static_cast<size_t>(trace.experts())));
    for (const int s : sequences)
      for (int64_t token = 0; token < trace.length(s); ++token)
        for (int layer = 0; layer < trace.layers(); ++layer)
          for (const uint16_t expert : trace.at(s, token, layer)) profile[static_cast<size_t>(layer)][expert] += 1;
    return profile;
  }

  const Trace& trace;
  std::vector<Trace> starts;  // [sequences, lengths]
  std::vector<double> cold;   // hit ratio of each
};

void half_for_half(const Study& study) {
  std::vector<int> parts[2];
  for (int s = 0; s < study.trace.sequences(); ++s) parts[s % 2].push_back(s);
  const Profile profiles[2] = {study.counts(parts[0]), study.counts(parts[1])};
  std::vector<double> warm(study.starts.size());
  in_parallel(warm.size(), [&](size_t i) { warm[i] = study.hits(i, &profiles[1 - (i / kCount) % 2]); });
  std::printf("%8s %8s %8s\n", "tokens", "cold", "warm");
  for (size_t l = 0; l < kCount; ++l) {
    double cold_sum = 0, warm_sum = 0;
    for (size_t i = l; i < warm.size(); i += kCount) cold_sum += study.cold[i], warm_sum += warm[i];
    const auto sequences = static_cast<double>(study.trace.sequences());
    std::printf("%8ld %8.4f %8.4f\n", static_cast<long>(kLengths[l]), cold_sum / sequences, warm_sum / sequences);
  }
}

void one_for_the_rest(const Study& study) {
  const auto sequences = static_cast<size_t>(study.trace.sequences());
  std::vector<double> worst(sequences, 1.0);
  in_parallel(sequences, [&](size_t source) {
    const Profile profile = study.counts({static_cast<int>(source)});
    for (size_t l = 0; l < kCount; ++l) {
      double difference = 0;
      for (size_t s = 0; s < sequences; ++s)
        if (s != source) difference += study.hits(s * kCount + l, &profile) - study.cold[s * kCount + l];
      worst[source] = std::min(worst[source], difference / static_cast<double>(sequences - 1));
    }
  });
  std::printf("one sequence as profile for the rest: the worst source and length gains %+.4f over cold\n",
              *std::min_element(worst.begin(), worst.end()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bench_warm_start TRACE.lrt\n");
    return 2;
  }
  try {
    const Trace trace = Trace::load(argv[1]);
    const Study study(trace);
    half_for_half(study);
    one_for_the_rest(study);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
