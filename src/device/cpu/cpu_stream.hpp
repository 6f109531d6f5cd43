#pragma once

#include <vector>

#include "device/cpu/expert_block.hpp"
#include "device/cpu/ops.hpp"
#include "device/cpu/rotary.hpp"
#include "device/device.hpp"

namespace luce::device::cpu {

/// Runs each op when it is called.
class CpuStream final : public Stream {
 public:
  explicit CpuStream(const Machine& machine) : machine_(machine) {}

  void embed_rows(const EmbedRows& op) override { cpu::embed_rows(machine_, op); }
  void gather_rows(const GatherRows& op) override { cpu::gather_rows(machine_, op); }
  void rms_norm(const RmsNorm& op) override { cpu::rms_norm(machine_, op); }
  void l2_norm(const L2Norm& op) override { cpu::l2_norm(machine_, op); }
  void matmul(const MatMul& op) override { cpu::matmul(machine_, op, lists_); }
  void add(const Add& op) override { cpu::add(machine_, op); }
  void swiglu(const SwiGlu& op) override { cpu::swiglu(machine_, op); }
  void multiply_gate(const MultiplyGate& op) override { cpu::multiply_gate(machine_, op); }
  void rotary(const Rotary& op) override { rotary_.run(machine_, op); }
  void append_kv(const AppendKv& op) override { cpu::append_kv(machine_, op); }
  void attend(const Attend& op) override { cpu::attend(machine_, op, partials_); }
  void convolve(const Convolve& op) override { cpu::convolve(machine_, op); }
  void delta_gates(const DeltaGates& op) override { cpu::delta_gates(machine_, op); }
  void delta_rule(const DeltaRule& op) override { cpu::delta_rule(machine_, op); }
  void router_logits(const RouterLogits& op) override {
    cpu::matmul(machine_, {.x = op.x, .weight = op.weight, .bias = {}, .out = op.logits}, lists_);
  }
  void select_experts(const SelectExperts& op) override { cpu::select_experts(machine_, op); }
  void start_experts(const ExpertBlock& op) override { experts_.start(op); }
  void finish_experts(const ExpertBlock& op) override { experts_.finish(machine_, op); }
  /// Also ends a step that an error cut short.
  void finish() override { experts_.reset(); }

 private:
  Machine machine_;
  RowLists lists_;
  std::vector<float> partials_;
  RotaryTables rotary_;
  ExpertRunner experts_;
};

}  // namespace luce::device::cpu
