#include "device/cpu/cpu_device.hpp"

#include <cstring>

#include "base/check.hpp"
#include "base/cpu_topology.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "device/cpu/cpu_stream.hpp"
#include "device/cpu/isa.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/memory.hpp"
#include "device/cpu/panel_layout.hpp"

namespace luce::device::cpu {
namespace {

constexpr int kMostThreads = 1024;

int choose_threads(int wanted) {
  if (wanted == 0) return base::default_thread_count(base::read_cpu_facts());
  if (wanted < 0 || wanted > kMostThreads)
    fail(ErrorKind::usage, "threads: {} is outside 1 to {}; 0 takes one per physical core", wanted, kMostThreads);
  return wanted;
}

}  // namespace

class CpuDevice::Parts {
 public:
  explicit Parts(const CpuSettings& settings)
      : kernels(choose_table(settings.isa)),
        pool(choose_threads(settings.threads)),
        workspace(pool.threads()),
        stream(Machine{pool, kernels, workspace}) {}

  const KernelTable& kernels;
  base::ThreadPool pool;
  Workspace workspace;
  CpuStream stream;
  std::shared_ptr<Account> account = std::make_shared<Account>();
};

CpuDevice::CpuDevice(const CpuSettings& settings) : parts_(std::make_unique<Parts>(settings)) {}
CpuDevice::~CpuDevice() = default;

std::string CpuDevice::description() const {
  const int threads = parts_->pool.threads();
  return fmt::format("CPU, {} {}, {}", threads, threads == 1 ? "thread" : "threads", parts_->kernels.name);
}

std::unique_ptr<Allocation> CpuDevice::allocate(size_t bytes, Purpose purpose) {
  return std::make_unique<CountedBlock>(Block(bytes, &parts_->pool), purpose, parts_->account);
}

size_t CpuDevice::allocated_bytes(Purpose purpose) const { return parts_->account->used(purpose); }

void CpuDevice::write(Address to, std::span<const std::byte> from) {
  if (!from.empty()) std::memcpy(reinterpret_cast<std::byte*>(to), from.data(), from.size());
}

void CpuDevice::read(Address from, std::span<std::byte> to) {
  if (!to.empty()) std::memcpy(to.data(), reinterpret_cast<const std::byte*>(from), to.size());
}

bool CpuDevice::supports(tensor::Format format, int64_t width) const {
  const tensor::FormatInfo& info = tensor::info(format);
  return info.computes && width > 0 && width % info.block_elements == 0;
}

size_t CpuDevice::packed_bytes(tensor::Format format, int64_t rows, int64_t width) const {
  const PanelLayout* const panels = find_panel_layout(format);
  const int64_t held = panels != nullptr ? (rows + kPanelRows - 1) / kPanelRows * kPanelRows : rows;
  const auto bytes = static_cast<size_t>(held * tensor::packed_bytes(format, width));
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void CpuDevice::pack(tensor::Format format, const tensor::Shape& shape, std::span<const std::byte> from, Address to) {
  LUCE_CHECK(static_cast<int64_t>(from.size()) == shape.rows() * tensor::packed_bytes(format, shape.width()),
             "a matrix is packed from exactly its bytes");
  const PanelLayout* const panels = find_panel_layout(format);
  if (panels == nullptr) return write(to, from);
  const FileRows rows{from.data(), shape.rows(), shape.width()};
  pack_panels(*panels, rows, reinterpret_cast<std::byte*>(to), 0, (rows.rows + kPanelRows - 1) / kPanelRows);
}

Stream& CpuDevice::begin_step() {
  parts_->stream.finish();
  return parts_->stream;
}

const KernelTable& CpuDevice::kernels() const { return parts_->kernels; }

std::string CpuDevice::kernel_name(tensor::Format format) const { return describe_kernel(parts_->kernels, format); }

}  // namespace luce::device::cpu
