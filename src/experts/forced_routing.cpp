#include "experts/forced_routing.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace luce::experts {
namespace {
constexpr int64_t kApart = 97;  // tokens between streams that follow the same sequence
}

ForcedRouting::ForcedRouting(Trace trace, const std::vector<int>& experts, int top_k) : trace_(std::move(trace)) {
  int layers = 0;
  int least = 0;
  for (const int count : experts) {
    order_.push_back(count > 0 ? layers++ : -1);
    if (count > 0) least = least == 0 ? count : std::min(least, count);
  }
  for (int sequence = 0; sequence < trace_.sequences(); ++sequence)
    if (trace_.length(sequence) > 0) sequences_.push_back(sequence);
  if (layers == 0 || trace_.layers() < layers || trace_.experts() > least || trace_.top_k() != top_k)
    fail(ErrorKind::invalid_request,
         "the routing trace has {} layers of {} experts, top {}; the model has {} of {}, top {}; use a trace of this "
         "model's shape",
         trace_.layers(), trace_.experts(), trace_.top_k(), layers, least, top_k);
  if (sequences_.empty()) fail(ErrorKind::invalid_request, "the routing trace has no tokens; record one with traffic");
}

void ForcedRouting::begin(int layer, int, int) {
  if (order_[static_cast<size_t>(layer)] != 0) return;
  for (Stream& each : streams_) {
    each.position = (each.position + each.used) % trace_.length(each.sequence);
    each.used = 0;
  }
}

bool ForcedRouting::revise(const device::SelectionRow& row) {
  const bool decode = row.row_class == device::RowClass::decode;
  Stream& from = stream(decode ? static_cast<size_t>(row.row) : 0);
  const int64_t ahead = decode ? 0 : row.row;
  from.used = std::max(from.used, ahead + 1);
  const int64_t token = (from.position + ahead) % trace_.length(from.sequence);
  const auto ids = trace_.at(from.sequence, token, order_[static_cast<size_t>(row.layer)]);
  std::copy_n(ids.begin(), row.ids.size(), row.ids.begin());
  return true;
}

ForcedRouting::Stream& ForcedRouting::stream(size_t number) {
  while (streams_.size() <= number) {
    const size_t next = streams_.size();
    const int sequence = sequences_[next % sequences_.size()];
    const auto round = static_cast<int64_t>(next / sequences_.size());
    streams_.push_back({sequence, round * kApart % trace_.length(sequence), 0});
  }
  return streams_[number];
}

}  // namespace luce::experts
