// Matrix products per format, ISA and number of threads: bytes of weights a second for one row (decoding), beside the
// read bandwidth measured in the same run, and multiply-adds a second for 64 rows (prompts), beside the most that
// registers allow.
#include <benchmark/benchmark.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <memory>
#include <string>
#include <vector>

#include "base/cpu_topology.hpp"
#include "base/thread_pool.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/isa.hpp"
#include "tensor/reference.hpp"

namespace {

using luce::device::Purpose;
using luce::device::Tensor;
using luce::tensor::Format;
namespace cpu = luce::device::cpu;

constexpr int64_t kWidth = 2048;
constexpr size_t kWeightBytes = size_t{192} << 20;  // far beyond the caches

/// Matrices of one format that fill kWeightBytes, each a copy of the same random rows.
struct Weights {
  int64_t rows = 0;
  std::unique_ptr<luce::device::Allocation> memory;

  Weights(cpu::CpuDevice& device, Format format) {
    constexpr int64_t kSeedRows = 16;
    std::vector<float> values(kSeedRows * kWidth);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761U % 1000) / 1000.0F - 0.5F;
    std::vector<std::byte> seed(static_cast<size_t>(luce::tensor::packed_bytes(format, kSeedRows * kWidth)));
    luce::tensor::quantise(format, values, seed);
    const size_t copies = kWeightBytes / seed.size();
    rows = static_cast<int64_t>(copies) * kSeedRows;
    memory = device.allocate(copies * seed.size(), Purpose::weights);
    std::vector<std::byte> packed(seed.size());  // sixteen rows fill a panel
    device.pack(format, {kSeedRows, kWidth}, seed, reinterpret_cast<luce::device::Address>(packed.data()));
    for (size_t i = 0; i < copies; ++i) device.write(memory->address() + i * packed.size(), packed);
  }
};

void multiply(benchmark::State& state, const std::string& isa, int threads, Format format, int64_t x_rows) {
  cpu::CpuDevice device({.threads = threads, .isa = isa});
  Weights weights(device, format);
  const int64_t rows = x_rows <= 4 ? weights.rows : std::min<int64_t>(weights.rows, 4096);
  std::vector<float> x(static_cast<size_t>(x_rows * kWidth), 0.25F), out(static_cast<size_t>(x_rows * rows));
  const auto view = [](std::vector<float>& values, int64_t outer, int64_t inner) {
    return luce::device::make_tensor(Format::f32, {outer, inner},
                                     reinterpret_cast<luce::device::Address>(values.data()));
  };
  const luce::device::MatMul product{.x = view(x, x_rows, kWidth),
                                     .weight = {format, {rows, kWidth}, {}, weights.memory->address()},
                                     .bias = {},
                                     .out = view(out, x_rows, rows)};
  for (auto _ : state) {
    device.begin_step().matmul(product);
    benchmark::DoNotOptimize(out.data());
  }
  const auto bytes = static_cast<double>(luce::tensor::packed_bytes(format, rows * kWidth));
  const auto runs = static_cast<double>(state.iterations());
  state.counters["GB/s"] = benchmark::Counter(bytes * runs / 1e9, benchmark::Counter::kIsRate);
  state.counters["GMAC/s"] =
      benchmark::Counter(static_cast<double>(rows * kWidth * x_rows) * runs / 1e9, benchmark::Counter::kIsRate);
}

/// The ceiling: every byte of a block is read once, by the same threads.
void read_bandwidth(benchmark::State& state, int threads) {
  luce::base::ThreadPool pool(threads);
  cpu::CpuDevice device({.threads = threads, .isa = "auto"});
  const auto memory = device.allocate(kWeightBytes, Purpose::weights);
  const auto* const values = reinterpret_cast<const float*>(memory->address());
  std::vector<float> sums(static_cast<size_t>(threads) * 16);
  for (auto _ : state) {
    pool.parallel_for(kWeightBytes / 4, 65536, [&](int64_t begin, int64_t end, int worker) {
      sums[static_cast<size_t>(worker) * 16] += device.kernels().vector.sum_of_squares(values + begin, end - begin);
    });
    benchmark::DoNotOptimize(sums.data());
  }
  state.counters["GB/s"] = benchmark::Counter(
      static_cast<double>(kWeightBytes) * static_cast<double>(state.iterations()) / 1e9, benchmark::Counter::kIsRate);
}

#if defined(__x86_64__)
// The ceiling of prompts: products of four codes in registers, sixteen sums side by side.
__attribute__((target("avx512f,avx512bw,avx512vnni"))) void multiply_registers(int64_t rounds) {
  __m512i sums[16] = {};
  const __m512i codes = _mm512_set1_epi8(3);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 16
    for (__m512i& sum : sums) {
      sum = _mm512_dpbusd_epi32(sum, codes, codes);
      __asm__ volatile("" : "+v"(sum));
    }
  }
}

void integer_ceiling(benchmark::State& state) {
  constexpr int64_t kRounds = 100000;
  for (auto _ : state) multiply_registers(kRounds);
  constexpr double kProducts = 16.0 * 64.0 * static_cast<double>(kRounds);
  state.counters["GMAC/s"] =
      benchmark::Counter(kProducts * static_cast<double>(state.iterations()) / 1e9, benchmark::Counter::kIsRate);
}
#endif

void add_benchmarks() {
  const int most = luce::base::default_thread_count(luce::base::read_cpu_facts());
  // One thread is judged by its own CPU time, so that a busy machine disturbs less.
  const auto add = [](const std::string& name, int threads, auto function) {
    auto* const added = benchmark::RegisterBenchmark(name.c_str(), function)->Unit(benchmark::kMillisecond);
    if (threads > 1) added->UseRealTime();
  };
  for (int threads = 1; threads <= most; threads *= 2)
    add("read/" + std::to_string(threads) + "t", threads,
        [=](benchmark::State& state) { read_bandwidth(state, threads); });
#if defined(__x86_64__)
  if (cpu::available_tables().front()->isa == cpu::Isa::avx512_vnni) add("integer products/1t", 1, integer_ceiling);
#endif
  for (const cpu::KernelTable* table : cpu::available_tables())
    for (const Format format : {Format::f32, Format::f16, Format::bf16, Format::q8_0, Format::q4_k, Format::q6_k,
                                Format::q5_k, Format::q4_0, Format::iq4_nl, Format::iq4_xs, Format::mxfp4})
      for (const int64_t rows : {1, 4, 64})
        for (int threads = 1; threads <= most; threads *= 2)
          add(std::string(table->name) + "/" + std::string(luce::tensor::info(format).name) + "/" +
                  std::to_string(rows) + "rows/" + std::to_string(threads) + "t",
              threads, [=, isa = std::string(table->name)](benchmark::State& state) {
                multiply(state, isa, threads, format, rows);
              });
}

}  // namespace

int main(int argc, char** argv) {
  add_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
