#pragma once

#include <vector>

#include "device/cpu/machine.hpp"
#include "device/cpu/quantised_rows.hpp"
#include "device/operations.hpp"

// The ops of Stream that need no memory of their own between calls; device/operations.hpp says what each computes.
namespace luce::device::cpu {

/// The rows of a matrix product, kept by the stream so that no op allocates.
struct RowLists {
  std::vector<const float*> x;
  std::vector<float*> out;
  QuantisedRows quantised;
};

void embed_rows(const Machine& machine, const EmbedRows& op);
void gather_rows(const Machine& machine, const GatherRows& op);
void rms_norm(const Machine& machine, const RmsNorm& op);
void l2_norm(const Machine& machine, const L2Norm& op);
void matmul(const Machine& machine, const MatMul& op, RowLists& lists);
void add(const Machine& machine, const Add& op);
void swiglu(const Machine& machine, const SwiGlu& op);
void multiply_gate(const Machine& machine, const MultiplyGate& op);
void append_kv(const Machine& machine, const AppendKv& op);
/// `partials` is scratch for contexts that several threads share.
void attend(const Machine& machine, const Attend& op, std::vector<float>& partials);
void convolve(const Machine& machine, const Convolve& op);
void delta_gates(const Machine& machine, const DeltaGates& op);
void delta_rule(const Machine& machine, const DeltaRule& op);
void select_experts(const Machine& machine, const SelectExperts& op);

}  // namespace luce::device::cpu
