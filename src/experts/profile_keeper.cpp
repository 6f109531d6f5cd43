#include "experts/profile_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "base/error.hpp"
#include "tensor/format.hpp"

namespace luce::experts {
namespace {

constexpr double kPromptWeight = 0.01;  // orders what only prompts used, behind what decoding used

constexpr double kFastShare = 0.2;  // of the latest uses in what the next start begins with

int64_t now_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

void add_faded(const std::vector<double>& loaded, double factor, std::vector<double>& counts) {
  for (size_t expert = 0; expert < counts.size(); ++expert) counts[expert] += loaded[expert] * factor;
}

bool fits(const LayerCounts& layer, int experts) { return layer.decode.size() == static_cast<size_t>(experts); }
bool fits(const std::vector<float>& layer, int experts) { return layer.size() == static_cast<size_t>(experts); }

/// Whether there is a list for each layer, with an entry for each of its experts.
template <typename Layer>
bool fits(const std::vector<Layer>& layers, const Usage& usage) {
  return std::equal(layers.begin(), layers.end(), usage.experts().begin(), usage.experts().end(),
                    [](const Layer& layer, int experts) { return fits(layer, experts); });
}

void check_shape(const Profile& profile, const Usage& usage) {
  bool right = fits(profile.layers, usage);
  for (const LabelCounts& tag : profile.tags) right = right && fits(tag.counts, usage);
  if (!right) fail(ErrorKind::invalid_file, "its lists do not have the model's layers and experts");
}

double sum(const std::vector<double>& counts) { return std::accumulate(counts.begin(), counts.end(), 0.0); }

/// What a layer's policy and slots start with: the window's counts, and for a part the latest uses.
std::vector<double> start_counts(const LayerCounts& layer) {
  std::vector<double> counts = layer.decode;
  add_faded(layer.prompt, kPromptWeight, counts);
  const double fast = sum(layer.fast);
  if (fast > 0) add_faded(layer.fast, kFastShare / (1 - kFastShare) * std::max(sum(counts), 1.0) / fast, counts);
  return counts;
}

/// "3 x A, 2 x B" for A A A B B.
class RunList {
 public:
  void add(const std::string& item) {
    if (item != item_) close();
    item_ = item;
    ++count_;
  }
  std::string text() {
    close();
    return text_;
  }

 private:
  void close() {
    if (count_ > 0) text_ += fmt::format("{}{} x {}", text_.empty() ? "" : ", ", count_, item_);
    count_ = 0;
  }
  std::string text_, item_;
  int count_ = 0;
};

}  // namespace

ProfileKeeper::ProfileKeeper(CachedExpertService& service, KeeperSettings settings)
    : service_(service),
      settings_(std::move(settings)),
      disk_(settings_.disk != nullptr ? *settings_.disk : real_disk_) {
  load();
}

ProfileKeeper::~ProfileKeeper() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ProfileKeeper::load() {
  state_ = {"active", "usage is kept", -1, 0, 0};
  try {
    const std::string text = read_whole_file(settings_.path);
    set_aside_ = true;
    if (is_ranking(text)) {
      adopt({settings_.model, 0, 0, import_ranking(text, service_.usage().experts()), {}});
      state_.reason = "started from a ranking of experts";
      return;
    }
    Profile profile = decode_profile(text, settings_.model);
    const int64_t saved_at = profile.saved_at;
    adopt(std::move(profile));
    saved_at_ = saved_at;
    set_aside_ = false;
  } catch (const Error& error) {
    const bool missing = error.kind() == ErrorKind::not_found;
    state_.state = missing ? "active" : "degraded";
    state_.reason = missing ? "there was no profile yet, so the start is cold"
                            : fmt::format("the profile was refused, so the start is cold: {}", error.what());
    if (settings_.warn) settings_.warn(fmt::format("router profile {}: {}", settings_.path, state_.reason));
  }
}

void ProfileKeeper::adopt(Profile profile) {
  check_shape(profile, service_.usage());
  std::vector<std::vector<double>> counts;
  for (const LayerCounts& layer : profile.layers) counts.push_back(start_counts(layer));
  for (size_t layer = 0; layer < counts.size(); ++layer)
    if (!counts[layer].empty()) service_.seed(static_cast<int>(layer), counts[layer]);
  ranking_ = rank_experts(counts);
  service_.request_usage().restore_tags(profile.tags);
  loaded_ = std::move(profile.layers);
}

Profile ProfileKeeper::current() const {
  const Usage& usage = service_.usage();
  Profile profile{settings_.model, now_seconds(), usage.tokens(), {}, service_.request_usage().tags()};
  const double factor = std::exp2(-static_cast<double>(profile.tokens) / settings_.fade_tokens);
  for (int layer = 0; layer < usage.layers(); ++layer) {
    LayerCounts counts;
    counts.fast = service_.fast_scores(layer);
    for (int32_t expert = 0; expert < usage.experts(layer); ++expert) {
      const UsageCount count = usage.in_window(layer, expert);
      counts.decode.push_back(static_cast<double>(count.decode));
      counts.prompt.push_back(static_cast<double>(count.prompt));
    }
    if (!loaded_.empty()) {
      add_faded(loaded_[static_cast<size_t>(layer)].decode, factor, counts.decode);
      add_faded(loaded_[static_cast<size_t>(layer)].prompt, factor, counts.prompt);
    }
    profile.layers.push_back(std::move(counts));
  }
  return profile;
}

void ProfileKeeper::save() {
  const std::lock_guard saving(save_mutex_);
  const Profile profile = current();
  {
    const std::lock_guard lock(mutex_);
    if (profile.tokens == saved_tokens_) return;
  }
  try {
    write(profile);
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    const bool first = state_.save_errors++ == 0;
    state_.state = "degraded";
    state_.reason = fmt::format("usage cannot be saved: {}", error.what());
    if (first && settings_.warn) settings_.warn(fmt::format("router profile: {}", state_.reason));
  }
}

void ProfileKeeper::write(const Profile& profile) {
  bool set_aside = false;
  {
    const std::lock_guard lock(mutex_);
    set_aside = set_aside_;
  }
  if (set_aside && disk_.rename(settings_.path, settings_.path + ".before") != 0)
    fail(ErrorKind::io, "{}: the file there is no profile of this model and cannot be renamed", settings_.path);
  {
    const std::lock_guard lock(mutex_);
    set_aside_ = false;
  }
  replace_file(disk_, settings_.path, encode_profile(profile));
  const std::lock_guard lock(mutex_);
  saved_at_ = profile.saved_at;
  saved_tokens_ = profile.tokens;
  ++state_.saves;
  state_.state = "active";
  state_.reason = "usage is kept";
}

void ProfileKeeper::start_saving() {
  thread_ = std::thread([this] { save_loop(); });
}

void ProfileKeeper::save_loop() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto interval = std::chrono::duration<double>(settings_.save_interval_seconds);
      if (wake_.wait_for(lock, interval, [this] { return closing_; })) return;
    }
    save();
  }
}

KeeperState ProfileKeeper::state() const {
  const std::lock_guard lock(mutex_);
  KeeperState state = state_;
  if (saved_at_ >= 0) state.age_seconds = static_cast<double>(std::max<int64_t>(0, now_seconds() - saved_at_));
  return state;
}

ModelFingerprint fingerprint(const CachedExpertService& service, std::string architecture, std::string name) {
  RunList shapes, formats;
  for (int layer = 0; layer < service.usage().layers(); ++layer) {
    const device::ExpertShape& shape = service.shape(layer);
    shapes.add(fmt::format("{}x{}x{}", shape.experts, shape.width, shape.inner));
    formats.add(fmt::format("{}/{}/{}", tensor::info(shape.gate).name, tensor::info(shape.up).name,
                            tensor::info(shape.down).name));
  }
  return {std::move(architecture), std::move(name), shapes.text(), formats.text()};
}

}  // namespace luce::experts
