// What counting, policy, metrics and tracing cost, each as a share of decode time on the demo model: the same tokens
// with it and without it, a few at a time in turn, in one process, on one thread; the median over all tokens of the
// ratio of CPU times.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bare_service.hpp"
#include "base/error.hpp"
#include "device/registry.hpp"
#include "engine/metrics.hpp"
#include "experts/cached_expert_service.hpp"
#include "experts/gguf_source.hpp"
#include "experts/route_recorder.hpp"
#include "experts/trace.hpp"
#include "model/blueprint.hpp"

namespace {

using namespace luce;

constexpr int kTokens = 256;    // of a round
constexpr int kBlock = 8;       // tokens before the next variant has its turn
constexpr int kNotCounted = 2;  // of a block, while caches fill
constexpr int kScrapeEvery = 1000;
constexpr model::StepLimits kLimits{.context_tokens = 512, .sequences = 1, .rows = 65, .logit_rows = 1};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// One way to decode, with a model of its own.
struct Variant {
  const char* name;
  std::unique_ptr<model::Model> model;
  std::function<void()> after_token;
  std::vector<double> seconds = std::vector<double>(kTokens);  // of each token of the last round
};

class Bench {
 public:
  explicit Bench(const std::string& folder)
      : file_(gguf::File::open(folder + "/models/demo-q4_k_m.gguf")),
        device_(device::make_device({.name = "cpu", .threads = 1, .isa = "auto"})),
        blueprint_(file_, *device_),
        source_(file_, *device_, blueprint_.hyperparameters().layers),
        bare_(source_, *device_),
        trace_(experts::Trace::load(folder + "/models/demo-routing.lrt")),
        metrics_(&registry_) {
    std::ifstream ids(folder + "/tests/golden/demo/validation-en.txt");
    tokens_.assign(std::istream_iterator<int32_t>(ids), {});
    if (tokens_.size() < kTokens) fail(ErrorKind::not_found, "no validation text below '{}'", folder);
    add("bare", bare_);
    add("lru", cached("lru"));
    add("hot-score", cached("hot-score"));
    add_traced();
    add("metered", cached("hot-score")).after_token = [this] { meter(); };
  }

  void round(int number) {
    for (int block = 0; block < kTokens / kBlock; ++block)
      for (size_t i = 0; i < variants_.size(); ++i)
        decode(variants_[(i + static_cast<size_t>(number + block)) % variants_.size()], block * kBlock);
    counting_seconds_ = count_only() / kTokens;
  }
  const std::vector<double>& seconds(const std::string& name) const {
    return std::find_if(variants_.begin(), variants_.end(), [&](const Variant& v) { return name == v.name; })->seconds;
  }
  double counting_seconds() const { return counting_seconds_; }

 private:
  Variant& add(const char* name, device::ExpertService& service) {
    variants_.push_back({name, model::load(blueprint_, *device_, &service, {.limits = kLimits}), [] {}});
    return variants_.back();
  }
  experts::CachedExpertService& cached(const char* policy) {
    experts::CacheSettings settings;
    settings.tier.slots.assign(static_cast<size_t>(source_.layers()), blueprint_.hyperparameters().experts);
    settings.tier.policy = experts::PolicySpec::parse(policy);
    services_.push_back(std::make_unique<experts::CachedExpertService>(
        std::make_unique<experts::GgufExpertSource>(file_, *device_, source_.layers()), *device_, settings));
    services_.back()->warm({});
    return *services_.back();
  }
  void add_traced() {
    experts::CachedExpertService& service = cached("hot-score");
    experts::RecorderSettings settings{.path = "bench_cache_cost.lrt", .experts = service.usage().experts()};
    settings.top_k = blueprint_.hyperparameters().experts_used;
    recorder_.emplace(std::move(settings));
    recording_ = std::make_unique<experts::RecordingService>(service, *recorder_);
    add("traced", *recording_).after_token = [this] {
      const uint64_t sequence = 0;
      recorder_->end_step({&sequence, 1});
    };
  }
  void meter() {
    metrics_.prompt_rows(0);
    metrics_.next_token(std::chrono::microseconds(400));
    metrics_.set_running(1);
    metrics_.set_cached_state(0);
    if (++metered_ % kScrapeEvery == 0) (void)registry_.render();
  }
  void decode(Variant& variant, int first) const {
    for (int position = first; position < first + kBlock; ++position) {
      const double begin = cpu_seconds();
      model::Batch batch;
      batch.tokens = {tokens_[static_cast<size_t>(position)]};
      batch.spans = {{0, 0, 1, position, device::RowClass::decode}};
      batch.logit_rows = {0};
      variant.model->forward(batch);
      variant.after_token();
      variant.seconds[static_cast<size_t>(position)] = cpu_seconds() - begin;
    }
  }
  /// The digest of a routing, usage and counters, for as many tokens as decode() has.
  double count_only() {
    const double begin = cpu_seconds();
    std::vector<float> weights(static_cast<size_t>(trace_.top_k()), 0.25F);
    std::vector<int32_t> ids(weights.size());
    const device::RowClass row_class = device::RowClass::decode;
    for (int token = 0; token < kTokens; ++token) {
      for (int layer = 0; layer < trace_.layers(); ++layer) {
        std::copy_n(trace_.at(0, token, layer).begin(), ids.size(), ids.begin());
        const device::Routing routing{layer, 1, trace_.top_k(), ids.data(), weights.data(), &row_class};
        const experts::LayerUse use = digest_.digest(routing, trace_.experts());
        usage_.count(use);
        for (size_t i = 0; i < use.experts.size(); ++i) {
          counters_.add(layer, experts::CounterTable::Field::hits);
          counters_.add(layer, experts::CounterTable::Field::decode_hits);
        }
      }
      usage_.end_step(1);
    }
    return cpu_seconds() - begin;
  }

  gguf::File file_;
  std::unique_ptr<device::Device> device_;
  model::Blueprint blueprint_;
  experts::GgufExpertSource source_;
  bench::BareService bare_;
  experts::Trace trace_;
  telemetry::Registry registry_;
  engine::Metrics metrics_;
  std::vector<std::unique_ptr<experts::CachedExpertService>> services_;
  std::optional<experts::RouteRecorder> recorder_;
  std::unique_ptr<experts::RecordingService> recording_;
  std::vector<Variant> variants_;
  std::vector<int32_t> tokens_;
  experts::RoutingDigest digest_{trace_.experts()};
  experts::Usage usage_{std::vector<int>(static_cast<size_t>(trace_.layers()), trace_.experts()), 10'000};
  experts::CounterTable counters_{trace_.layers()};
  int metered_ = 0;
  double counting_seconds_ = 0;  // of a token
};

struct Cost {
  const char* name;
  const char* with;  // null: counting alone
  const char* without;
  std::vector<double> shares = {};  // of decode time, one a token

  void add(const Bench& bench) {
    const std::vector<double>& base = bench.seconds(without);
    for (size_t i = 0; i < base.size(); ++i) {
      if (i % kBlock < kNotCounted) continue;
      const double extra = with == nullptr ? bench.counting_seconds() : bench.seconds(with)[i] - base[i];
      shares.push_back(extra / base[i]);
    }
  }
};

double quantile(std::vector<double>& values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

void run(const std::string& folder, int rounds) {
  Bench bench(folder);
  std::vector<Cost> costs = {{"counting (alone)", nullptr, "bare"},
                             {"policy: hot-score against lru", "hot-score", "lru"},
                             {"metrics: with against without", "metered", "hot-score"},
                             {"tracing: with against without", "traced", "hot-score"},
                             {"the whole cache against none", "hot-score", "bare"}};
  std::vector<double> token_us;
  bench.round(0);
  for (int i = 1; i <= rounds; ++i) {
    bench.round(i);
    for (const double seconds : bench.seconds("hot-score")) token_us.push_back(seconds * 1e6);
    for (Cost& each : costs) each.add(bench);
  }
  std::printf("%d rounds of %d tokens, %.0f us a token\n", rounds, kTokens, quantile(token_us, 0.5));
  for (Cost& each : costs)
    std::printf("  %-32s %6.2f %% (quartiles %.2f to %.2f)\n", each.name, 100 * quantile(each.shares, 0.5),
                100 * quantile(each.shares, 0.25), 100 * quantile(each.shares, 0.75));
  std::remove("bench_cache_cost.lrt");
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(count > 1 ? arguments[1] : ".", count > 2 ? std::stoi(arguments[2]) : 40);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_cache_cost: %s\n", error.what());
    return 1;
  }
}
