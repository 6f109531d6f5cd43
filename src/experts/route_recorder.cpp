#include "experts/route_recorder.hpp"

#include <algorithm>
#include <array>
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
}

RouteRecorder::~RouteRecorder() { finish(); }

void RouteRecorder::record(const device::Routing& routing) {
  const int layer = order_[static_cast<size_t>(routing.layer)];
  const auto top_k = static_cast<size_t>(routing.top_k);
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
    const int32_t* const ids = routing.ids + static_cast<size_t>(row) * top_k;
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
    lengths_.push_back(static_cast<uint32_t>(each->ids.size() / (step_ids() * static_cast<size_t>(id_bytes_))));
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

void RouteRecorder::finish() {
  const std::lock_guard lock(mutex_);
  if (!ended_) {
    spool_all_but(0);
    spool_.close();
    if (!ended_ && !spool_) stop(fmt::format("{} cannot be written; is the disk full?", spool_path()));
  }
  try {
    if (!ended_) write_trace();
  } catch (const std::exception& error) {
    stop(error.what());
  }
  ended_ = true;
  if (spool_.is_open()) spool_.close();
  std::remove(spool_path().c_str());
}

void RouteRecorder::write_trace() {
  base::OutputFile file(settings_.path);
  const std::string head = trace_head({layers_, experts_, settings_.top_k}, lengths_);
  file.append(bytes_of(head, head.size()));
  std::ifstream spool(spool_path(), std::ios::binary);
  std::string piece(kCopyBytes, '\0');
  while (spool.read(piece.data(), static_cast<std::streamsize>(piece.size())) || spool.gcount() > 0)
    file.append(bytes_of(piece, static_cast<size_t>(spool.gcount())));
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
