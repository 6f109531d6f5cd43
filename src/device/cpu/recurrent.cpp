// Convolution and delta rule: both walk the rows of a sequence in order and keep a state between steps.
#include <algorithm>
#include <cmath>

#include "device/cpu/lines.hpp"
#include "device/cpu/ops.hpp"

namespace luce::device::cpu {
namespace {

/// One sequence's rows, as a line of a spans tensor.
struct Span {
  int64_t slot, first_row, rows;
  bool fresh;  // starts at position 0

  Span(const Tensor& spans, int64_t index) {
    const int32_t* const line = Lines(spans).ints(index);
    slot = line[0];
    first_row = line[1];
    rows = line[2];
    fresh = line[3] == 0;
  }
};

struct Channels {
  int64_t begin, count;
};

constexpr int64_t kChannelPiece = 128;
constexpr int kMaxTaps = 16;

class Convolution {
 public:
  Convolution(const Machine& machine, const Convolve& op)
      : machine_(machine), op_(op), x_(op.x), out_(op.out), state_(op.state), taps_(op.kernel.shape[1]) {
    LUCE_CHECK(taps_ >= 1 && taps_ <= kMaxTaps, "a convolution has 1 to 16 taps");
  }

  void run(const Span& span, Channels channels, int worker) const {
    if (span.fresh)
      for (int64_t t = 0; t + 1 < taps_; ++t) std::fill_n(past(span, t) + channels.begin, channels.count, 0.0F);
    const float* const kernel = transposed_kernel(channels, worker);
    for (int64_t row = 0; row < span.rows; ++row) {
      const float* inputs[kMaxTaps];
      for (int64_t t = 0; t < taps_; ++t) inputs[t] = input(span, row + t) + channels.begin;
      machine_.kernels.vector.convolve({.inputs = inputs,
                                        .kernel = kernel,
                                        .out = out_[span.first_row + row] + channels.begin,
                                        .taps = static_cast<int>(taps_),
                                        .n = channels.count});
    }
    for (int64_t t = 0; t + 1 < taps_; ++t)
      std::copy_n(input(span, span.rows + t) + channels.begin, channels.count, past(span, t) + channels.begin);
  }

 private:
  float* past(const Span& span, int64_t t) const { return state_[span.slot * (taps_ - 1) + t]; }

  // Input `index` of the sequence of past inputs followed by the step's rows.
  const float* input(const Span& span, int64_t index) const {
    return index < taps_ - 1 ? past(span, index) : x_[span.first_row + index - (taps_ - 1)];
  }

  const float* transposed_kernel(Channels channels, int worker) const {
    float* const to = machine_.workspace.floats(worker, Use::kernel, taps_ * channels.count);
    for (int64_t c = 0; c < channels.count; ++c)
      for (int64_t t = 0; t < taps_; ++t)
        to[t * channels.count + c] = floats(op_.kernel)[(channels.begin + c) * taps_ + t];
    return to;
  }

  const Machine& machine_;
  const Convolve& op_;
  Lines x_, out_, state_;
  int64_t taps_;
};

constexpr int64_t kColumnPiece = 64;

/// One value head of one sequence, some of its columns.
DeltaTask delta_task(const DeltaRule& op, const Span& span, int64_t head, Channels columns) {
  const int64_t key_width = op.k.shape[2], key_head = head % op.k.shape[1];
  const auto at = [&](const Tensor& tensor, int64_t index) {
    return reinterpret_cast<float*>(tensor.address) + span.first_row * tensor.stride[0] + index * tensor.stride[1];
  };
  auto* const states = reinterpret_cast<float*>(op.state.address);
  return {.state = states + span.slot * op.state.stride[0] + head * op.state.stride[1] + columns.begin,
          .state_stride = op.state.stride[2],
          .key_width = key_width,
          .columns = columns.count,
          .rows = span.rows,
          .q = at(op.q, key_head),
          .k = at(op.k, key_head),
          .v = at(op.v, head) + columns.begin,
          .decay = at(op.decay, head),
          .beta = at(op.beta, head),
          .out = at(op.out, head) + columns.begin,
          .q_stride = op.q.stride[0],
          .k_stride = op.k.stride[0],
          .v_stride = op.v.stride[0],
          .decay_stride = op.decay.stride[0],
          .beta_stride = op.beta.stride[0],
          .out_stride = op.out.stride[0],
          .scale = 1.0F / std::sqrt(static_cast<float>(key_width))};
}

int64_t pieces_of(int64_t whole, int64_t piece) { return (whole + piece - 1) / piece; }

}  // namespace

void convolve(const Machine& machine, const Convolve& op) {
  const Convolution convolution(machine, op);
  const int64_t channels = op.x.shape.width(), pieces = pieces_of(channels, kChannelPiece);
  const int64_t rows = op.x.shape[0];
  const int64_t work = rows * kChannelPiece * 8;
  machine.pool.parallel_for(op.spans.shape[0] * pieces, grain_for(work), [&](int64_t begin, int64_t end, int worker) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % pieces * kChannelPiece;
      convolution.run(Span(op.spans, item / pieces), {first, std::min(kChannelPiece, channels - first)}, worker);
    }
  });
}

void delta_rule(const Machine& machine, const DeltaRule& op) {
  const int64_t heads = op.v.shape[1], value_width = op.v.shape[2];
  const int64_t pieces = pieces_of(value_width, kColumnPiece);
  const int64_t work = op.v.shape[0] * op.k.shape[2] * kColumnPiece * 2;
  machine.pool.parallel_for(op.spans.shape[0] * heads * pieces, grain_for(work), [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item % pieces * kColumnPiece;
      const Channels columns{first, std::min(kColumnPiece, value_width - first)};
      const Span span(op.spans, item / pieces / heads);
      const DeltaTask task = delta_task(op, span, item / pieces % heads, columns);
      if (span.fresh)
        for (int64_t i = 0; i < task.key_width; ++i)
          std::fill_n(task.state + i * task.state_stride, columns.count, 0.0F);
      machine.kernels.delta(task);
    }
  });
}

}  // namespace luce::device::cpu
