#include "experts/trace_steps.hpp"

namespace luce::experts {

TraceSteps::TraceSteps(const Trace& trace, int streams)
    : trace_(trace), index_(static_cast<size_t>(trace.experts()), -1) {
  std::vector<std::vector<Row>> queues(static_cast<size_t>(streams));
  for (int sequence = 0; sequence < trace.sequences(); ++sequence)
    for (int64_t token = 0; token < trace.length(sequence); ++token)
      queues[static_cast<size_t>(sequence % streams)].push_back({sequence, token});
  for (size_t step = 0, before = 0;; ++step) {
    first_row_.push_back(rows_.size());
    for (const auto& queue : queues)
      if (step < queue.size()) rows_.push_back(queue[step]);
    if (rows_.size() == before) break;
    before = rows_.size();
  }
}

std::span<const uint16_t> TraceSteps::at(int64_t step, int row, int layer) const {
  const Row& found = rows_[first_row_[static_cast<size_t>(step)] + static_cast<size_t>(row)];
  return trace_.at(found.sequence, found.token, layer);
}

LayerUse TraceSteps::use(int64_t step, int layer) {
  for (const UsedExpert& used : used_) index_[static_cast<size_t>(used.expert)] = -1;
  used_.clear();
  ids_.clear();
  for (int row = 0; row < rows(step); ++row)
    for (const uint16_t expert : at(step, row, layer)) {
      ids_.push_back(expert);
      int32_t& index = index_[expert];
      if (index < 0) {
        index = static_cast<int32_t>(used_.size());
        used_.push_back({expert, 0, 0, 0.0F, 0.0F});
      }
      ++used_[static_cast<size_t>(index)].decode_rows;
    }
  classes_.assign(static_cast<size_t>(rows(step)), device::RowClass::decode);
  return {layer, rows(step), 0, used_, ids_, {}, classes_};
}

}  // namespace luce::experts
