#include "server/server_fixture.hpp"

#include <algorithm>
#include <fstream>

#include "experts/gguf_source.hpp"
#include "support/golden_path.hpp"

namespace luce::server {

RunningServer::RunningServer(ServerOptions options, bool load_at_once) : options_(std::move(options)) {
  ServerSettings settings = options_.http;
  settings.port = 0;
  settings.generation_workers = options_.slots + options_.queue + 4;
  ServerSources sources;
  sources.metrics_text = [this] { return registry_.render(); };
  sources.on_request = [this](const RequestRecord& record) {
    const std::lock_guard lock(log_mutex_);
    log_.push_back(access_line(record));
  };
  server_ = std::make_unique<Server>(settings, sources);
  server_->start();
  if (load_at_once) finish_loading();
}

RunningServer::~RunningServer() { stop(); }

void RunningServer::finish_loading() {
  load(options_);
  ServedModel served;
  served.name = options_.alias;
  served.created = 1'700'000'000;
  served.context_tokens = options_.n_ctx;
  served.trained_context = blueprint_->shape().trained_context;
  served.vocabulary = tokenizer_->vocabulary().size();
  for (int32_t id = 0; id < served.vocabulary; ++id)
    served.longest_token_bytes =
        std::max(served.longest_token_bytes, static_cast<int>(tokenizer_->vocabulary().bytes(id).size()));
  served.completer = completer_.get();
  served.engine = engine_.get();
  server_->set_model(served);
}

void RunningServer::stop() {
  server_->begin_stop();
  if (engine_) engine_->stop();
  server_->stop();
}

void RunningServer::load(const ServerOptions& options) {
  file_ = std::make_unique<gguf::File>(gguf::File::open(support::golden_path(options.model)));
  tokenizer_ = std::make_unique<text::Tokenizer>(file_->metadata());
  const text::Vocabulary& vocabulary = tokenizer_->vocabulary();
  template_ = std::make_unique<text::ChatTemplate>(
      options.chat_template.empty() ? vocabulary.chat_template() : options.chat_template,
      text::TemplateTokens::of(vocabulary));
  device_ = std::make_unique<device::cpu::CpuDevice>(device::cpu::CpuSettings{2, "auto"});
  blueprint_ = std::make_unique<model::Blueprint>(*file_, *device_);
  if (!blueprint_->expert_layers().empty()) {
    experts::CacheSettings cache;
    for (const plan::LayerShape& layer : blueprint_->shape().layers) cache.tier.slots.push_back(layer.experts);
    experts_ = std::make_unique<experts::CachedExpertService>(
        std::make_unique<experts::GgufExpertSource>(*file_, *device_, blueprint_->hyperparameters().layers), *device_,
        cache);
  }
  const model::StepLimits limits{options.n_ctx, options.slots, options.ubatch + options.slots + 64, options.slots};
  inner_ = model::load(*blueprint_, *device_, experts_.get(), {limits, tensor::Format::f16});
  model_ = std::make_unique<HookedModel>(*inner_, hooks_);
  engine::EngineSettings settings;
  settings.queue_capacity = options.queue;
  settings.prompt_rows = options.ubatch;
  settings.prompt_cache_bytes = options.prompt_cache_bytes;
  settings.registry = &registry_;
  engine_ = std::make_unique<engine::Engine>(*model_, settings);
  completer_ = std::make_unique<completion::Completer>(*engine_, *tokenizer_, template_.get());
}

double RunningServer::metric(const std::string& line_begin) {
  const std::string text = "\n" + registry_.render();
  const size_t at = text.find("\n" + line_begin);
  if (at == std::string::npos) return 0;
  const size_t end = text.find('\n', at + 1);
  return std::stod(text.substr(text.rfind(' ', end) + 1, end));
}

std::vector<std::string> RunningServer::log() {
  const std::lock_guard lock(log_mutex_);
  return log_;
}

HttpReply RunningServer::get(const std::string& path, HeaderList headers) const {
  return send_request(server_->port(), "GET", path, "", std::move(headers));
}

HttpReply RunningServer::post_raw(const std::string& path, const std::string& body, HeaderList headers) const {
  return send_request(server_->port(), "POST", path, body, std::move(headers));
}

HttpReply RunningServer::post(const std::string& path, const Json& body, HeaderList headers) const {
  return post_raw(path, body.dump(), std::move(headers));
}

void RunningServer::expect_alive() const {
  EXPECT_EQ(get("/health").status, 200);
  EXPECT_EQ(chat(small_chat("hi", 1)).status, 200);
}

Json read_case(const std::string& area, const std::string& id) {
  std::ifstream stream(support::golden_path("cases/" + area + ".jsonl"));
  for (std::string line; std::getline(stream, line);) {
    Json parsed = Json::parse(line);
    if (parsed["id"] == id) return parsed;
  }
  ADD_FAILURE() << "no case " << id << " in " << area;
  return {};
}

Json small_chat(const std::string& text, int max_tokens) {
  return {{"messages", Json::array({{{"role", "user"}, {"content", text}}})}, {"max_tokens", max_tokens}};
}

std::string joined(const HttpReply& reply, const std::string& field) {
  std::string text;
  for (const Json& chunk : reply.chunks())
    for (const Json& choice : chunk["choices"]) {
      const Json& from = choice.contains("delta") ? choice["delta"] : choice;
      if (from.contains(field) && from[field].is_string()) text += from[field].get<std::string>();
    }
  return text;
}

std::string all_text(const Json& message) {
  std::string text = message.value("reasoning_content", "");
  if (message.contains("content") && message["content"].is_string()) text += message["content"].get<std::string>();
  return text;
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word ";
  return text;
}

std::string text_of(const HttpReply& reply) {
  const Json choice = reply.json()["choices"][0];
  return choice.contains("text") ? choice["text"].get<std::string>() : all_text(choice["message"]);
}

ServerOptions hybrid(int n_ctx) {
  ServerOptions options;
  options.model = "models/qwen35moe-nano-f32.gguf";
  options.slots = 1;
  options.n_ctx = n_ctx;
  return options;
}

}  // namespace luce::server
