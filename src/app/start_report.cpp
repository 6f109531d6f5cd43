#include "app/start_report.hpp"

#include <algorithm>
#include <filesystem>

#include "app/bandwidth.hpp"
#include "base/byte_size.hpp"
#include "base/cpu_topology.hpp"
#include "base/format.hpp"
#include "plan/hit_model.hpp"
#include "plan/speed.hpp"

namespace luce::app {
namespace {

constexpr size_t kBufferBytes = size_t{32} << 20;

std::string budget_line(const plan::MemoryPlan& plan) {
  std::string line = fmt::format("memory: {} planned of {}:", base::format_bytes(plan.total_bytes()),
                                 base::format_bytes(plan.budget_bytes));
  bool first = true;
  for (const plan::Part part : plan::kAllParts) {
    if (plan.bytes(part) == 0) continue;
    line += fmt::format("{} {} {}", first ? "" : ",", plan::name(part), base::format_bytes(plan.bytes(part)));
    first = false;
  }
  return line + fmt::format("; {} stay free", base::format_bytes(plan.reserve_bytes));
}

std::string experts_line(const ModelAssembly& assembly) {
  const plan::MemoryPlan& plan = assembly.plan();
  if (plan.total_experts == 0)
    return fmt::format("experts: none, {} is a dense model", assembly.blueprint().shape().architecture);
  int least = INT32_MAX;
  int most = 0;
  for (const int slots : plan.slots) {
    if (slots == 0) continue;
    least = std::min(least, slots);
    most = std::max(most, slots);
  }
  const std::string per_layer = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  return fmt::format("experts: {} of {} resident ({:.0f} % of their bytes), {} slots per layer, top {}, evicted by {}",
                     plan.total_slots, plan.total_experts, plan.share_resident * 100, per_layer,
                     assembly.blueprint().shape().top_k, assembly.policy());
}

std::string speed_line(const ModelAssembly& assembly, const MeasuredSpeeds& speeds) {
  const plan::TokenTraffic traffic = plan::token_traffic(assembly.blueprint().shape(), tensor::Format::f16, 0);
  const double hits = assembly.plan().expected_hit_ratio;
  const plan::DecodeEstimate estimate =
      plan::estimate_decode(traffic, hits, {speeds.memory_bytes_per_second, speeds.file_bytes_per_second});
  return fmt::format(
      "speed: at most {:.0f} tokens/s for one request: {} a token at {:.1f} GB/s from memory, {:.0f} % of the experts "
      "expected there, the others at {:.1f} GB/s from the file",
      estimate.tokens_per_second, base::format_bytes(traffic.total_bytes()), speeds.memory_bytes_per_second / 1e9,
      hits * 100, speeds.file_bytes_per_second / 1e9);
}

}  // namespace

MeasuredSpeeds measure_speeds(const ModelAssembly& assembly) {
  const int threads = base::default_thread_count(base::read_cpu_facts());
  return {measure_memory_bandwidth(kBufferBytes, threads), measure_file_bandwidth(assembly.file())};
}

std::vector<std::string> start_lines(const ModelAssembly& assembly, const ModelPath& path,
                                     const MeasuredSpeeds& speeds) {
  std::vector<std::string> lines;
  const plan::ModelShape& shape = assembly.blueprint().shape();
  lines.push_back(fmt::format("model: {} ({}), file {}", shape.name, shape.architecture, path.path));
  lines.push_back("device: " + assembly.device().description());
  lines.push_back(budget_line(assembly.plan()));
  lines.push_back(experts_line(assembly));
  lines.push_back(speed_line(assembly, speeds));
  lines.push_back(fmt::format("context: {} tokens for each of {} requests at a time (trained for {})",
                              assembly.limits().context_tokens, assembly.limits().sequences, shape.trained_context));
  return lines;
}

std::vector<std::string> warning_lines(const ModelAssembly& assembly) {
  std::vector<std::string> lines = assembly.plan().warnings;
  lines.insert(lines.end(), assembly.blueprint().notes().begin(), assembly.blueprint().notes().end());
  for (const server::Condition& each : assembly.conditions())
    lines.push_back(fmt::format("--{} is {}: {}", each.name, each.state, each.reason));
  return lines;
}

}  // namespace luce::app
