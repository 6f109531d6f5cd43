#include "device/cpu/isa.hpp"

#include <array>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/cpu/panel_layout.hpp"

namespace luce::device::cpu {
namespace {

using tensor::Format;

// In order of priority; the first that runs here wins.
#if defined(__x86_64__)
constexpr std::array kTables = {&kAvx512VnniKernels, &kAvx512Kernels, &kAvx2VnniKernels, &kAvx2Kernels,
                                &kPortableKernels};
#else
constexpr std::array kTables = {&kPortableKernels};
#endif

// Names that exist on any processor, so that asking for one elsewhere is told apart from a typing error.
constexpr std::array<std::string_view, 5> kNames = {"avx512_vnni", "avx512", "avx2_vnni", "avx2", "portable"};

bool runs_here(Isa isa) {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  switch (isa) {
    case Isa::portable: return true;
    case Isa::avx2: return avx2;
    case Isa::avx2_vnni: return avx2 && __builtin_cpu_supports("avxvnni");
    case Isa::avx512: return avx512;
    case Isa::avx512_vnni: return avx512 && __builtin_cpu_supports("avx512vnni");
  }
  return false;
#else
  return isa == Isa::portable;
#endif
}

std::vector<const KernelTable*> find_available() {
  std::vector<const KernelTable*> found;
  for (const KernelTable* table : kTables)
    if (runs_here(table->isa)) found.push_back(table);
  return found;
}

std::string available_names() {
  std::string names = "auto";
  for (const KernelTable* table : available_tables()) names += fmt::format(", {}", table->name);
  return names;
}

}  // namespace

std::span<const KernelTable* const> available_tables() {
  static const std::vector<const KernelTable*> tables = find_available();
  return tables;
}

const KernelTable& choose_table(std::string_view isa) {
  if (isa == "auto") return *available_tables().front();
  for (const KernelTable* table : available_tables())
    if (isa == table->name) return *table;
  for (const std::string_view name : kNames)
    if (isa == name)
      fail(ErrorKind::unsupported, "isa: this processor cannot run '{}'; choose one of: {}", isa, available_names());
  fail(ErrorKind::usage, "isa: '{}' is unknown; choose one of: {}", isa, available_names());
}

const MatrixKernel* find_matrix_kernel(const KernelTable& table, Format format) {
  switch (format) {
    case Format::f32: return &table.matrix.f32;
    case Format::f16: return &table.matrix.f16;
    case Format::bf16: return &table.matrix.bf16;
    case Format::q4_0: return &table.matrix.q4_0;
    case Format::q4_1: return &table.matrix.q4_1;
    case Format::q5_0: return &table.matrix.q5_0;
    case Format::q5_1: return &table.matrix.q5_1;
    case Format::q8_0: return &table.matrix.q8_0;
    case Format::q2_k: return &table.matrix.q2_k;
    case Format::q3_k: return &table.matrix.q3_k;
    case Format::q4_k: return &table.matrix.q4_k;
    case Format::q5_k: return &table.matrix.q5_k;
    case Format::q6_k: return &table.matrix.q6_k;
    case Format::iq4_nl: return &table.matrix.iq4_nl;
    case Format::iq4_xs: return &table.matrix.iq4_xs;
    case Format::mxfp4: return &table.matrix.mxfp4;
    default: return nullptr;
  }
}

std::string describe_kernel(const KernelTable& table, Format format) {
  const std::string_view name = tensor::info(format).name;
  if (find_panel_layout(format) != nullptr)
    return fmt::format("{} {}, panels of {} rows, 8-bit activations", table.name, name, kPanelRows);
  if (find_matrix_kernel(table, format) != nullptr) return fmt::format("{} {}, F32 activations", table.name, name);
  return fmt::format("{} F32 after dequantising", table.name);
}

}  // namespace luce::device::cpu
