#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/memory_limit.hpp"
#include "cpu_bench.hpp"
#include "device/cpu/matrix.hpp"
#include "device/registry.hpp"
#include "seen_activations.hpp"
#include "tensor/reference.hpp"

namespace luce::device {
namespace {

using tensor::Format;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // shadow memory comes on top
#else
constexpr bool kSanitized = false;
#endif

template <typename Function>
void expect_error(ErrorKind kind, const std::string& word, const Function& function) {
  try {
    function();
    ADD_FAILURE() << "no error that mentions " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(Registry, MakesTheCpuByNameAndByDefault) {
  for (const char* name : {"auto", "cpu"}) {
    const auto device = make_device({.name = name, .threads = 1, .isa = "portable"});
    EXPECT_EQ(device->description(), "CPU, 1 thread, portable");
  }
}

TEST(Registry, TellsWhatThereIs) {
  expect_error(ErrorKind::unsupported, "cpu", [] { make_device({.name = "vulkan"}); });
  expect_error(ErrorKind::unsupported, "vulkan:1", [] { make_device({.name = "vulkan:1"}); });
  expect_error(ErrorKind::usage, "'gpu' is unknown", [] { make_device({.name = "gpu"}); });
}

TEST(CpuIsa, ForcedByNameOrTheBestOfTheMachine) {
  EXPECT_EQ(std::string(cpu::choose_table("auto").name), isa_names().front());
  for (const std::string& name : isa_names()) EXPECT_EQ(cpu::choose_table(name).name, name);
  EXPECT_EQ(isa_names().back(), "portable");
  expect_error(ErrorKind::usage, "portable", [] { cpu::choose_table("sse9"); });
  expect_error(ErrorKind::usage, "threads", [] { cpu::CpuDevice({.threads = -1}); });
}

TEST(CpuIsa, TablesShareNoFunction) {
  const auto tables = cpu::available_tables();
  for (size_t i = 0; i < tables.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(tables[i]->matrix.f16.dot, tables[j]->matrix.f16.dot);
      EXPECT_NE(tables[i]->panel.q4_k, tables[j]->panel.q4_k);
      EXPECT_NE(tables[i]->vector.swiglu, tables[j]->vector.swiglu);
      EXPECT_NE(tables[i]->cache_f16.score, tables[j]->cache_f16.score);
      EXPECT_NE(tables[i]->delta, tables[j]->delta);
    }
}

TEST(CpuIsa, NamesTheKernelOfAFormat) {
  const cpu::CpuDevice device({.threads = 1, .isa = "portable"});
  EXPECT_EQ(device.kernel_name(Format::q4_k), "portable Q4_K, panels of 16 rows, 8-bit activations");
  EXPECT_EQ(device.kernel_name(Format::f16), "portable F16, F32 activations");
  EXPECT_EQ(device.kernel_name(Format::iq3_s), "portable F32 after dequantising");
}

class OneCpu : public testing::Test {
 protected:
  cpu::CpuDevice device_{cpu::CpuSettings{.threads = 2, .isa = "auto"}};
};

TEST_F(OneCpu, AllocatesZeroedAlignedCountedMemory) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100}, size_t{4} << 20, (size_t{9} << 20) + 5}) {
    const auto memory = device_.allocate(bytes, Purpose::kv_cache);
    EXPECT_GE(memory->bytes(), bytes);
    EXPECT_NE(memory->address(), 0U);
    EXPECT_EQ(memory->address() % (bytes >= (size_t{4} << 20) ? size_t{2} << 20 : 64), 0U);
    EXPECT_EQ(device_.allocated_bytes(Purpose::kv_cache), memory->bytes());
    EXPECT_EQ(device_.allocated_bytes(Purpose::weights), 0U);
    std::vector<std::byte> read(bytes, std::byte{1});
    device_.read(memory->address(), read);
    EXPECT_TRUE(std::ranges::all_of(read, [](std::byte b) { return b == std::byte{0}; }));
    std::ranges::fill(read, std::byte{7});
    device_.write(memory->address(), read);
  }
  EXPECT_EQ(device_.allocated_bytes(Purpose::kv_cache), 0U);
}

TEST_F(OneCpu, GivesMemoryBackAndTakesItAnew) {
  constexpr size_t kMiB = size_t{1} << 20;
  const int64_t before = base::resident_bytes();
  const auto memory = device_.allocate(64 * kMiB, Purpose::expert_slots);
  auto* const bytes = reinterpret_cast<std::byte*>(memory->address());
  std::fill_n(bytes, memory->bytes(), std::byte{7});
  EXPECT_EQ(memory->keep(9 * kMiB), 10 * kMiB) << "whole huge pages go";
  EXPECT_EQ(device_.allocated_bytes(Purpose::expert_slots), 10 * kMiB);
  EXPECT_EQ(memory->bytes(), 64 * kMiB);
  if (!kSanitized) {
    EXPECT_LT(base::resident_bytes() - before, static_cast<int64_t>(20 * kMiB));
  }
  EXPECT_EQ(bytes[9 * kMiB - 1], std::byte{7});
  EXPECT_EQ(memory->keep(64 * kMiB), 64 * kMiB);
  EXPECT_EQ(bytes[9 * kMiB - 1], std::byte{7});
  EXPECT_EQ(std::count(bytes + 10 * kMiB, bytes + 64 * kMiB, std::byte{0}), static_cast<std::ptrdiff_t>(54 * kMiB));
  EXPECT_EQ(device_.allocated_bytes(Purpose::expert_slots), 64 * kMiB);
  EXPECT_EQ(memory->keep(0), 0U);
}

TEST_F(OneCpu, SmallMemoryIsKeptWhole) {
  const auto memory = device_.allocate(4096, Purpose::expert_slots);
  EXPECT_EQ(memory->keep(64), memory->bytes());
  EXPECT_EQ(device_.allocated_bytes(Purpose::expert_slots), memory->bytes());
}

TEST_F(OneCpu, RefusesWhatTheMachineDoesNotHave) {
  for (const size_t bytes : {size_t{1} << 50, std::numeric_limits<size_t>::max()})
    expect_error(ErrorKind::out_of_memory, "cannot allocate", [&] { device_.allocate(bytes, Purpose::weights); });
  EXPECT_EQ(device_.allocated_bytes(Purpose::weights), 0U);
}

TEST_F(OneCpu, MemoryMayOutliveItsDevice) {
  std::unique_ptr<Allocation> memory;
  {
    cpu::CpuDevice shortlived({.threads = 1, .isa = "auto"});
    memory = shortlived.allocate(size_t{5} << 20, Purpose::weights);
  }
  auto* first = reinterpret_cast<char*>(memory->address());
  *first = 1;
  EXPECT_EQ(*first, 1);
  EXPECT_EQ(memory->bytes(), size_t{5} << 20);
}

TEST_F(OneCpu, PacksMatricesThatMultiply) {
  constexpr int64_t kRows = 3, kWidth = 512;
  const size_t bytes = device_.packed_bytes(Format::q6_k, kRows, kWidth);
  EXPECT_EQ(bytes, 6720U);  // one panel of 16 rows of 2 blocks of 210 bytes
  std::vector<std::byte> file(static_cast<size_t>(tensor::packed_bytes(Format::q6_k, kRows * kWidth)));
  tensor::quantise(Format::q6_k, random_values(kRows * kWidth, 1), file);
  const auto memory = device_.allocate(bytes, Purpose::weights);
  device_.pack(Format::q6_k, {kRows, kWidth}, file, memory->address());
  Guarded<float> x(random_values(kWidth, 2)), out(kRows);
  device_.begin_step().matmul({.x = floats_tensor(x, {1, kWidth}),
                               .weight = {Format::q6_k, {kRows, kWidth}, {}, memory->address()},
                               .bias = {},
                               .out = floats_tensor(out, {1, kRows})});
  for (size_t row = 0; row < kRows; ++row) {
    const std::span packed = std::span(file).subspan(row * file.size() / kRows, file.size() / kRows);
    std::vector<float> seen;
    for (const double value : seen_by(Format::q6_k, {x.data(), kWidth})) seen.push_back(static_cast<float>(value));
    EXPECT_NEAR(out[row], tensor::dot_reference(Format::q6_k, packed, seen), 1e-4);
  }
}

TEST_F(OneCpu, PacksInPiecesWhatItPacksAtOnce) {
  constexpr int64_t kRows = 150, kWidth = 512;
  for (const Format format : {Format::q8_0, Format::q6_k, Format::q5_0, Format::mxfp4}) {
    const auto row_bytes = static_cast<size_t>(tensor::packed_bytes(format, kWidth));
    std::vector<std::byte> file(row_bytes * kRows);
    tensor::quantise(format, random_values(kRows * kWidth, 1), file);
    std::vector<std::byte> at_once(device_.packed_bytes(format, kRows, kWidth)), in_pieces(at_once.size());
    device_.pack(format, {kRows, kWidth}, file, reinterpret_cast<Address>(at_once.data()));
    for (int64_t row = 0; row < kRows; row += 64) {
      const int64_t rows = std::min<int64_t>(64, kRows - row);
      const size_t offset = row == 0 ? 0 : device_.packed_bytes(format, row, kWidth);
      const std::span piece = std::span(file).subspan(static_cast<size_t>(row) * row_bytes);
      device_.pack(format, {rows, kWidth}, piece.first(static_cast<size_t>(rows) * row_bytes),
                   reinterpret_cast<Address>(in_pieces.data() + offset));
    }
    EXPECT_EQ(in_pieces, at_once) << tensor::info(format).name;
  }
}

TEST_F(OneCpu, SupportsWholeBlocksOfComputingFormats) {
  EXPECT_TRUE(device_.supports(Format::f32, 7));
  EXPECT_TRUE(device_.supports(Format::q4_k, 512));
  EXPECT_FALSE(device_.supports(Format::q4_k, 128));
  EXPECT_FALSE(device_.supports(Format::q8_0, 0));
  EXPECT_FALSE(device_.supports(Format::nvfp4, 64));
  EXPECT_FALSE(device_.supports(Format::i32, 64));
}

TEST(CpuThreads, ChangeNoBitOfAMatrixProduct) {
  constexpr int64_t kWidth = 512, kOut = 700;
  std::vector<std::byte> file(static_cast<size_t>(tensor::packed_bytes(Format::q4_k, kOut * kWidth)));
  tensor::quantise(Format::q4_k, random_values(kOut * kWidth, 1), file);
  cpu::CpuDevice packer({.threads = 1});
  std::vector<std::byte> packed(packer.packed_bytes(Format::q4_k, kOut, kWidth));
  packer.pack(Format::q4_k, {kOut, kWidth}, file, reinterpret_cast<Address>(packed.data()));
  const Tensor weight{Format::q4_k, {kOut, kWidth}, {}, reinterpret_cast<Address>(packed.data())};
  for (const std::string& isa : isa_names())
    for (const int64_t rows : {1, 3, 20}) {
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 5}) {
        cpu::CpuDevice device({.threads = threads, .isa = isa});
        Guarded<float> x(random_values(static_cast<size_t>(rows * kWidth), 2)), out(static_cast<size_t>(rows * kOut));
        device.begin_step().matmul({.x = floats_tensor(x, {rows, kWidth}),
                                    .weight = weight,
                                    .bias = {},
                                    .out = floats_tensor(out, {rows, kOut})});
        if (first.empty()) first = out.values();
        EXPECT_EQ(out.values(), first) << isa << " with " << threads << " threads and " << rows << " rows";
      }
    }
}

}  // namespace
}  // namespace luce::device
