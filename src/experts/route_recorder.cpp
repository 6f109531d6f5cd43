#include "experts/route_recorder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "experts/trace.hpp"

namespace luce::experts {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

std::span<const std::byte> bytes_of(const std::string& text, size_t bytes) {
  return std::as_bytes(std::span(text)).first(bytes);
}

}  // namespace

RouteRecorder::RouteRecorder(RecorderSettings settings) : settings_(std::move(settings)) {
  for (const int experts : settings_.experts) {
    if (experts > 0 && experts_ > 0 && experts != experts_)
      fail(ErrorKind::unsupported, "a routing trace has one number of experts, this model's layers have {} and {}",
           experts_, experts);
    order_.push_back(experts > 0 ? layers_++ : -1);
    experts_ = std::max(experts_, experts);
  }
  id_bytes_ = trace_id_bytes(experts_);
  spool_.open(spool_path(), std::ios::binary | std::ios::trunc);
  if (!spool_)
    fail(ErrorKind::io, "the routing trace {} cannot be recorded: {} cannot be created", settings_.path, spool_path());
  thread_ = std::thread([this] { save_loop(); });
}

RouteRecorder::~RouteRecorder() { finish(); }

void RouteRecorder::record(const device::Routing& routing) {
  const int layer = order_[static_cast<size_t>(routing.layer)];
  const auto stride = static_cast<size_t>(routing.top_k), top_k = static_cast<size_t>(settings_.top_k);
  if (layer == 0) {
    step_layers_ = 0;  // of a step that failed nothing stays
    const auto rows = std::count(routing.classes, routing.classes + routing.rows, device::RowClass::decode);
    step_.resize(static_cast<size_t>(rows) * step_ids());
  }
  if (layer != step_layers_) return;
  ++step_layers_;
  size_t to = static_cast<size_t>(layer) * top_k;
  for (int row = 0; row < routing.rows; ++row) {
    if (routing.classes[row] != device::RowClass::decode) continue;
    const int32_t* const ids = routing.ids + static_cast<size_t>(row) * stride;
    std::copy(ids, ids + top_k, step_.begin() + static_cast<std::ptrdiff_t>(to));
    to += step_ids();
  }
}

void RouteRecorder::end_step(std::span<const uint64_t> sequences) {
  const std::lock_guard lock(mutex_);
  const bool whole = step_layers_ == layers_ && step_.size() == sequences.size() * step_ids();
  step_layers_ = 0;
  if (ended_ || !whole) return;
  for (size_t row = 0; row < sequences.size(); ++row)
    append_token(step_.data() + row * step_ids(), ids_of(sequences[row]));
  tokens_ += static_cast<int64_t>(sequences.size());
  spool_all_but(settings_.open_sequences);
}

std::string& RouteRecorder::ids_of(uint64_t sequence) {
  auto found = std::find_if(open_.begin(), open_.end(), [=](const Open& each) { return each.sequence == sequence; });
  if (found == open_.end())
    open_.push_back({sequence, {}});
  else
    std::rotate(found, found + 1, open_.end());
  return open_.back().ids;
}

void RouteRecorder::append_token(const int32_t* ids, std::string& to) const {
  for (size_t at = 0; at < step_ids(); ++at) {
    to.push_back(static_cast<char>(ids[at] & 0xFF));
    if (id_bytes_ == 2) to.push_back(static_cast<char>(ids[at] >> 8));
  }
}

void RouteRecorder::spool_all_but(size_t keep) {
  if (open_.size() <= keep) return;
  const auto end = open_.begin() + static_cast<std::ptrdiff_t>(open_.size() - keep);
  for (auto each = open_.begin(); each != end; ++each) {
    spool_.write(each->ids.data(), static_cast<std::streamsize>(each->ids.size()));
    lengths_.push_back(static_cast<uint32_t>(each->ids.size() / token_bytes()));
    spooled_bytes_ += each->ids.size();
  }
  open_.erase(open_.begin(), end);
  if (!spool_) stop(fmt::format("{} cannot be written; is the disk full?", spool_path()));
}

void RouteRecorder::stop(const std::string& why) {
  ended_ = true;
  failure_ = why;
  open_.clear();
  if (settings_.warn) settings_.warn("the routing trace is no longer recorded: " + why);
}

bool RouteRecorder::closing(double wait_seconds) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, std::chrono::duration<double>(wait_seconds), [this] { return closing_; });
}

void RouteRecorder::save_loop() {
  double pause_seconds = settings_.save_interval_seconds;
  while (!closing(pause_seconds)) {
    const auto begin = std::chrono::steady_clock::now();
    save();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    // The longer the trace, the longer a save: it may take a hundredth of the time.
    pause_seconds = std::max(settings_.save_interval_seconds, 100 * took.count());
  }
}

void RouteRecorder::save() {
  const std::lock_guard saving(save_mutex_);
  const Snapshot all = snapshot();
  if (all.nothing_new) return;
  try {
    write(all);
    saved_tokens_ = all.tokens;
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    stop(error.what());
  }
}

void RouteRecorder::finish() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  save();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (spool_.is_open()) spool_.close();
  std::remove(spool_path().c_str());
}

RouteRecorder::Snapshot RouteRecorder::snapshot() {
  const std::lock_guard lock(mutex_);
  if (!ended_ && !spool_.flush()) stop(fmt::format("{} cannot be written; is the disk full?", spool_path()));
  Snapshot all;
  all.nothing_new = ended_ || tokens_ == saved_tokens_;
  if (all.nothing_new) return all;
  all.lengths = lengths_;
  all.spooled_bytes = spooled_bytes_;
  all.tokens = tokens_;
  for (const Open& each : open_) {
    all.lengths.push_back(static_cast<uint32_t>(each.ids.size() / token_bytes()));
    all.open_ids += each.ids;
  }
  return all;
}

/// The spool only grows, so that its first bytes may be read while more are written.
void RouteRecorder::write(const Snapshot& all) const {
  base::OutputFile file(settings_.path);
  const std::string head = trace_head({layers_, experts_, settings_.top_k}, all.lengths);
  file.append(bytes_of(head, head.size()));
  std::ifstream spool(spool_path(), std::ios::binary);
  std::string piece(kCopyBytes, '\0');
  for (size_t left = all.spooled_bytes; left > 0;) {
    const size_t now = std::min(left, piece.size());
    if (!spool.read(piece.data(), static_cast<std::streamsize>(now)))
      fail(ErrorKind::io, "{} cannot be read back", spool_path());
    file.append(bytes_of(piece, now));
    left -= now;
  }
  file.append(bytes_of(all.open_ids, all.open_ids.size()));
  file.commit();
}

int64_t RouteRecorder::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

std::string RouteRecorder::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace luce::experts
