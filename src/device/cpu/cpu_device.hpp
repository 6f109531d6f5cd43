#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"

namespace luce::device::cpu {

struct CpuSettings {
  int threads = 0;           // 0: one per physical core that this process may use
  std::string isa = "auto";  // or portable, avx2, avx2_vnni, avx512, avx512_vnni
};

struct KernelTable;

/// The CPU as a device: ops run as they are called, spread over a pool of threads, on the kernels of one ISA.
/// Addresses are pointers; matrices keep the file's blocks, row after row. Results do not depend on the number of
/// threads, on the other rows of a step or on how experts come in waves.
class CpuDevice final : public Device {
 public:
  /// Throws Error{usage | unsupported} naming what can be chosen.
  explicit CpuDevice(const CpuSettings& settings);
  ~CpuDevice() override;

  std::string description() const override;
  std::unique_ptr<Allocation> allocate(size_t bytes, Purpose purpose) override;
  size_t allocated_bytes(Purpose purpose) const override;
  void write(Address to, std::span<const std::byte> from) override;
  void read(Address from, std::span<std::byte> to) override;
  bool supports(tensor::Format format, int64_t width) const override;
  size_t packed_bytes(tensor::Format format, int64_t rows, int64_t width) const override;
  void pack(tensor::Format format, const tensor::Shape& shape, std::span<const std::byte> from, Address to) override;
  Stream& begin_step() override;

  const KernelTable& kernels() const;
  /// For people: how a matrix of this format is multiplied, for example "avx2 F16, F32 activations".
  std::string kernel_name(tensor::Format format) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace luce::device::cpu
