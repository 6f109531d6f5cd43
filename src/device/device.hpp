#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "device/operations.hpp"

namespace luce::device {

/// What memory is for; budgets and metrics are told by purpose.
enum class Purpose { weights, kv_cache, recurrent_state, scratch, expert_slots, staging };

/// Zeroed device memory, touched when allocated and freed with this object.
class Allocation {
 public:
  virtual ~Allocation() = default;
  virtual Address address() const = 0;
  virtual size_t bytes() const = 0;
  /// Leaves memory behind the first `bytes` only, rounded up as the device likes; the rest goes back to the system, its
  /// addresses stay reserved. A larger number later backs them again, zeroed. Returns the bytes that have memory.
  /// Throws Error{out_of_memory}.
  virtual size_t keep(size_t bytes) = 0;
};

/// Records one step. Ops run in order; on the CPU each runs at once and the host point of an expert block is answered
/// inline, a GPU batches the ops between two host points.
class Stream {
 public:
  virtual ~Stream() = default;

  virtual void embed_rows(const EmbedRows& op) = 0;
  virtual void gather_rows(const GatherRows& op) = 0;
  virtual void rms_norm(const RmsNorm& op) = 0;
  virtual void l2_norm(const L2Norm& op) = 0;
  virtual void matmul(const MatMul& op) = 0;
  virtual void add(const Add& op) = 0;
  virtual void swiglu(const SwiGlu& op) = 0;
  virtual void multiply_gate(const MultiplyGate& op) = 0;
  virtual void rotary(const Rotary& op) = 0;
  virtual void append_kv(const AppendKv& op) = 0;
  virtual void attend(const Attend& op) = 0;
  virtual void convolve(const Convolve& op) = 0;
  virtual void delta_gates(const DeltaGates& op) = 0;
  virtual void delta_rule(const DeltaRule& op) = 0;
  virtual void router_logits(const RouterLogits& op) = 0;
  virtual void select_experts(const SelectExperts& op) = 0;

  /// The host point: hands the routing to the service, which starts its fetches. Ops between this and finish_experts
  /// (the shared expert) overlap with them.
  virtual void start_experts(const ExpertBlock& op) = 0;
  virtual void finish_experts(const ExpertBlock& op) = 0;

  /// Ends the step; afterwards its outputs can be read by the host.
  virtual void finish() = 0;
};

/// Hardware that owns memory and runs the ops of Stream.
class Device {
 public:
  virtual ~Device() = default;

  /// For people, for example "CPU, 2 threads, avx512_vnni".
  virtual std::string description() const = 0;

  /// Throws Error{out_of_memory}.
  virtual std::unique_ptr<Allocation> allocate(size_t bytes, Purpose purpose) = 0;
  /// Bytes in use by purpose.
  virtual size_t allocated_bytes(Purpose purpose) const = 0;

  virtual void write(Address to, std::span<const std::byte> from) = 0;
  virtual void read(Address from, std::span<std::byte> to) = 0;

  /// Whether a matrix [rows, width] in this format can be multiplied here.
  virtual bool supports(tensor::Format format, int64_t width) const = 0;
  /// Bytes of a matrix [rows, width] in this device's layout, a multiple of 64.
  virtual size_t packed_bytes(tensor::Format format, int64_t rows, int64_t width) const = 0;
  /// Converts a matrix from the file's layout into this device's at `to`. Thread-safe. A matrix may be packed in pieces
  /// whose first row r is a multiple of 64; such a piece goes to packed_bytes(format, r, width) behind the start.
  virtual void pack(tensor::Format format, const tensor::Shape& shape, std::span<const std::byte> from, Address to) = 0;

  /// The stream of the next step; one is open at a time.
  virtual Stream& begin_step() = 0;
};

}  // namespace luce::device
