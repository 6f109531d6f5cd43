// The engine on a small hybrid recurrent model: what was reused or ran beside others gives what a fresh run gives.
#include <gtest/gtest.h>

#include <cmath>

#include "device/registry.hpp"
#include "engine/engine.hpp"
#include "engine/engine_fixture.hpp"
#include "experts/cached_expert_service.hpp"
#include "experts/gguf_source.hpp"
#include "model/blueprint.hpp"
#include "plan/memory_plan.hpp"
#include "support/golden_path.hpp"

namespace luce::engine {
namespace {

constexpr double kNearTie = 1e-3;  // two best log-probabilities closer than this may change places
constexpr model::StepLimits kNanoLimits{.context_tokens = 1024, .sequences = 3, .rows = 260, .logit_rows = 3};

class NanoModel {
 public:
  NanoModel()
      : file_(gguf::File::open(support::golden_path("models/qwen35moe-nano-f32.gguf"))),
        device_(device::make_device({.name = "cpu", .threads = 1, .isa = "auto"})),
        blueprint_(file_, *device_) {
    plan::MemoryRequest request;
    request.available_bytes = int64_t{4} << 30;
    request.context_tokens = kNanoLimits.context_tokens;
    request.sequences = kNanoLimits.sequences;
    request.chunk_rows = kNanoLimits.rows;
    request.output_rows = kNanoLimits.logit_rows;
    request.expert_share = 0.5;
    const plan::MemoryPlan plan = plan::plan_memory(blueprint_.shape(), request);
    auto source = std::make_unique<experts::GgufExpertSource>(file_, *device_, blueprint_.hyperparameters().layers);
    service_ = std::make_unique<experts::CachedExpertService>(std::move(source), *device_,
                                                              experts::CacheSettings{.tier = {.slots = plan.slots}});
    model_ =
        model::load(blueprint_, *device_, service_.get(), {.limits = kNanoLimits, .kv_format = tensor::Format::f32});
  }
  model::Model& operator*() { return *model_; }

 private:
  gguf::File file_;
  std::unique_ptr<device::Device> device_;
  model::Blueprint blueprint_;
  std::unique_ptr<experts::CachedExpertService> service_;
  std::unique_ptr<model::Model> model_;
};

Request with_logprobs(std::vector<int32_t> tokens, int max_tokens, bool use_cache = true) {
  Request request = greedy(std::move(tokens), max_tokens);
  request.sampling.logprobs = true;
  request.sampling.top_logprobs = 2;
  request.use_prompt_cache = use_cache;
  return request;
}

Outcome run(Engine& engine, Request request) {
  RequestHandle handle = accepted(engine.submit(std::move(request)));
  return read_all(handle);
}

// Equal tokens, or a first difference at a near tie; the first log-probability agrees.
void expect_same(const Outcome& got, const Outcome& fresh) {
  ASSERT_FALSE(fresh.events.empty());
  EXPECT_NEAR(got.events.at(0).top.at(0).logprob, fresh.events[0].top.at(0).logprob, 1e-3);
  for (size_t i = 0; i < std::min(got.events.size(), fresh.events.size()); ++i) {
    if (got.tokens[i] == fresh.tokens[i]) continue;
    const auto& top = fresh.events[i].top;
    EXPECT_LT(top.at(0).logprob - top.at(1).logprob, kNearTie) << "token " << i;
    return;
  }
  EXPECT_EQ(got.tokens.size(), fresh.tokens.size());
}

TEST(RealModel, EditedAndGrownPromptsEqualFreshOnes) {
  NanoModel reused, fresh;
  Engine engine(*reused, {.prompt_cache_bytes = 8 << 20});
  Engine reference(*fresh, {});
  std::mt19937 random(1);
  std::vector<int32_t> chat = random_tokens(80, 1);
  int64_t cached = 0;
  for (uint32_t round = 0; round < 20; ++round) {
    const size_t edited = random() % chat.size();
    if (round % 2) chat[edited] ^= 1;
    const std::vector<int32_t> more = random_tokens(30, 100 + round);
    chat.insert(chat.end(), more.begin(), more.end());
    Request request = with_logprobs(chat, 8);
    request.turn_ends = {static_cast<int>(chat.size()) - 30, static_cast<int>(chat.size()) - 4};
    const Outcome got = run(engine, std::move(request));
    expect_same(got, run(reference, with_logprobs(chat, 8, false)));
    const auto served = static_cast<size_t>(got.finished->stats.cached_tokens);
    EXPECT_LE(served, round % 2 ? edited : chat.size()) << "not beyond an edit";
    cached += static_cast<int64_t>(served);
    EXPECT_LE(engine.status().cached_state_bytes, size_t{8} << 20);
  }
  EXPECT_GT(cached, 2000);
}

TEST(RealModel, AppendOnlyChatsComputeTheNewTokensOnly) {
  NanoModel nano;
  Engine engine(*nano, {});
  std::vector<int32_t> chat = random_tokens(60, 3);
  for (uint32_t turn = 0; turn < 8; ++turn) {
    const Outcome got = run(engine, with_logprobs(chat, 8));
    const int computed = got.finished->stats.prompt_tokens - got.finished->stats.cached_tokens;
    EXPECT_LE(computed, turn == 0 ? 60 : 8 + 40 + 32);
    chat.insert(chat.end(), got.tokens.begin(), got.tokens.end());
    const std::vector<int32_t> more = random_tokens(40, 50 + turn);
    chat.insert(chat.end(), more.begin(), more.end());
  }
}

TEST(RealModel, SequencesBesideOthersEqualThoseAlone) {
  NanoModel shared, alone;
  Engine engine(*shared, {});
  Engine reference(*alone, {});
  std::vector<std::vector<int32_t>> prompts;
  std::vector<RequestHandle> handles;
  for (uint32_t i = 0; i < 6; ++i) {
    prompts.push_back(random_tokens(20 + 70 * static_cast<int>(i), i));
    handles.push_back(accepted(engine.submit(with_logprobs(prompts.back(), 24))));
  }
  for (size_t i = 0; i < handles.size(); ++i)
    expect_same(read_all(handles[i]), run(reference, with_logprobs(prompts[i], 24, false)));
}

}  // namespace
}  // namespace luce::engine
