#include <optional>

#include "app/command_line.hpp"
#include "app/option_value.hpp"
#include "app/warmup_prompts.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "server/http_call.hpp"

namespace luce::app {
namespace {

using Json = nlohmann::ordered_json;
using server::Endpoint;
using server::HttpAnswer;

struct WarmupArguments {
  std::string endpoint = "http://localhost:8000";
  std::string prompts;  // empty: the standard ones
  std::string api_key;
  int tokens = 64;
  int rounds = 2;
};

/// Hits and all accesses of experts.
struct Accesses {
  int64_t hits = 0;
  int64_t all = 0;
  std::string text() const {
    return all == 0 ? "none counted"
                    : fmt::format("{:.1f} %", 100 * static_cast<double>(hits) / static_cast<double>(all));
  }
};

class Warmup {
 public:
  explicit Warmup(const WarmupArguments& arguments)
      : arguments_(arguments), endpoint_(Endpoint::parse(arguments.endpoint)) {}

  int run() {
    const std::vector<WarmupPrompt> prompts =
        arguments_.prompts.empty() ? standard_prompts() : read_prompts(arguments_.prompts);
    fmt::print("hit ratio before: {}\n", window_ratio());
    Accesses first, last;
    for (int round = 0; round < arguments_.rounds; ++round) {
      last = {};
      for (const WarmupPrompt& each : prompts) add(ask(each, round), last);
      if (round == 0) first = last;
    }
    fmt::print("hit ratio after: {}; these {} prompts: {} the first time, {} the last\n", window_ratio(),
               prompts.size(), first.text(), last.text());
    return 0;
  }

 private:
  static void add(const Accesses& one, Accesses& to) {
    to.hits += one.hits;
    to.all += one.all;
  }

  HttpAnswer call(const char* method, const std::string& path, const std::string& body = {}) const {
    return server::call(endpoint_, {method, path, body, arguments_.api_key});
  }

  /// The server's own figure, over its stats window.
  std::string window_ratio() const {
    const HttpAnswer answer = call("GET", "/metrics");
    const std::string name = "\nluce_gpu_cache_hit_ratio";
    const size_t at = answer.status == 200 ? answer.body.find(name) : std::string::npos;
    if (at == std::string::npos) return "unknown, the server offers no metrics of an expert cache";
    const size_t end = answer.body.find('\n', at + 1);
    const size_t space = answer.body.rfind(' ', end);
    return fmt::format("{:.1f} %", 100 * std::stod(answer.body.substr(space + 1, end - space - 1)));
  }

  Accesses ask(const WarmupPrompt& prompt, int round) {
    Json body = prompt.body;
    if (!body.contains("max_tokens")) body["max_tokens"] = arguments_.tokens;
    if (!body.contains("temperature")) body["temperature"] = 0;
    body["stream"] = false;
    HttpAnswer answer = chat_ ? call("POST", "/v1/chat/completions", body.dump()) : HttpAnswer{400, {}};
    if (answer.status == 400 && prompt.body.contains("messages")) {
      // A model without a chat template answers completions only.
      chat_ = false;
      body["prompt"] = body["messages"].back().value("content", std::string());
      body.erase("messages");
      answer = call("POST", "/v1/completions", body.dump());
    }
    if (answer.status != 200)
      fail(ErrorKind::io, "{} answered {} to {}: {:.300}", endpoint_.text(), answer.status, prompt.name, answer.body);
    const Accesses found = accesses_of(answer.body);
    fmt::print("  round {}, {}: {} hits\n", round + 1, prompt.name, found.text());
    return found;
  }

  static Accesses accesses_of(const std::string& body) {
    const Json json = Json::parse(body, nullptr, false);
    if (json.is_discarded() || !json.contains("timings") || !json["timings"].contains("experts")) return {};
    const Json& experts = json["timings"]["experts"];
    const auto hits = experts.value("hits", int64_t{0});
    return {hits, hits + experts.value("misses", int64_t{0})};
  }

  WarmupArguments arguments_;
  Endpoint endpoint_;
  bool chat_ = true;
};

}  // namespace

void add_warmup(CLI::App& root, Selection& selection) {
  CLI::App* const command = root.add_subcommand(
      "warmup", "Asks a running server the main kinds of questions, and prints its hit ratio before and after");
  const auto arguments = std::make_shared<WarmupArguments>();
  command->add_option("--endpoint", arguments->endpoint, "address of the server")
      ->option_text("URL [http://localhost:8000]");
  command->add_option("--prompts", arguments->prompts, "one prompt a line, as text or as JSON body of a chat request")
      ->option_text("FILE");
  command->add_option("--api-key", arguments->api_key, "key of the server, if it has one")->option_text("KEY");
  command->add_option("--max-tokens", arguments->tokens, "longest answer")
      ->check(CLI::Range(1, 1 << 20))
      ->option_text("N [64]");
  command->add_option("--rounds", arguments->rounds, "times that all prompts are asked")
      ->check(CLI::Range(1, 1000))
      ->option_text("N [2]");
  command->callback([=, &selection] { selection.run = [=] { return Warmup(*arguments).run(); }; });
}

}  // namespace luce::app
