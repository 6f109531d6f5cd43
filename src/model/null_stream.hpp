#pragma once

#include "device/device.hpp"

namespace luce::model {

/// Runs nothing; a network led through it over a measuring scratch tells how much scratch a step needs.
class NullStream final : public device::Stream {
 public:
  void embed_rows(const device::EmbedRows&) override {}
  void gather_rows(const device::GatherRows&) override {}
  void rms_norm(const device::RmsNorm&) override {}
  void l2_norm(const device::L2Norm&) override {}
  void matmul(const device::MatMul&) override {}
  void add(const device::Add&) override {}
  void swiglu(const device::SwiGlu&) override {}
  void multiply_gate(const device::MultiplyGate&) override {}
  void rotary(const device::Rotary&) override {}
  void append_kv(const device::AppendKv&) override {}
  void attend(const device::Attend&) override {}
  void convolve(const device::Convolve&) override {}
  void delta_gates(const device::DeltaGates&) override {}
  void delta_rule(const device::DeltaRule&) override {}
  void router_logits(const device::RouterLogits&) override {}
  void select_experts(const device::SelectExperts&) override {}
  void start_experts(const device::ExpertBlock&) override {}
  void finish_experts(const device::ExpertBlock&) override {}
  void finish() override {}
};

}  // namespace luce::model
