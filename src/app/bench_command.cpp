#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/bandwidth.hpp"
#include "app/bench_measure.hpp"
#include "app/command_line.hpp"
#include "app/option_value.hpp"
#include "app/progress_bar.hpp"
#include "base/byte_size.hpp"
#include "base/cpu_topology.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "experts/forced_routing.hpp"

namespace luce::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kBandwidthBytes = size_t{256} << 20;

struct BenchArguments {
  BenchPlan plan;
  std::string concurrency = "1";
  std::string replay_routing;
  bool json = false;
};

std::vector<int> parse_concurrency(const std::string& text) {
  std::vector<int> counts;
  try {
    for (const std::string& each : parse_list(text)) counts.push_back(static_cast<int>(parse_whole(each, 1, 256)));
  } catch (const BadValue& expected) {
    fail(ErrorKind::usage, "--concurrency is '{}' but each part must be {}", text, expected.what());
  }
  if (counts.empty()) fail(ErrorKind::usage, "--concurrency is empty; give numbers such as 1,2,4");
  return counts;
}

struct Report {
  std::string model;
  std::string device;
  double share_resident = 1;
  double bandwidth = 0;  // bytes per second
  std::vector<BenchResult> results;
};

Json report_json(const Report& report) {
  Json results = Json::array();
  for (const BenchResult& each : report.results)
    results.push_back({{"work", each.work},
                       {"sequences", each.sequences},
                       {"tokens", each.tokens},
                       {"tokens_per_second", each.median()},
                       {"tokens_per_second_min", each.per_second.front()},
                       {"tokens_per_second_max", each.per_second.back()},
                       {"gb_per_second", each.bytes_per_second / 1e9},
                       {"share_of_bandwidth", each.bytes_per_second / report.bandwidth},
                       {"hit_ratio", each.hit_ratio}});
  return {{"model", report.model},
          {"device", report.device},
          {"share_resident", report.share_resident},
          {"read_bandwidth_gb_per_second", report.bandwidth / 1e9},
          {"results", std::move(results)}};
}

void print_table(const Report& report) {
  fmt::print("{}\n{}, reads {:.1f} GB/s; {:.0f} % of the experts resident\n\n", report.model, report.device,
             report.bandwidth / 1e9, report.share_resident * 100);
  fmt::print("  {:<8} {:>9} {:>7} {:>10} {:>17} {:>9} {:>13} {:>9}\n", "work", "sequences", "tokens", "tokens/s",
             "(min to max)", "GB/s", "of bandwidth", "hit ratio");
  for (const BenchResult& each : report.results)
    fmt::print("  {:<8} {:>9} {:>7} {:>10.1f} {:>17} {:>9.2f} {:>11.0f} % {:>8.1f} %\n", each.work, each.sequences,
               each.tokens, each.median(),
               fmt::format("{:.1f} to {:.1f}", each.per_second.front(), each.per_second.back()),
               each.bytes_per_second / 1e9, each.bytes_per_second / report.bandwidth * 100, each.hit_ratio * 100);
}

/// Null without a trace; must outlive the steps.
std::unique_ptr<experts::ForcedRouting> force_routing(const std::string& path, const ModelAssembly& assembly) {
  if (path.empty()) return nullptr;
  experts::CachedExpertService* const service = assembly.experts();
  if (service == nullptr) fail(ErrorKind::usage, "--replay-routing needs a model with experts; this one is dense");
  auto forced = std::make_unique<experts::ForcedRouting>(experts::Trace::load(path), service->usage().experts(),
                                                         assembly.blueprint().hyperparameters().experts_used);
  service->force_selection(forced.get());
  return forced;
}

int run(BenchArguments arguments, const ResolvedSettings& settings) {
  arguments.plan.concurrency = parse_concurrency(arguments.concurrency);
  const ModelPath path = find_model(settings.values.model.model);
  const int threads = settings.values.device.threads.value_or(base::default_thread_count(base::read_cpu_facts()));
  Report report;
  report.bandwidth = measure_memory_bandwidth(kBandwidthBytes, threads);
  ModelAssembly assembly(path, settings, bench_needs(arguments.plan, settings.values.engine.prompt_rows));
  ProgressBar bar("loading");
  assembly.load([&bar](int64_t done, int64_t all) {
    bar.show(done, all);
    return true;
  });
  bar.finish();
  const auto forced = force_routing(arguments.replay_routing, assembly);
  if (assembly.experts() != nullptr) assembly.experts()->warm({});
  report.results = run_bench(assembly, arguments.plan);
  report.bandwidth = std::max(report.bandwidth, measure_memory_bandwidth(kBandwidthBytes, threads));
  report.model = served_name(settings.values.model, path.path);
  report.device = assembly.device().description();
  report.share_resident = assembly.plan().share_resident;
  arguments.json ? fmt::print("{}\n", report_json(report).dump(2)) : print_table(report);
  return 0;
}

}  // namespace

void add_bench(CLI::App& root, Selection& selection) {
  CLI::App* const command =
      root.add_subcommand("bench", "Measures prompt and decode speed beside the memory's bandwidth");
  const auto arguments = std::make_shared<BenchArguments>();
  const auto number = [&](const char* flag, int& into, const char* help, const CLI::Range& range) {
    command->add_option(flag, into, help)->check(range)->option_text(fmt::format("N [{}]", into));
  };
  number("--prompt-tokens", arguments->plan.prompt_tokens, "prompt tokens timed; 0 for none", CLI::Range(0, 1 << 20));
  number("--gen-tokens", arguments->plan.generated_tokens, "tokens decoded by each sequence; 0 for none",
         CLI::Range(0, 1 << 20));
  number("--depth", arguments->plan.depth_tokens, "positions filled before decoding begins", CLI::Range(0, 1 << 20));
  number("--repeat", arguments->plan.repeat, "runs of which the median counts", CLI::Range(1, 1000));
  command->add_option("--concurrency", arguments->concurrency, "sequences that decode side by side, a list")
      ->option_text("LIST [1]");
  command->add_option("--replay-routing", arguments->replay_routing, "override the router by a recorded routing")
      ->option_text("FILE.lrt");
  command->add_flag("--json", arguments->json, "JSON on standard output");
  const OptionBinder options(*command, kBench);
  command->callback([=, &selection] { selection.run = [=] { return run(*arguments, options.resolve()); }; });
}

}  // namespace luce::app
