// Whether router weights in the score make hot-score better: records the routing of a model that decodes texts, with
// the mixing weights, and replays it with uses that count 1, their weight, or something between.
// Usage: bench_router_weights MODEL.gguf TOKENS.txt... (each text a sequence of its own)
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "device/registry.hpp"
#include "experts/cached_expert_service.hpp"
#include "experts/expert_cache.hpp"
#include "experts/gguf_source.hpp"
#include "experts/hot_score.hpp"
#include "experts/route_recorder.hpp"
#include "model/blueprint.hpp"
#include "model/transformer.hpp"

namespace {

using namespace luce;
using namespace luce::experts;

constexpr int kTokensOfText = 768;

/// One layer's routing of one token.
struct Choice {
  int layer = 0;
  std::vector<int32_t> ids;
  std::vector<float> weights;
};

/// Writes down what passes to another service.
class Notebook final : public device::ExpertService {
 public:
  explicit Notebook(device::ExpertService& inner) : inner_(inner) {}
  const device::ExpertShape& shape(int layer) const override { return inner_.shape(layer); }
  device::Dispatch& start(const device::Routing& routing) override {
    const auto pairs = static_cast<size_t>(routing.rows * routing.top_k);
    choices.push_back({routing.layer, {routing.ids, routing.ids + pairs}, {routing.weights, routing.weights + pairs}});
    return inner_.start(routing);
  }
  void end_step() override { inner_.end_step(); }

  std::vector<Choice> choices;

 private:
  device::ExpertService& inner_;
};

std::vector<int32_t> read_ids(const char* path) {
  std::ifstream file(path);
  std::vector<int32_t> ids{std::istream_iterator<int32_t>(file), {}};
  if (ids.empty()) fail(ErrorKind::usage, "{} holds no token ids", path);
  ids.resize(std::min<size_t>(ids.size(), kTokensOfText));
  return ids;
}

std::vector<Choice> record(const gguf::File& file, const std::vector<std::vector<int32_t>>& texts,
                           std::vector<int>& experts) {
  const auto device = device::make_device({.name = "cpu", .threads = 1, .isa = "auto"});
  const model::Blueprint blueprint(file, *device);
  auto source = std::make_unique<GgufExpertSource>(file, *device, blueprint.hyperparameters().layers);
  CacheSettings settings;
  for (int layer = 0; layer < source->layers(); ++layer) experts.push_back(source->shape(layer).experts);
  settings.tier.slots = experts;
  CachedExpertService service(std::move(source), *device, settings);
  Notebook notebook(service);
  const model::LoadSettings load{{.context_tokens = kTokensOfText, .sequences = 1, .rows = 1, .logit_rows = 1},
                                 tensor::Format::f16};
  const auto model = model::load(blueprint, *device, &notebook, load, {});
  for (const std::vector<int32_t>& ids : texts)
    for (int position = 0; position < static_cast<int>(ids.size()); ++position) {
      model::Batch batch;
      batch.tokens = {ids[static_cast<size_t>(position)]};
      batch.spans = {{0, 0, 1, position, device::RowClass::decode}};
      batch.logit_rows = {0};
      model->forward(batch);
    }
  return std::move(notebook.choices);
}

double hit_ratio(const std::vector<Choice>& choices, const std::vector<int>& experts, double resident, double share) {
  HotScoreSettings settings;
  settings.weight_share = share;
  const PolicyFactory factory = [&](int, int count) { return std::make_unique<HotScore>(count, settings); };
  std::vector<int> slots;
  for (const int count : experts) slots.push_back(static_cast<int>(resident * count + 0.5));
  CounterTable counters(static_cast<int>(experts.size()));
  ExpertCache cache({experts, slots}, factory, counters);
  RoutingDigest digest(*std::max_element(experts.begin(), experts.end()));
  const device::RowClass decode = device::RowClass::decode;
  for (const Choice& choice : choices) {
    const device::Routing routing{choice.layer,          1,      static_cast<int>(choice.ids.size()), choice.ids.data(),
                                  choice.weights.data(), &decode};
    const LayerUse use = digest.digest(routing, experts[static_cast<size_t>(choice.layer)]);
    cache.begin_step(use);
    for (const UsedExpert& used : use.experts)
      if (cache.find(use.layer, used.expert) == ExpertCache::kNoSlot)
        if (const auto slot = cache.admit(use.layer, used.expert)) cache.loaded(*slot);
  }
  const AccessCount all = counters.total().all;
  return static_cast<double>(all.hits) / static_cast<double>(all.accesses());
}

void compare(const std::vector<Choice>& choices, const std::vector<int>& experts) {
  constexpr double kShares[] = {0, 0.25, 0.5, 0.75, 1};
  std::printf("hits in per cent by the share of the router weight in a use\n%9s", "resident");
  for (const double share : kShares) std::printf(" %8.2f", share);
  for (const double resident : {0.125, 0.25, 0.5, 0.6}) {
    std::printf("\n%7.1f %%", 100 * resident);
    for (const double share : kShares) std::printf(" %8.2f", 100 * hit_ratio(choices, experts, resident, share));
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: bench_router_weights MODEL.gguf TOKENS.txt...\n");
    return 2;
  }
  try {
    std::vector<std::vector<int32_t>> texts;
    for (int i = 2; i < argc; ++i) texts.push_back(read_ids(argv[i]));
    std::vector<int> experts;
    const std::vector<Choice> choices = record(gguf::File::open(argv[1]), texts, experts);
    compare(choices, experts);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
