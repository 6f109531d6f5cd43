#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/command_line.hpp"
#include "app/option_value.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "experts/replay.hpp"

namespace luce::app {
namespace {

using Json = nlohmann::ordered_json;
using experts::ReplayResult;

struct ReplayArguments {
  std::string trace;
  std::string policy = "lru";
  std::string slots = "25%";
  int streams = 1;
  bool json = false;
};

int slots_of(const std::string& text, const experts::Trace& trace) {
  try {
    if (text.empty() || text.back() != '%') return static_cast<int>(parse_whole(text, 1, trace.experts()));
    return std::max(1, static_cast<int>(std::lround(parse_share(text) * trace.experts())));
  } catch (const std::exception&) {
    fail(ErrorKind::usage, "--slots is '{}' but must be 1 to {} (the experts of a layer) or a share such as 25%", text,
         trace.experts());
  }
}

/// What the policy did, what could have been done, and what it would do with more slots.
struct Comparison {
  ReplayResult chosen;
  ReplayResult best;
  std::vector<std::pair<int, ReplayResult>> more;  // by slots
};

/// The replays run side by side.
Comparison compare(const ReplayArguments& arguments, const experts::Trace& trace, int slots) {
  const auto start = [&](const std::string& policy, int with) {
    return std::async(std::launch::async, [&trace, policy, with, streams = arguments.streams] {
      return experts::replay(trace, {policy, with, streams});
    });
  };
  auto chosen = start(arguments.policy, slots);
  auto best = start("opt", slots);
  std::vector<std::pair<int, std::future<ReplayResult>>> more;
  const int step = std::max(1, trace.experts() / 16);
  for (int with = slots + step; with <= std::min(trace.experts(), slots + 4 * step); with += step)
    more.emplace_back(with, start(arguments.policy, with));
  Comparison result{chosen.get(), best.get(), {}};
  for (auto& [with, replayed] : more) result.more.emplace_back(with, replayed.get());
  return result;
}

double fetches_per_token(const ReplayResult& result, const experts::Trace& trace) {
  return static_cast<double>(result.uploads) / static_cast<double>(std::max<int64_t>(1, trace.tokens()));
}

void print_row(const std::string& policy, int slots, const ReplayResult& result, const experts::Trace& trace) {
  fmt::print("  {:<18} {:>6} {:>12} {:>12} {:>9.2f} % {:>16.2f}\n", policy, slots, result.hits,
             result.accesses - result.hits, result.hit_ratio() * 100, fetches_per_token(result, trace));
}

void print_table(const ReplayArguments& arguments, const experts::Trace& trace, int slots) {
  const Comparison compared = compare(arguments, trace, slots);
  fmt::print("{}: {} layers of {} experts, top {}, {} sequences, {} tokens, {} at a time\n\n", arguments.trace,
             trace.layers(), trace.experts(), trace.top_k(), trace.sequences(), trace.tokens(), arguments.streams);
  fmt::print("  {:<18} {:>6} {:>12} {:>12} {:>11} {:>16}\n", "policy", "slots", "hits", "misses", "hit ratio",
             "fetches a token");
  print_row(arguments.policy, slots, compared.chosen, trace);
  print_row("opt", slots, compared.best, trace);
  fmt::print("\n  The best that could have been done is {:.2f} points more.\n",
             (compared.best.hit_ratio() - compared.chosen.hit_ratio()) * 100);
  if (compared.more.empty()) return;
  fmt::print("  What more slots would give:\n");
  for (const auto& [with, result] : compared.more) print_row(arguments.policy, with, result, trace);
}

Json result_json(const ReplayResult& result, const experts::Trace& trace) {
  return {{"hits", result.hits},
          {"misses", result.accesses - result.hits},
          {"uploads", result.uploads},
          {"fetches_per_token", fetches_per_token(result, trace)},
          {"hit_ratio", result.hit_ratio()}};
}

void print_json(const ReplayArguments& arguments, const experts::Trace& trace, int slots) {
  const Comparison compared = compare(arguments, trace, slots);
  const ReplayResult& result = compared.chosen;
  Json body = {{"trace", std::filesystem::path(arguments.trace).stem().string()},
               {"policy", arguments.policy},
               {"slots_per_layer", slots},
               {"streams", arguments.streams},
               {"accesses", result.accesses},
               {"hits", result.hits},
               {"uploads", result.uploads},
               {"hit_ratio", result.hit_ratio()},
               {"misses", result.accesses - result.hits},
               {"tokens", trace.tokens()},
               {"fetches_per_token", fetches_per_token(result, trace)},
               {"opt", result_json(compared.best, trace)},
               {"gap_to_opt", compared.best.hit_ratio() - result.hit_ratio()},
               {"more_slots", Json::array()}};
  for (const auto& [with, each] : compared.more) {
    Json row = {{"slots_per_layer", with}};
    row.update(result_json(each, trace));
    body["more_slots"].push_back(std::move(row));
  }
  fmt::print("{}\n", body.dump());
}

int run_replay(const ReplayArguments& arguments) {
  const experts::Trace trace = experts::Trace::load(arguments.trace);
  const int slots = slots_of(arguments.slots, trace);
  arguments.json ? print_json(arguments, trace, slots) : print_table(arguments, trace, slots);
  return 0;
}

}  // namespace

void add_replay(CLI::App& root, Selection& selection) {
  CLI::App* const command = root.add_subcommand("replay", "Tells what a cache would have done with a recorded routing");
  const auto arguments = std::make_shared<ReplayArguments>();
  command->add_option("FILE", arguments->trace, "routing trace (.lrt)")->required();
  command
      ->add_option("--policy", arguments->policy, "who is evicted: " + experts::known_policies() + ", opt, opt-bypass")
      ->option_text("P [lru]");
  command->add_option("--slots", arguments->slots, "experts that fit, per layer, or their share")
      ->option_text("N|SHARE [25%]");
  command->add_option("--streams", arguments->streams, "sequences that run at the same time")
      ->check(CLI::Range(1, 4096))
      ->option_text("N [1]");
  command->add_flag("--json", arguments->json, "JSON on standard output");
  command->callback([=, &selection] { selection.run = [=] { return run_replay(*arguments); }; });
}

}  // namespace luce::app
