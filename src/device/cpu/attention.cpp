#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "device/cpu/lines.hpp"
#include "device/cpu/matrix.hpp"
#include "device/cpu/ops.hpp"

namespace luce::device::cpu {
namespace {

using tensor::Format;

// A context is always taken in chunks of this many positions, whoever computes them, so that neither the number of
// threads nor the other rows of a step change a result.
constexpr int64_t kChunk = 512;
constexpr int64_t kRowBlock = 8;  // rows that pass a chunk one after the other while it lies in the cache

/// A cache [sequence_slots, context, heads * head_width]; a row holds the heads side by side.
struct Cache {
  std::byte* data;
  Format format;
  int64_t slots, context, head_width;
  int64_t row_bytes, head_bytes;

  Cache(const Tensor& tensor, int64_t heads)
      : data(reinterpret_cast<std::byte*>(tensor.address)),
        format(tensor.format),
        slots(tensor.shape[0]),
        context(tensor.shape[1]),
        head_width(tensor.shape[2] / heads) {
    if (head_width % tensor::info(format).block_elements != 0)
      fail(ErrorKind::unsupported, "cache: heads of {} values cannot be kept as {}; choose --cache-type f16 or f32",
           head_width, tensor::info(format).name);
    head_bytes = tensor::packed_bytes(format, head_width);
    row_bytes = head_bytes * heads;
  }

  std::byte* at(int64_t slot, int64_t position, int64_t head) const {
    LUCE_CHECK(slot >= 0 && slot < slots, "a sequence slot outside the cache");
    LUCE_CHECK(position >= 0 && position < context, "a position outside the context");
    return data + (slot * context + position) * row_bytes + head * head_bytes;
  }
};

void store_head(const Machine& machine, const Cache& cache, const float* from, std::byte* to) {
  switch (cache.format) {
    case Format::f32: std::copy_n(from, cache.head_width, reinterpret_cast<float*>(to)); return;
    case Format::f16: machine.kernels.vector.to_f16(from, to, cache.head_width); return;
    case Format::q8_0: machine.kernels.vector.to_q8_0(from, to, cache.head_width); return;
    default:
      fail(ErrorKind::unsupported, "cache: {} is no cache format; choose f16, f32 or q8_0",
           tensor::info(cache.format).name);
  }
}

const CacheKernels& cache_kernels(const Machine& machine, Format format) {
  switch (format) {
    case Format::f32: return machine.kernels.cache_f32;
    case Format::f16: return machine.kernels.cache_f16;
    case Format::q8_0: return machine.kernels.cache_q8_0;
    default:
      fail(ErrorKind::unsupported, "cache: {} is no cache format; choose f16, f32 or q8_0", tensor::info(format).name);
  }
}

/// Softmax over some positions, not yet divided: per head the largest score, the sum of exponentials, and the sum of
/// values weighted by them.
struct Partial {
  float* largest;  // [heads]
  float* total;    // [heads]
  float* values;   // [heads, value_width]

  static int64_t floats(int64_t heads, int64_t value_width) { return heads * (value_width + 2); }
  Partial(float* at, int64_t heads) : largest(at), total(at + heads), values(at + 2 * heads) {}
};

class Attention {
 public:
  Attention(const Machine& machine, const Attend& op)
      : machine_(machine),
        op_(op),
        q_(op.q),
        out_(op.out),
        k_(op.k_cache, op.kv_heads),
        v_(op.v_cache, op.kv_heads),
        heads_(op.q.shape[1]),
        group_(heads_ / op.kv_heads),
        partial_floats_(Partial::floats(group_, v_.head_width)) {
    LUCE_CHECK(heads_ % op.kv_heads == 0, "query heads share key heads evenly");
  }

  int64_t rows() const { return op_.q.shape[0]; }
  int64_t items() const { return rows() * op_.kv_heads; }
  int64_t group() const { return group_; }
  int64_t partial_floats() const { return partial_floats_; }
  int64_t positions(int64_t row) const { return int64_t{ints(op_.positions)[row]} + 1; }
  int64_t chunks(int64_t row) const { return (positions(row) + kChunk - 1) / kChunk; }
  int64_t work(int64_t row) const { return positions(row) * (k_.head_width + v_.head_width) * group_; }

  /// All chunks of some rows and one key head: chunk by chunk, so that neighbours find its keys and values in the
  /// cache. What one row computes does not depend on the others.
  void rows_of_head(RowRange rows, int64_t kv_head, int worker) const {
    const int64_t count = rows.end - rows.begin;
    float* const scratch = machine_.workspace.floats(worker, Use::blend, (count + 1) * partial_floats_);
    const auto sum = [&](int64_t row) { return Partial(scratch + (row - rows.begin) * partial_floats_, group_); };
    const Partial next(scratch + count * partial_floats_, group_);
    int64_t most = 0;
    for (int64_t row = rows.begin; row < rows.end; ++row) most = std::max(most, chunks(row));
    for (int64_t c = 0; c < most; ++c)
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        if (c >= chunks(row)) continue;
        chunk(row * op_.kv_heads + kv_head, c, worker, c == 0 ? sum(row) : next);
        if (c > 0) merge(sum(row), next);
      }
    for (int64_t row = rows.begin; row < rows.end; ++row) write(row * op_.kv_heads + kv_head, sum(row));
  }

  void chunk(int64_t item, int64_t index, int worker, const Partial& to) const {
    const int64_t row = item / op_.kv_heads, kv_head = item % op_.kv_heads;
    const int64_t begin = index * kChunk, count = std::min(kChunk, positions(row) - begin);
    const int64_t slot = ints(op_.slots)[row];
    float* const scores = machine_.workspace.floats(worker, Use::scores, group_ * kChunk);
    k_.at(slot, begin + count - 1, kv_head);
    cache_kernels(machine_, k_.format)
        .score({.q = q_[row * heads_ + kv_head * group_],
                .q_stride = op_.q.stride[1],
                .heads = group_,
                .k = k_.at(slot, begin, kv_head),
                .k_stride_bytes = k_.row_bytes,
                .positions = count,
                .width = k_.head_width,
                .scale = op_.scale,
                .scores = scores,
                .score_stride = kChunk});
    for (int64_t h = 0; h < group_; ++h) {
      float* const line = scores + h * kChunk;
      to.largest[h] = machine_.kernels.vector.maximum(line, count);
      to.total[h] = machine_.kernels.vector.exponentials(line, to.largest[h], count);
    }
    cache_kernels(machine_, v_.format)
        .blend({.weights = scores,
                .weight_stride = kChunk,
                .heads = group_,
                .v = v_.at(slot, begin, kv_head),
                .v_stride_bytes = v_.row_bytes,
                .positions = count,
                .width = v_.head_width,
                .out = to.values});
  }

  void merge(const Partial& sum, const Partial& next) const {
    for (int64_t h = 0; h < group_; ++h) {
      const float largest = std::max(sum.largest[h], next.largest[h]);
      const float keep = std::exp(sum.largest[h] - largest), take = std::exp(next.largest[h] - largest);
      float* const values = sum.values + h * v_.head_width;
      machine_.kernels.vector.scale({.x = values, .out = values, .factor = keep, .n = v_.head_width});
      machine_.kernels.vector.add_scaled(values, next.values + h * v_.head_width, take, v_.head_width);
      sum.largest[h] = largest;
      sum.total[h] = sum.total[h] * keep + next.total[h] * take;
    }
  }

  void write(int64_t item, const Partial& sum) const {
    const int64_t row = item / op_.kv_heads, first_head = item % op_.kv_heads * group_;
    for (int64_t h = 0; h < group_; ++h)
      machine_.kernels.vector.scale({.x = sum.values + h * v_.head_width,
                                     .out = out_[row * heads_ + first_head + h],
                                     .factor = 1.0F / sum.total[h],
                                     .n = v_.head_width});
  }

 private:
  const Machine& machine_;
  const Attend& op_;
  Lines q_, out_;
  Cache k_, v_;
  int64_t heads_, group_, partial_floats_;
};

// Few rows over a long context: the chunks themselves are shared out.
void attend_by_chunks(const Machine& machine, const Attention& attention, int64_t most_chunks,
                      std::vector<float>& partials) {
  const int64_t kv_heads = attention.items() / attention.rows(), floats = attention.partial_floats();
  const int64_t group = attention.group();
  const auto need = static_cast<size_t>(attention.items() * most_chunks * floats);
  if (partials.size() < need) partials.resize(need);
  const auto partial = [&](int64_t item, int64_t chunk) {
    return Partial(partials.data() + (item * most_chunks + chunk) * floats, group);
  };
  machine.pool.parallel_for(attention.items() * most_chunks, 1, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t item = i / most_chunks, chunk = i % most_chunks;
      if (chunk < attention.chunks(item / kv_heads)) attention.chunk(item, chunk, worker, partial(item, chunk));
    }
  });
  for (int64_t item = 0; item < attention.items(); ++item) {
    for (int64_t c = 1; c < attention.chunks(item / kv_heads); ++c) attention.merge(partial(item, 0), partial(item, c));
    attention.write(item, partial(item, 0));
  }
}

}  // namespace

void append_kv(const Machine& machine, const AppendKv& op) {
  const int64_t rows = op.k.shape[0], heads = op.k.shape[1];
  const Cache k_cache(op.k_cache, heads), v_cache(op.v_cache, heads);
  const Lines k(op.k), v(op.v);
  LUCE_CHECK(k.width() == k_cache.head_width && v.width() == v_cache.head_width, "heads of the cache's width");
  const int32_t *const slots = ints(op.slots), *const positions = ints(op.positions);
  machine.pool.parallel_for(rows, grain_for(heads * (k.width() + v.width())), [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t head = 0; head < heads; ++head) {
        store_head(machine, k_cache, k[row * heads + head], k_cache.at(slots[row], positions[row], head));
        store_head(machine, v_cache, v[row * heads + head], v_cache.at(slots[row], positions[row], head));
      }
  });
}

void attend(const Machine& machine, const Attend& op, std::vector<float>& partials) {
  const Attention attention(machine, op);
  int64_t work = 0, most_chunks = 0;
  for (int64_t row = 0; row < attention.rows(); ++row) {
    work += attention.work(row);
    most_chunks = std::max(most_chunks, attention.chunks(row));
  }
  if (attention.items() == 0) return;
  if (most_chunks > 1 && attention.items() < 4 * machine.pool.threads()) {
    attend_by_chunks(machine, attention, most_chunks, partials);
    return;
  }
  const int64_t kv_heads = attention.items() / attention.rows();
  const int64_t block = attention.items() >= kRowBlock * 8 * machine.pool.threads() ? kRowBlock : 1;
  const int64_t blocks = (attention.rows() + block - 1) / block;
  machine.pool.parallel_for(blocks * kv_heads, grain_for(work / attention.rows() * block),
                            [&](int64_t begin, int64_t end, int worker) {
                              for (int64_t item = begin; item < end; ++item) {
                                const int64_t first = item / kv_heads * block;
                                const RowRange rows{first, std::min(first + block, attention.rows())};
                                attention.rows_of_head(rows, item % kv_heads, worker);
                              }
                            });
}

}  // namespace luce::device::cpu
