// Element-wise work on rows. A row is always cut into vectors from its first value on.

struct WholeVector {
  LUCE_INLINE V get(const float* p) const { return load(p); }
  LUCE_INLINE void put(float* p, V v) const { store(p, v); }
};
struct CutVector {
  int64_t n;
  LUCE_INLINE V get(const float* p) const { return load_part(p, n); }
  LUCE_INLINE void put(float* p, V v) const { store_part(p, v, n); }
};

// Calls function(index, access) for the vectors of a row.
template <typename Function>
LUCE_INLINE void each_vector(int64_t n, Function&& function) {
  int64_t at = 0;
  for (; at + kLanes <= n; at += kLanes) function(at, WholeVector{});
  if (at < n) function(at, CutVector{n - at});
}

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2, with a Taylor polynomial of degree 7 (error below 1e-8 relative); 2^n is
// applied in two halves so that results down to the subnormals are right.
LUCE_INLINE V exponential(V x) {
  x = smaller(broadcast(89.0F), larger(broadcast(-104.0F), x));  // in this order NaN stays NaN
  const V magic = broadcast(12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number in the low bits
  const V n = fused(x, broadcast(1.44269504F), magic) - magic;
  V r = fused(n, broadcast(-0.693359375F), x);
  r = fused(n, broadcast(2.12194440e-4F), r);
  V p = broadcast(1.0F / 5040);
  p = fused(p, r, broadcast(1.0F / 720));
  p = fused(p, r, broadcast(1.0F / 120));
  p = fused(p, r, broadcast(1.0F / 24));
  p = fused(p, r, broadcast(1.0F / 6));
  p = fused(p, r, broadcast(0.5F));
  p = fused(p * r, r, r) + 1.0F;
  const V half = fused(n, broadcast(0.5F), magic);
  const VI first = as_int(half) - as_int(magic);
  const VI second = as_int(n + magic) - as_int(magic) - first;
  return p * as_float((first + 127) << 23) * as_float((second + 127) << 23);
}

LUCE_INLINE V sigmoid(V x) { return 1.0F / (1.0F + exponential(-x)); }
LUCE_INLINE V silu(V x) { return x / (1.0F + exponential(-x)); }

float sum_of_squares(const float* x, int64_t n) {
  mark_run();
  V even = {}, odd = {};
  int64_t at = 0;
  for (; at + 2 * kLanes <= n; at += 2 * kLanes) {
    const V a = load(x + at), b = load(x + at + kLanes);
    even = fused(a, a, even);
    odd = fused(b, b, odd);
  }
  const int64_t n0 = part_of(n - at, 0), n1 = part_of(n - at, kLanes);
  const V a = load_part(x + at, n0), b = load_part(x + at + n0, n1);
  return sum(fused(a, a, even) + fused(b, b, odd));
}

void scale_row(const ScaleTask& task) {
  mark_run();
  const V factor = broadcast(task.factor);
  if (task.weight == nullptr) {
    each_vector(
        task.n, [&](int64_t i, auto vector)
                    __attribute__((always_inline)) { vector.put(task.out + i, vector.get(task.x + i) * factor); });
    return;
  }
  each_vector(
      task.n, [&](int64_t i, auto vector) __attribute__((always_inline)) {
        vector.put(task.out + i, vector.get(task.x + i) * factor * vector.get(task.weight + i));
      });
}

void add_row(float* x, const float* y, int64_t n) {
  mark_run();
  each_vector(
      n, [&](int64_t i, auto vector)
             __attribute__((always_inline)) { vector.put(x + i, vector.get(x + i) + vector.get(y + i)); });
}

void add_scaled_row(float* x, const float* y, float factor, int64_t n) {
  mark_run();
  const V by = broadcast(factor);
  each_vector(
      n, [&](int64_t i, auto vector)
             __attribute__((always_inline)) { vector.put(x + i, fused(by, vector.get(y + i), vector.get(x + i))); });
}

void swiglu_row(const float* gate, const float* up, float* out, int64_t n) {
  mark_run();
  each_vector(
      n, [&](int64_t i, auto vector)
             __attribute__((always_inline)) { vector.put(out + i, silu(vector.get(gate + i)) * vector.get(up + i)); });
}

void multiply_sigmoid_row(float* x, const float* gate, int64_t n) {
  mark_run();
  each_vector(
      n, [&](int64_t i, auto vector)
             __attribute__((always_inline)) { vector.put(x + i, vector.get(x + i) * sigmoid(vector.get(gate + i))); });
}

void multiply_silu_row(float* x, const float* gate, int64_t n) {
  mark_run();
  each_vector(
      n, [&](int64_t i, auto vector)
             __attribute__((always_inline)) { vector.put(x + i, vector.get(x + i) * silu(vector.get(gate + i))); });
}

float maximum_of_row(const float* x, int64_t n) {
  mark_run();
  V best = broadcast(x[0]);
  int64_t at = 0;
  for (; at + kLanes <= n; at += kLanes) best = larger(best, load(x + at));
  float result = largest(best);
  for (; at < n; ++at) result = x[at] > result ? x[at] : result;
  return result;
}

float exponentials_of_row(float* x, float shift, int64_t n) {
  mark_run();
  const V by = broadcast(shift);
  V total = {};
  int64_t at = 0;
  for (; at + kLanes <= n; at += kLanes) {
    const V e = exponential(load(x + at) - by);
    store(x + at, e);
    total = total + e;
  }
  if (at < n) {
    store_part(x + at, exponential(load_part(x + at, n - at) - by), n - at);
    total = total + load_part(x + at, n - at);
  }
  return sum(total);
}

void convolve_row(const ConvolveTask& task) {
  mark_run();
  each_vector(
      task.n, [&](int64_t i, auto vector) __attribute__((always_inline)) {
        V total = {};
        for (int t = 0; t < task.taps; ++t)
          total = fused(vector.get(task.kernel + t * task.n + i), vector.get(task.inputs[t] + i), total);
        vector.put(task.out + i, silu(total));
      });
}

void to_f16_row(const float* x, std::byte* out, int64_t n) {
  mark_run();
  uint8_t* to = reinterpret_cast<uint8_t*>(out);
  int64_t at = 0;
  for (; at + kLanes <= n; at += kLanes) store_f16(to + 2 * at, load(x + at));
  for (; at < n; ++at) {
    const uint16_t bits = float_to_half(x[at]);
    __builtin_memcpy(to + 2 * at, &bits, sizeof bits);
  }
}

// Blocks of 32: an f16 scale of (largest magnitude) / 127, then whole numbers rounded to nearest, ties to even.
void to_q8_0_row(const float* x, std::byte* out, int64_t n) {
  mark_run();
  uint8_t* to = reinterpret_cast<uint8_t*>(out);
  const V magic = broadcast(12582912.0F);
  for (int64_t at = 0; at < n; at += 32, to += 34) {
    V reach = {};
    for (int i = 0; i < 32; i += kLanes) {
      const V v = load(x + at + i);
      reach = larger(reach, larger(v, -v));
    }
    const uint16_t bits = float_to_half(largest(reach) / 127.0F);
    const float scale = half_to_float(bits);
    const V inverse = broadcast(scale > 0 ? 1.0F / scale : 0.0F);
    __builtin_memcpy(to, &bits, sizeof bits);
    for (int i = 0; i < 32; i += kLanes) {
      const V q = smaller(broadcast(127.0F), larger(broadcast(-127.0F), load(x + at + i) * inverse));
      store_i8(reinterpret_cast<int8_t*>(to + 2 + i), as_int(q + magic) - as_int(magic));
    }
  }
}
