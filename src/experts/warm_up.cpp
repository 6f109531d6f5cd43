#include "experts/warm_up.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace luce::experts {
namespace {

constexpr int64_t kInFlight = 8;  // keeps a demand fetch from waiting behind many

std::vector<ExpertId> every_expert(const ExpertSource& source) {
  std::vector<ExpertId> ids;
  int most = 0;
  for (int layer = 0; layer < source.layers(); ++layer) most = std::max(most, source.shape(layer).experts);
  for (int32_t expert = 0; expert < most; ++expert)
    for (int layer = 0; layer < source.layers(); ++layer)
      if (expert < source.shape(layer).experts) ids.push_back({layer, expert});
  return ids;
}

class WarmUp {
 public:
  WarmUp(ExpertTier& tier, const WarmRequest& request) : tier_(tier), request_(request) {
    const auto lock = tier_.lock();
    before_ = tier_.warmed(lock);
    int64_t free = 0;
    for (int layer = 0; layer < tier_.source().layers(); ++layer) free += tier_.cache(lock).free_slots(layer);
    wanted_ = std::llround(std::clamp(request.fill, 0.0, 1.0) * static_cast<double>(free));
  }

  WarmResult run() {
    const std::vector<ExpertId> all = request_.ranking.empty() ? every_expert(tier_.source()) : std::vector<ExpertId>{};
    const std::vector<ExpertId>& order = request_.ranking.empty() ? all : request_.ranking;
    WarmResult result;
    for (const ExpertId& id : order) {
      result.stopped = request_.stop && request_.stop->load(std::memory_order_relaxed);
      if (result.stopped || submitted_ >= wanted_) break;
      if (start(id)) settle(kInFlight - 1);
    }
    settle(0);
    const auto lock = tier_.lock();
    const WarmTally& after = tier_.warmed(lock);
    result.loaded = after.loaded - before_.loaded;
    result.failed = after.failed - before_.failed;
    if (result.failed > 0) result.first_failure = after.first_failure;
    return result;
  }

 private:
  bool start(const ExpertId& id) {
    const ExpertSource& source = tier_.source();
    if (id.layer < 0 || id.layer >= source.layers() || id.expert < 0 || id.expert >= source.shape(id.layer).experts)
      return false;
    const auto lock = tier_.lock();
    ExpertCache& cache = tier_.cache(lock);
    if (cache.find(id.layer, id.expert) != ExpertCache::kNoSlot) return false;
    const auto slot = cache.admit_free(id.layer, id.expert);
    if (!slot) return false;
    tier_.fetch(lock, {id.layer, id.expert, 0, *slot, FetchPriority::warm});
    ++submitted_;
    bytes_ += static_cast<int64_t>(source.fetch_bytes(id.layer));
    return true;
  }

  int64_t ended(const std::unique_lock<std::mutex>& lock) const {
    const WarmTally& now = tier_.warmed(lock);
    return now.loaded + now.failed - before_.loaded - before_.failed;
  }

  /// Waits until at most `in_flight` fetches run, then reports.
  void settle(int64_t in_flight) {
    int64_t done = 0;
    {
      auto lock = tier_.lock();
      while ((done = ended(lock)) + in_flight < submitted_) tier_.wait(lock);
    }
    if (request_.progress && done != reported_) request_.progress({done, wanted_, bytes_});
    reported_ = done;
  }

  ExpertTier& tier_;
  const WarmRequest& request_;
  WarmTally before_;
  int64_t wanted_ = 0, submitted_ = 0, bytes_ = 0, reported_ = 0;
};

}  // namespace

std::vector<ExpertId> rank_experts(const std::vector<std::vector<double>>& counts) {
  std::vector<std::pair<double, ExpertId>> shares;
  for (size_t layer = 0; layer < counts.size(); ++layer) {
    const double total = std::accumulate(counts[layer].begin(), counts[layer].end(), 0.0);
    for (size_t expert = 0; expert < counts[layer].size(); ++expert)
      if (counts[layer][expert] > 0.0)
        shares.push_back({counts[layer][expert] / total, {static_cast<int>(layer), static_cast<int32_t>(expert)}});
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ExpertId> ranking;
  for (const auto& [share, id] : shares) ranking.push_back(id);
  return ranking;
}

WarmResult warm_up(ExpertTier& tier, const WarmRequest& request) { return WarmUp(tier, request).run(); }

}  // namespace luce::experts
