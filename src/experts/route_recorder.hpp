#pragma once

#include <condition_variable>
#include <cstdint>
#include <fstream>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/expert_service.hpp"

namespace luce::experts {

struct RecorderSettings {
  std::string path;
  std::vector<int> experts;    // [layers of the model]; 0 where a layer has none
  int top_k = 0;               // that decoding uses
  size_t open_sequences = 64;  // that may run at the same time
  double save_interval_seconds = 5;
  std::function<void(const std::string&)> warn = {};
};

/// Records the routing of decoded tokens as an `.lrt` trace, one sequence a request. Prompts are left out: they are
/// computed in chunks, whose accesses a trace by token cannot tell. Sequences that ended wait in PATH.spool; a
/// thread makes the whole trace anew at intervals, so that the file at PATH is always one that can be read, and lacks
/// at most what came since. One that cannot be written costs a warning and ends the recording, never a request.
class RouteRecorder {
 public:
  /// Throws Error{io} if the spool cannot be made, Error{unsupported} if layers differ in their number of experts.
  explicit RouteRecorder(RecorderSettings settings);
  /// Finishes.
  ~RouteRecorder();
  RouteRecorder(const RouteRecorder&) = delete;
  RouteRecorder& operator=(const RouteRecorder&) = delete;

  /// One layer of the step that runs. Step thread.
  void record(const device::Routing& routing);
  /// The step has ended well; `sequences` [decode rows] are the numbers of its decode rows' sequences, in row order.
  void end_step(std::span<const uint64_t> sequences);
  /// Writes the trace with what was recorded so far. Any thread.
  void save();
  /// The same, and ends recording; once.
  void finish();

  int64_t tokens() const;
  /// Why recording ended early; empty while it has not.
  std::string failure() const;

 private:
  struct Open {
    uint64_t sequence = 0;
    std::string ids;  // as in the file
  };

  /// What was recorded up to a moment.
  struct Snapshot {
    std::vector<uint32_t> lengths;  // of all sequences
    size_t spooled_bytes = 0;       // of those in the spool
    std::string open_ids;           // of the others
    int64_t tokens = 0;
    bool nothing_new = true;
  };

  size_t step_ids() const { return static_cast<size_t>(layers_) * static_cast<size_t>(settings_.top_k); }
  size_t token_bytes() const { return step_ids() * static_cast<size_t>(id_bytes_); }
  std::string spool_path() const { return settings_.path + ".spool"; }
  std::string& ids_of(uint64_t sequence);
  void append_token(const int32_t* ids, std::string& to) const;
  void spool_all_but(size_t keep);
  void stop(const std::string& why);
  void save_loop();
  bool closing(double wait_seconds);
  Snapshot snapshot();
  void write(const Snapshot& snapshot) const;

  RecorderSettings settings_;
  std::vector<int> order_;  // [layers], position among those with experts, or -1
  int layers_ = 0;          // with experts
  int experts_ = 0;
  int id_bytes_ = 1;
  std::vector<int32_t> step_;  // [decode rows, layers_, top_k]
  int step_layers_ = 0;        // recorded of the step that runs

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Open> open_;    // by last use, the latest last
  std::vector<uint32_t> lengths_;
  std::ofstream spool_;
  int64_t tokens_ = 0;
  size_t spooled_bytes_ = 0;
  bool ended_ = false;
  std::string failure_;

  std::mutex save_mutex_;      // one save at a time; taken before mutex_
  int64_t saved_tokens_ = -1;  // guarded by it
  std::condition_variable wake_;
  bool closing_ = false;  // guarded by mutex_
  std::thread thread_;
};

/// Lets a recorder see what passes to another service.
class RecordingService final : public device::ExpertService {
 public:
  RecordingService(device::ExpertService& inner, RouteRecorder& recorder) : inner_(inner), recorder_(recorder) {}
  const device::ExpertShape& shape(int layer) const override { return inner_.shape(layer); }
  device::Dispatch& start(const device::Routing& routing) override {
    recorder_.record(routing);
    return inner_.start(routing);
  }
  void end_step() override { inner_.end_step(); }
  device::RouterChange router_change() const override { return inner_.router_change(); }
  device::SelectionRule* selection_rule() override { return inner_.selection_rule(); }

 private:
  device::ExpertService& inner_;
  RouteRecorder& recorder_;
};

}  // namespace luce::experts
