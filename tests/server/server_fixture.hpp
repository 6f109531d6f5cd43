#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "completion/completer.hpp"
#include "device/cpu/cpu_device.hpp"
#include "engine/engine.hpp"
#include "experts/cached_expert_service.hpp"
#include "gguf/file.hpp"
#include "model/blueprint.hpp"
#include "server/hooked_model.hpp"
#include "server/server.hpp"
#include "support/http_client.hpp"
#include "telemetry/registry.hpp"
#include "text/chat_template.hpp"
#include "text/tokenizer.hpp"

namespace luce::server {

using support::HeaderList;
using support::HttpReply;
using support::request_text;
using support::send_request;
using support::TestClient;

/// Settings of one test's server, in the neutral names of the case files.
struct ServerOptions {
  std::string model = "models/qwen3moe-nano-f32.gguf";  // below tests/golden
  std::string alias = "tiny";
  std::string chat_template;  // empty: the model's
  int n_ctx = 512;
  int slots = 2;
  int queue = 8;
  int ubatch = 64;
  size_t prompt_cache_bytes = 16 << 20;
  ServerSettings http;  // its port is replaced by a free one
};

/// A whole server in this process on a free port, over a small real model with hooks.
class RunningServer {
 public:
  explicit RunningServer(ServerOptions options = {}, bool load_at_once = true);
  ~RunningServer();

  /// Ends the loading phase.
  void finish_loading();
  void begin_stop() { server_->begin_stop(); }
  void stop();

  int port() const { return server_->port(); }
  Server& server() { return *server_; }
  engine::Engine& engine() { return *engine_; }
  const text::Tokenizer& tokenizer() const { return *tokenizer_; }
  const completion::Completer& completer() const { return *completer_; }
  telemetry::Registry& registry() { return registry_; }
  ModelHooks& hooks() { return hooks_; }
  /// The value of a metric's first sample with this beginning of its line, 0 without one.
  double metric(const std::string& line_begin);
  std::vector<std::string> log();

  HttpReply get(const std::string& path, HeaderList headers = {}) const;
  HttpReply post(const std::string& path, const Json& body, HeaderList headers = {}) const;
  HttpReply post_raw(const std::string& path, const std::string& body, HeaderList headers = {}) const;
  HttpReply chat(const Json& body) const { return post("/v1/chat/completions", body); }
  HttpReply complete(const Json& body) const { return post("/v1/completions", body); }

  /// GET /health and a small chat still answer 200.
  void expect_alive() const;

 private:
  void load(const ServerOptions& options);

  ServerOptions options_;
  ModelHooks hooks_;
  telemetry::Registry registry_;
  std::unique_ptr<gguf::File> file_;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<text::ChatTemplate> template_;
  std::unique_ptr<device::cpu::CpuDevice> device_;
  std::unique_ptr<model::Blueprint> blueprint_;
  std::unique_ptr<experts::CachedExpertService> experts_;
  std::unique_ptr<model::Model> inner_;
  std::unique_ptr<HookedModel> model_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<completion::Completer> completer_;
  std::mutex log_mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<Server> server_;
};

/// The case of that id in a file of tests/golden/cases.
Json read_case(const std::string& area, const std::string& id);

/// {"messages":[{"role":"user","content":text}],"max_tokens":max_tokens}
Json small_chat(const std::string& text = "hi", int max_tokens = 4);

/// Joined delta.content of a stream, or delta.`field`.
std::string joined(const HttpReply& reply, const std::string& field = "content");

/// Content and reasoning together: with random weights a template that opens a think tag makes all text reasoning.
std::string all_text(const Json& message);

/// The text of the first choice, of a chat or a completion.
std::string text_of(const HttpReply& reply);

/// "word " so many times.
std::string words(int count);

/// One slot of a model with recurrent and attention layers and a template that thinks.
ServerOptions hybrid(int n_ctx = 2048);

}  // namespace luce::server
