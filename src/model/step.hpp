#pragma once

#include "device/device.hpp"
#include "model/scratch.hpp"
#include "model/sequence_memory.hpp"

namespace luce::model {

/// What the blocks of one step share.
struct Step {
  device::Stream& stream;
  Scratch& scratch;
  const SequenceMemory& memory;
  device::ExpertService* experts = nullptr;
  const device::RowClass* classes = nullptr;  // [rows], host memory
  int rows = 0;
  device::Tensor x{};          // [rows, width], the residual stream
  device::Tensor slots{};      // [rows] i32
  device::Tensor positions{};  // [rows] i32
  device::Tensor spans{};      // [sequences, 4] i32
};

/// step.x += block(), whose scratch is given back.
template <typename Block>
void add_residual(Step& step, Block&& block) {
  const ScratchScope scope(step.scratch);
  step.stream.add({.x = step.x, .y = block()});
}

/// x weight^T (+ bias) into fresh scratch.
device::Tensor project(Step& step, const device::Tensor& x, const device::Tensor& weight,
                       const device::Tensor& bias = {});

/// RMS norm of the innermost axis into fresh scratch.
device::Tensor normalise(Step& step, const device::Tensor& x, const device::Tensor& weight, float epsilon);

}  // namespace luce::model
