#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/isa.hpp"
#include "expectation.hpp"
#include "guarded.hpp"

namespace luce::device {

inline Tensor floats_tensor(Guarded<float>& values, const tensor::Shape& shape) {
  EXPECT_EQ(shape.elements(), static_cast<int64_t>(values.size()));
  return make_tensor(tensor::Format::f32, shape, values.address());
}

inline Tensor ints_tensor(Guarded<int32_t>& values, const tensor::Shape& shape) {
  EXPECT_EQ(shape.elements(), static_cast<int64_t>(values.size()));
  return make_tensor(tensor::Format::i32, shape, values.address());
}

inline std::vector<std::string> isa_names() {
  std::vector<std::string> names;
  for (const cpu::KernelTable* table : cpu::available_tables()) names.emplace_back(table->name);
  return names;
}

/// Ops on each ISA of this machine and some numbers of threads.
class OnEachCpu : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  const std::string& isa() const { return std::get<0>(GetParam()); }
  Stream& stream() { return device_->begin_step(); }
  /// Ops run with this many threads from now on.
  void use_threads(int threads) { device_ = std::make_unique<cpu::CpuDevice>(cpu::CpuSettings{threads, isa()}); }

  std::unique_ptr<cpu::CpuDevice> device_ =
      std::make_unique<cpu::CpuDevice>(cpu::CpuSettings{std::get<1>(GetParam()), std::get<0>(GetParam())});
};

inline std::string cpu_case_name(const testing::TestParamInfo<std::tuple<std::string, int>>& test) {
  return std::get<0>(test.param) + "_" + std::to_string(std::get<1>(test.param)) + "_threads";
}

#define LUCE_ON_EACH_CPU(Suite)                                                                                 \
  INSTANTIATE_TEST_SUITE_P(Cpu, Suite, testing::Combine(testing::ValuesIn(isa_names()), testing::Values(1, 3)), \
                           cpu_case_name)

}  // namespace luce::device
