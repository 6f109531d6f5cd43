#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "experts/cached_expert_service.hpp"
#include "experts/profile.hpp"
#include "experts/profile_file.hpp"

namespace luce::experts {

struct KeeperSettings {
  std::string path;
  ModelFingerprint model;
  double save_interval_seconds = 30;
  double fade_tokens = 10'000;  // half-life of what was loaded
  std::function<void(const std::string&)> warn = {};
  ProfileDisk* disk = nullptr;  // null: the real one
};

struct KeeperState {
  std::string state;  // active or degraded
  std::string reason;
  double age_seconds = -1;  // since the profile on disk was saved; below 0: there is none
  uint64_t saves = 0;
  uint64_t save_errors = 0;
};

/// Remembers usage over restarts: seeds the cache from a profile, then saves usage at intervals and when asked.
/// A profile that cannot be used or written costs a warning, never more; what is refused is moved to PATH.before
/// by the first save, not lost. Methods may be called from any thread.
class ProfileKeeper {
 public:
  /// Loads and seeds. `service` must outlive this.
  ProfileKeeper(CachedExpertService& service, KeeperSettings settings);
  /// Ends the saving thread without a last save.
  ~ProfileKeeper();
  ProfileKeeper(const ProfileKeeper&) = delete;
  ProfileKeeper& operator=(const ProfileKeeper&) = delete;

  /// The experts of the loaded profile, most wanted first; empty after a cold start.
  const std::vector<ExpertId>& ranking() const { return ranking_; }

  void start_saving();
  /// Saves if anything was routed since the last save.
  void save();
  KeeperState state() const;

 private:
  void load();
  void adopt(Profile profile);
  Profile current() const;
  void write(const Profile& profile);
  void save_loop();

  CachedExpertService& service_;
  KeeperSettings settings_;
  ProfileDisk real_disk_;
  ProfileDisk& disk_;
  std::vector<LayerCounts> loaded_;
  std::vector<ExpertId> ranking_;

  mutable std::mutex mutex_;  // guards what follows
  KeeperState state_;
  int64_t saved_at_ = -1;  // seconds since 1970
  uint64_t saved_tokens_ = 0;
  bool set_aside_ = false;  // the file at the path is not ours to replace

  std::mutex save_mutex_;  // one save at a time
  std::condition_variable wake_;
  bool closing_ = false;
  std::thread thread_;
};

/// The fingerprint of the experts that a service holds.
ModelFingerprint fingerprint(const CachedExpertService& service, std::string architecture, std::string name);

}  // namespace luce::experts
