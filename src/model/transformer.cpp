#include "model/transformer.hpp"

#include "base/check.hpp"

namespace luce::model {
namespace {

/// Releases what a step pins, also when it fails.
class StepEnd {
 public:
  StepEnd(device::Stream& stream, device::ExpertService* experts) : stream_(stream), experts_(experts) {}
  ~StepEnd() {
    stream_.finish();
    if (experts_ != nullptr) experts_->end_step();
  }
  StepEnd(const StepEnd&) = delete;
  StepEnd& operator=(const StepEnd&) = delete;

 private:
  device::Stream& stream_;
  device::ExpertService* experts_;
};

StepLimits sizes_of(const Batch& batch) {
  return {.sequences = static_cast<int>(batch.spans.size()),
          .rows = batch.rows(),
          .logit_rows = static_cast<int>(batch.logit_rows.size())};
}

}  // namespace

Transformer::Transformer(const Blueprint& blueprint, device::Device& device, device::ExpertService* experts,
                         const LoadSettings& settings, const LoadProgress& progress)
    : device_(device),
      experts_(experts),
      hyperparameters_(blueprint.hyperparameters()),
      limits_(settings.limits),
      moe_layers_(static_cast<int>(blueprint.expert_layers().size())) {
  LUCE_CHECK(moe_layers_ == 0 || experts != nullptr, "a model with experts needs an expert service");
  const ArchitectureTraits& traits = find_architecture(hyperparameters_.architecture);
  weights_ = device.allocate(static_cast<size_t>(blueprint.dense_bytes()), device::Purpose::weights);
  WeightReader weights(blueprint.file(), device, weights_->address());
  frame_ = read_frame(hyperparameters_, weights);
  network_ = traits.make(hyperparameters_, weights);
  memory_ = std::make_unique<SequenceMemory>(device, network_->memory(), limits_, settings.kv_format);
  const int64_t scratch_bytes = measure_scratch(hyperparameters_, frame_, *network_, limits_);
  scratch_memory_ = device.allocate(static_cast<size_t>(scratch_bytes), device::Purpose::scratch);
  classes_.resize(static_cast<size_t>(limits_.rows));
  logits_.resize(static_cast<size_t>(limits_.logit_rows * hyperparameters_.vocabulary));
  weights.load(device, progress);
}

std::span<const float> Transformer::forward(const Batch& batch) {
  check(batch);
  Scratch scratch(scratch_memory_->address(), static_cast<int64_t>(scratch_memory_->bytes()));
  const device::Tensor logits = run(batch, scratch);
  const std::span<float> out =
      std::span(logits_).first(batch.logit_rows.size() * static_cast<size_t>(vocabulary_size()));
  if (!out.empty()) device_.read(logits.address, std::as_writable_bytes(out));
  return out;
}

device::Tensor Transformer::run(const Batch& batch, Scratch& scratch) {
  const StepInputs inputs = take_inputs(scratch, sizes_of(batch));
  write_inputs(batch, inputs);
  device::Stream& stream = device_.begin_step();
  const StepEnd end(stream, experts_);
  Step step{.stream = stream,
            .scratch = scratch,
            .memory = *memory_,
            .experts = experts_,
            .classes = classes_.data(),
            .rows = batch.rows()};
  return run_layers(step, hyperparameters_, frame_, *network_, inputs);
}

void Transformer::check(const Batch& batch) const {
  LUCE_CHECK(batch.rows() > 0 && batch.rows() <= limits_.rows, "a step has one row to limits().rows");
  LUCE_CHECK(static_cast<int>(batch.logit_rows.size()) <= limits_.logit_rows, "too many logit rows");
  std::vector<bool> seen(static_cast<size_t>(limits_.sequences), false);
  int row = 0;
  for (const SequenceSpan& span : batch.spans) {
    LUCE_CHECK(span.slot >= 0 && span.slot < limits_.sequences, "no such sequence slot");
    LUCE_CHECK(!seen[static_cast<size_t>(span.slot)], "a sequence occurs twice in a step");
    LUCE_CHECK(span.first_row == row && span.rows > 0, "spans must cover all rows in order");
    LUCE_CHECK(span.first_position >= 0 && span.first_position + span.rows <= limits_.context_tokens,
               "positions beyond the context");
    seen[static_cast<size_t>(span.slot)] = true;
    row += span.rows;
  }
  LUCE_CHECK(row == batch.rows(), "spans must cover all rows in order");
  for (const int32_t token : batch.tokens) LUCE_CHECK(token >= 0 && token < vocabulary_size(), "no such token");
  for (const int32_t wanted : batch.logit_rows) LUCE_CHECK(wanted >= 0 && wanted < row, "no such row");
}

void Transformer::write_inputs(const Batch& batch, const StepInputs& inputs) {
  std::vector<int32_t> slots;
  std::vector<int32_t> positions;
  std::vector<int32_t> spans;
  for (const SequenceSpan& span : batch.spans) {
    for (int row = 0; row < span.rows; ++row) {
      slots.push_back(span.slot);
      positions.push_back(span.first_position + row);
      classes_[static_cast<size_t>(span.first_row + row)] = span.row_class;
    }
    spans.insert(spans.end(), {span.slot, span.first_row, span.rows, span.first_position});
  }
  write_indices(inputs.ids, batch.tokens);
  write_indices(inputs.slots, slots);
  write_indices(inputs.positions, positions);
  write_indices(inputs.spans, spans);
  write_indices(inputs.logit_rows, batch.logit_rows);
}

void Transformer::write_indices(const device::Tensor& to, const std::vector<int32_t>& values) {
  if (!values.empty()) device_.write(to.address, std::as_bytes(std::span(values)));
}

std::unique_ptr<Model> load(const Blueprint& blueprint, device::Device& device, device::ExpertService* experts,
                            const LoadSettings& settings, const LoadProgress& progress) {
  check_kv_format(blueprint.hyperparameters(), settings.kv_format);
  return std::make_unique<Transformer>(blueprint, device, experts, settings, progress);
}

}  // namespace luce::model
