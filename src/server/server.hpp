#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/access_rules.hpp"
#include "server/gate.hpp"
#include "server/generation_routes.hpp"
#include "server/router.hpp"
#include "server/status_routes.hpp"
#include "server/worker_lane.hpp"

namespace luce::server {

struct ServerSettings {
  std::string host = "localhost";   // both loopback addresses
  int port = 8000;                  // 0: a free one
  std::optional<int> metrics_port;  // a second listener that offers /metrics and /health alone
  AccessSettings access;            // loopback_only is found out from `host`
  GateLimits gate;
  GenerationRouteSettings generation;
  std::chrono::milliseconds write_timeout{30'000};  // for a client that does not read
  int generation_workers = 48;  // requests running, waiting in the engine's queue, and a few being parsed
};

/// Where the server asks for what it shows; all must be thread-safe and quick.
struct ServerSources {
  std::function<std::string()> metrics_text;  // Prometheus text
  std::function<std::vector<Condition>()> conditions;
  std::function<void(const RequestRecord&)> on_request;  // after each answer
};

/// The OpenAI-compatible HTTP server. It listens from construction on, so that a taken port is found before a model is
/// loaded, and answers from start() on: 503 until set_model().
class Server {
 public:
  /// Throws Error{io} when a port cannot be had.
  Server(ServerSettings settings, ServerSources sources);
  /// stop()
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void start();
  /// The model is loaded; what it points to must live until stop() has returned.
  void set_model(ServedModel model);
  /// Closes the listening sockets and answers further requests with 503; running ones go on.
  void begin_stop();
  /// Waits for the answers under way and ends all threads. The engine must be stopped before, else replies run on.
  void stop();

  /// Of the main listener, for example "127.0.0.1:8000".
  const std::vector<std::string>& addresses() const { return addresses_; }
  int port() const { return port_; }
  int metrics_port() const { return metrics_port_; }
  bool loopback_only() const { return settings_.access.loopback_only; }
  const Router& router() const { return router_; }

 private:
  void add_routes();
  void take(std::unique_ptr<Connection> connection);
  void answer(std::unique_ptr<Connection> connection, const Router& router);
  void respond(Exchange& exchange, const Router& router, RequestRecord& record);
  bool refuse_foreign(Exchange& exchange);
  void run_route(Exchange& exchange, const Router& router, RequestRecord& record);
  void run_handler(Exchange& exchange, const Route& route, RequestRecord& record);
  const ServedModel* model() const { return model_ready_ ? &model_ : nullptr; }
  const ServedModel& ready_model() const;
  Phase phase() const;

  ServerSettings settings_;
  ServerSources sources_;
  AccessRules access_;
  Router router_;
  Router metrics_router_;
  std::vector<std::string> addresses_;
  int port_ = 0;
  int metrics_port_ = 0;
  ServedModel model_;  // written once, before model_ready_
  std::atomic<bool> model_ready_ = false;
  std::atomic<bool> stopping_ = false;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Gate> metrics_gate_;
  std::unique_ptr<WorkerLane> quick_lane_;
  std::unique_ptr<WorkerLane> generation_lane_;
  std::unique_ptr<WorkerLane> metrics_lane_;
};

}  // namespace luce::server
