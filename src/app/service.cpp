#include "app/service.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>

#include "base/error.hpp"

namespace luce::app {
namespace {

std::string template_source(const ModelAssembly& assembly, const std::string& path) {
  if (path.empty()) return assembly.tokenizer().vocabulary().chat_template();
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    fail(ErrorKind::usage, "cannot open the chat template '{}'; check the path given with --chat-template", path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::unique_ptr<text::ChatTemplate> make_template(const ModelAssembly& assembly, const std::string& source) {
  if (source.empty()) return nullptr;
  return std::make_unique<text::ChatTemplate>(source, text::TemplateTokens::of(assembly.tokenizer().vocabulary()));
}

engine::ExpertTotals totals_of(const experts::CachedExpertService& experts) {
  const experts::ServiceCounters counters = experts.counters();
  engine::ExpertTotals totals;
  totals.hits = counters.all.hits;
  totals.misses = counters.all.misses;
  totals.bytes_fetched = counters.bytes_fetched;
  totals.substituted = counters.substituted;
  totals.dropped = counters.dropped;
  totals.reweighted = counters.reweighted;
  totals.stall_seconds = counters.stall_seconds;
  return totals;
}

void tell_owners(std::span<const engine::StepRows> rows, std::vector<experts::RowOwner>& owners,
                 experts::CachedExpertService& experts) {
  owners.clear();
  for (const engine::StepRows& each : rows)
    owners.push_back({each.sequence, each.rows, each.decode, each.request->session_id, each.request->task_tag});
  experts.begin_step(owners);
}

int longest_token_bytes(const text::Vocabulary& vocabulary) {
  size_t longest = 1;
  for (int32_t id = 0; id < vocabulary.size(); ++id) longest = std::max(longest, vocabulary.bytes(id).size());
  return static_cast<int>(longest);
}

}  // namespace

Service::Service(ModelAssembly& assembly, const ResolvedSettings& settings, telemetry::Registry& registry)
    : assembly_(assembly) {
  const std::string source = template_source(assembly, settings.values.model.chat_template);
  chat_template_ = make_template(assembly, source);
  engine::EngineSettings engine;
  engine.queue_capacity = settings.values.engine.queue;
  engine.prompt_rows = settings.values.engine.prompt_rows;
  engine.prompt_cache_bytes = static_cast<size_t>(settings.values.engine.prompt_cache_bytes);
  engine.registry = &registry;
  if (const auto* experts = assembly.experts(); experts != nullptr)
    engine.expert_totals = [experts] { return totals_of(*experts); };
  if (experts::RouteRecorder* const recorder = assembly.recorder(); recorder != nullptr)
    engine.on_step = [recorder, numbers = std::vector<uint64_t>()](std::span<const engine::StepRows> rows) mutable {
      numbers.clear();
      for (const engine::StepRows& each : rows)
        if (each.decode) numbers.insert(numbers.end(), static_cast<size_t>(each.rows), each.sequence);
      recorder->end_step(numbers);
    };
  if (auto* const experts = assembly.experts(); experts != nullptr)
    engine.before_step = [experts, owners = std::vector<experts::RowOwner>()](
                             std::span<const engine::StepRows> rows) mutable { tell_owners(rows, owners, *experts); };
  engine_ = std::make_unique<engine::Engine>(assembly.model(), std::move(engine));
  completer_ = std::make_unique<completion::Completer>(*engine_, assembly.tokenizer(), chat_template_.get(), source);
}

server::ServedModel Service::served(const std::string& name) const {
  server::ServedModel served;
  served.name = name;
  served.created = std::time(nullptr);
  served.context_tokens = assembly_.limits().context_tokens;
  served.trained_context = assembly_.blueprint().shape().trained_context;
  served.vocabulary = assembly_.tokenizer().vocabulary().size();
  served.longest_token_bytes = longest_token_bytes(assembly_.tokenizer().vocabulary());
  served.completer = completer_.get();
  served.engine = engine_.get();
  return served;
}

StepNeeds service_needs(const ResolvedSettings& settings, int sequences) {
  return {0, sequences, settings.values.engine.prompt_rows + sequences, sequences};
}

}  // namespace luce::app
