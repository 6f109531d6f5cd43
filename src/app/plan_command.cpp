#include <nlohmann/json.hpp>

#include "app/bandwidth.hpp"
#include "app/bench_measure.hpp"
#include "app/command_line.hpp"
#include "app/model_assembly.hpp"
#include "app/option_value.hpp"
#include "app/progress_bar.hpp"
#include "app/service.hpp"
#include "app/start_report.hpp"
#include "base/byte_size.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/memory_limit.hpp"
#include "plan/speed.hpp"

namespace luce::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTrialTokens = 64;

struct PlanArguments {
  std::string model;
  std::string assume;
  bool check = false;
  bool json = false;
};

double parse_speed(const std::string& text) {
  const size_t slash = text.find("/s");
  const int64_t bytes = parse_size(text.substr(0, slash));
  if (slash == std::string::npos || bytes <= 0) throw BadValue("a speed such as 40GB/s");
  return static_cast<double>(bytes);
}

/// "40GB/s,3GB/s": memory, and the link that misses come over.
MeasuredSpeeds parse_assumption(const std::string& text) {
  try {
    const std::vector<std::string> parts = parse_list(text);
    if (parts.size() != 2) throw BadValue("two speeds");
    return {parse_speed(parts[0]), parse_speed(parts[1])};
  } catch (const BadValue&) {
    fail(ErrorKind::usage, "--assume is '{}' but must be the speeds of memory and of misses, such as 40GB/s,3GB/s",
         text);
  }
}

struct Forecast {
  plan::TokenTraffic traffic;
  MeasuredSpeeds speeds;
  plan::DecodeEstimate estimate;
};

Forecast forecast_of(const ModelAssembly& assembly, const MeasuredSpeeds& speeds) {
  Forecast forecast;
  forecast.speeds = speeds;
  forecast.traffic = plan::token_traffic(assembly.blueprint().shape(), tensor::Format::f16, 0);
  forecast.estimate = plan::estimate_decode(forecast.traffic, assembly.plan().expected_hit_ratio,
                                            {speeds.memory_bytes_per_second, speeds.file_bytes_per_second});
  return forecast;
}

const char* binding(const Forecast& forecast) {
  return forecast.estimate.bound == plan::Bound::memory ? "memory" : "misses";
}

/// What the plan promised, beside what then happened.
struct Trial {
  BenchResult decode;
  int64_t resident_bytes = 0;
};

/// Loads the model as planned and decodes with it.
Trial try_out(ModelAssembly& assembly) {
  ProgressBar bar("loading");
  assembly.load([&bar](int64_t done, int64_t all) {
    bar.show(done, all);
    return true;
  });
  bar.finish();
  if (assembly.experts() != nullptr) assembly.experts()->warm({});
  BenchPlan work;
  work.prompt_tokens = 0;
  work.depth_tokens = std::min(kTrialTokens, assembly.limits().context_tokens / 4);
  work.generated_tokens = work.depth_tokens;
  Trial trial;
  trial.decode = run_bench(assembly, work).back();
  trial.resident_bytes = base::resident_bytes();
  return trial;
}

Json trial_json(const Trial& trial) {
  return {{"tokens_per_second", trial.decode.median()},
          {"hit_ratio", trial.decode.hit_ratio},
          {"resident_bytes", trial.resident_bytes}};
}

void print_trial(const ModelAssembly& assembly, const Forecast& forecast, const Trial& trial) {
  fmt::print(
      "  tried: {:.1f} tokens/s, {:.0f} % of the bound; {:.0f} % of accesses found their expert (random tokens)\n",
      trial.decode.median(), trial.decode.median() / forecast.estimate.tokens_per_second * 100,
      trial.decode.hit_ratio * 100);
  fmt::print("  tried: {} in memory, {} planned\n", base::format_bytes(trial.resident_bytes),
             base::format_bytes(assembly.plan().total_bytes()));
}

Json plan_json(const ModelAssembly& assembly, const Forecast& forecast) {
  const plan::MemoryPlan& plan = assembly.plan();
  Json parts = Json::object();
  for (const plan::Part part : plan::kAllParts) parts[std::string(plan::name(part))] = plan.bytes(part);
  return {{"model", assembly.blueprint().shape().name},
          {"architecture", assembly.blueprint().shape().architecture},
          {"context_tokens", assembly.limits().context_tokens},
          {"parallel", assembly.limits().sequences},
          {"budget_bytes", plan.budget_bytes},
          {"planned_bytes", plan.total_bytes()},
          {"parts", std::move(parts)},
          {"experts",
           {{"total", plan.total_experts},
            {"resident", plan.total_slots},
            {"share_resident", plan.share_resident},
            {"token_cycle_bytes", plan.token_cycle_bytes},
            {"expected_hit_ratio", plan.expected_hit_ratio}}},
          {"bytes_per_token", forecast.traffic.total_bytes()},
          {"memory_bytes_per_second", forecast.speeds.memory_bytes_per_second},
          {"miss_bytes_per_second", forecast.speeds.file_bytes_per_second},
          {"tokens_per_second", forecast.estimate.tokens_per_second},
          {"bound_by", binding(forecast)},
          {"warnings", warning_lines(assembly)}};
}

void print_table(const ModelAssembly& assembly, const Forecast& forecast) {
  const plan::MemoryPlan& plan = assembly.plan();
  fmt::print("{} ({}), context {} for each of {} requests\n\n", assembly.blueprint().shape().name,
             assembly.blueprint().shape().architecture, assembly.limits().context_tokens, assembly.limits().sequences);
  for (const plan::Part part : plan::kAllParts)
    fmt::print("  {:<18} {:>12}\n", plan::name(part), base::format_bytes(plan.bytes(part)));
  fmt::print("  {:<18} {:>12} of {}: it fits\n\n", "together", base::format_bytes(plan.total_bytes()),
             base::format_bytes(plan.budget_bytes));
  if (plan.total_experts > 0)
    fmt::print("  {} of {} experts resident ({:.0f} %), {:.0f} % of accesses expected to find theirs\n",
               plan.total_slots, plan.total_experts, plan.share_resident * 100, plan.expected_hit_ratio * 100);
  fmt::print(
      "  a token reads {}; at most {:.1f} tokens/s for one request, bound by {} ({:.1f} GB/s, misses {:.1f} GB/s)\n",
      base::format_bytes(forecast.traffic.total_bytes()), forecast.estimate.tokens_per_second, binding(forecast),
      forecast.speeds.memory_bytes_per_second / 1e9, forecast.speeds.file_bytes_per_second / 1e9);
  for (const std::string& each : warning_lines(assembly)) fmt::print("  note: {}\n", each);
}

int make_plan(const PlanArguments& arguments, const ResolvedSettings& settings) {
  const ModelPath path = find_model(arguments.model);
  ModelAssembly assembly(path, settings, service_needs(settings, settings.values.engine.parallel));
  const MeasuredSpeeds speeds =
      arguments.assume.empty() ? measure_speeds(assembly) : parse_assumption(arguments.assume);
  const Forecast forecast = forecast_of(assembly, speeds);
  if (!arguments.json) print_table(assembly, forecast);
  Json report = plan_json(assembly, forecast);
  if (arguments.check) {
    const Trial trial = try_out(assembly);
    if (!arguments.json) print_trial(assembly, forecast, trial);
    report["check"] = trial_json(trial);
  }
  if (arguments.json) fmt::print("{}\n", report.dump(2));
  return 0;
}

}  // namespace

void add_plan(CLI::App& root, Selection& selection) {
  CLI::App* const command =
      root.add_subcommand("plan", "Tells whether a model fits, how fast it can be and what binds");
  const auto arguments = std::make_shared<PlanArguments>();
  command->add_option("FILE", arguments->model, "model file or name; the demo model if not given");
  command->add_option("--assume", arguments->assume, "speeds of memory and of misses instead of this machine's")
      ->option_text("40GB/s,3GB/s");
  command->add_flag("--check", arguments->check, "then load the model as planned and measure what was promised");
  command->add_flag("--json", arguments->json, "JSON on standard output");
  const OptionBinder options(*command, kPlan);
  command->callback([=, &selection] { selection.run = [=] { return make_plan(*arguments, options.resolve()); }; });
}

}  // namespace luce::app
