#include "server/server.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "server/error_body.hpp"
#include "server/json_limits.hpp"

namespace luce::server {
namespace {

constexpr int kQuickWorkers = 4;
constexpr size_t kQuickQueue = 4096;
constexpr size_t kGenerationQueue = 16;
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

ServerSettings with_binding(ServerSettings settings) {
  settings.access.loopback_only = is_loopback(settings.host);
  return settings;
}

/// A POST must say that it carries JSON: a page can post forms and plain text to us without asking first.
std::optional<ApiError> wrong_body_type(const HttpRequest& request) {
  if (request.method != "POST") return std::nullopt;
  const auto coding = request.header("Content-Encoding");
  if (coding && !same_ignoring_case(*coding, "identity"))
    return http_error(415, "A compressed body is not supported; send the JSON as it is.");
  const std::string_view type = request.header("Content-Type").value_or("");
  const std::string_view essence = type.substr(0, type.find_first_of("; \t"));
  if (same_ignoring_case(essence, "application/json")) return std::nullopt;
  return http_error(415, "The body must be JSON; send the header 'Content-Type: application/json'.");
}

ApiError error_of_exception(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    ApiError answer = api_error(error.kind(), error.what(), error.param());
    if (error.kind() == ErrorKind::not_found && error.param() == "model") answer.code = "model_not_found";
    return answer;
  } catch (const std::bad_alloc&) {
    return api_error(ErrorKind::out_of_memory, "The server has no memory for this request; try a smaller one.");
  } catch (const std::exception& error) {
    base::log_error("a request failed inside the server: {}", error.what());
    return api_error(ErrorKind::internal, "The request failed inside the server.");
  }
}

}  // namespace

Server::Server(ServerSettings settings, ServerSources sources)
    : settings_(with_binding(std::move(settings))), sources_(std::move(sources)), access_(settings_.access) {
  add_routes();
  std::vector<Listener> listeners = listen_on(settings_.host, settings_.port);
  port_ = port_of(listeners[0]);
  for (const Listener& each : listeners) addresses_.push_back(each.address);
  gate_ = std::make_unique<Gate>(settings_.gate, std::move(listeners),
                                 [this](std::unique_ptr<Connection> each) { take(std::move(each)); });
  if (!settings_.metrics_port) return;
  std::vector<Listener> metrics = listen_on(settings_.host, *settings_.metrics_port);
  metrics_port_ = port_of(metrics[0]);
  metrics_gate_ = std::make_unique<Gate>(settings_.gate, std::move(metrics),
                                         [this](std::unique_ptr<Connection> each) { metrics_lane_->try_add(each); });
}

Server::~Server() { stop(); }

void Server::start() {
  quick_lane_ = std::make_unique<WorkerLane>(
      kQuickWorkers, kQuickQueue, [this](std::unique_ptr<Connection> each) { answer(std::move(each), router_); });
  generation_lane_ =
      std::make_unique<WorkerLane>(settings_.generation_workers, kGenerationQueue,
                                   [this](std::unique_ptr<Connection> each) { answer(std::move(each), router_); });
  if (metrics_gate_) {
    metrics_lane_ = std::make_unique<WorkerLane>(
        1, kQuickQueue, [this](std::unique_ptr<Connection> each) { answer(std::move(each), metrics_router_); });
    metrics_gate_->start();
  }
  gate_->start();
}

void Server::set_model(ServedModel model) {
  model_ = std::move(model);
  model_ready_ = true;
}

void Server::begin_stop() {
  stopping_ = true;
  gate_->stop_accepting();
}

void Server::stop() {
  stopping_ = true;
  for (Gate* gate : {gate_.get(), metrics_gate_.get()})
    if (gate != nullptr) gate->stop_accepting();
  for (WorkerLane* lane : {generation_lane_.get(), quick_lane_.get(), metrics_lane_.get()})
    if (lane != nullptr) lane->stop();
  for (Gate* gate : {gate_.get(), metrics_gate_.get()})
    if (gate != nullptr) gate->stop();
}

Phase Server::phase() const {
  if (stopping_) return Phase::stopping;
  return model_ready_ ? Phase::ready : Phase::loading;
}

const ServedModel& Server::ready_model() const {
  if (stopping_) fail(ErrorKind::overloaded, "The server is stopping.");
  if (!model_ready_) fail(ErrorKind::overloaded, "The model is still loading; try again in a moment.");
  return model_;
}

void Server::add_routes() {
  const Handler health = [this](Exchange& exchange, RequestRecord&) {
    exchange.respond(
        health_response(phase(), model(), sources_.conditions ? sources_.conditions() : std::vector<Condition>()));
  };
  const Handler metrics = [this](Exchange& exchange, RequestRecord&) {
    exchange.respond({200, kMetricsType, sources_.metrics_text ? sources_.metrics_text() : std::string(), {}});
  };
  for (Router* router : {&router_, &metrics_router_}) {
    router->add({"GET", "/health", true, false, health});
    router->add({"GET", "/metrics", false, false, metrics});
  }
  router_.add({"GET", "/v1/models", false, false,
               [this](Exchange& exchange, RequestRecord&) { exchange.respond(models_response(ready_model())); }});
  router_.add({"GET", "/v1/models/", false, false, [this](Exchange& exchange, RequestRecord&) {
                 exchange.respond(model_response(ready_model(), exchange.request().path.substr(11)));
               }});
  router_.add({"POST", "/v1/chat/completions", false, true, [this](Exchange& exchange, RequestRecord& record) {
                 answer_chat(exchange, record, ready_model(), settings_.generation);
               }});
  router_.add({"POST", "/v1/completions", false, true, [this](Exchange& exchange, RequestRecord& record) {
                 answer_completion(exchange, record, ready_model(), settings_.generation);
               }});
  router_.add({"POST", "/v1/messages", false, true, [this](Exchange& exchange, RequestRecord& record) {
                 answer_messages(exchange, record, ready_model(), settings_.generation);
               }});
  router_.add({"POST", "/v1/messages/count_tokens", false, true, [this](Exchange& exchange, RequestRecord&) {
                 exchange.respond(count_tokens_response(exchange.request().body, ready_model(), settings_.generation));
               }});
  router_.add({"POST", "/v1/responses", false, true, [this](Exchange& exchange, RequestRecord& record) {
                 answer_responses(exchange, record, ready_model(), settings_.generation);
               }});
  router_.add({"POST", "/v1/embeddings", false, false, [](Exchange&, RequestRecord&) {
                 fail(ErrorKind::unsupported, "Embeddings are not offered: this server generates text only.");
               }});
}

/// On the gate's thread: long requests go to their own workers, all others to the quick ones.
void Server::take(std::unique_ptr<Connection> connection) {
  const HttpRequest& request = connection->reader.partial_request();
  const Route* const route = router_.find(request.method, request.path);
  const bool complete = connection->reader.state() == RequestReader::State::complete;
  if (complete && route != nullptr && route->generation && generation_lane_->try_add(connection)) return;
  if (complete && route != nullptr && route->generation) connection->overloaded = true;
  quick_lane_->try_add(connection);
}

void Server::answer(std::unique_ptr<Connection> connection, const Router& router) {
  const auto begin = Clock::now();
  const RequestReader& reader = connection->reader;
  const std::optional<Refusal> refusal =
      reader.state() == RequestReader::State::refused ? std::optional(reader.refusal()) : std::nullopt;
  const bool overloaded = std::exchange(connection->overloaded, false);
  Exchange exchange(std::move(connection), settings_.write_timeout);
  RequestRecord record;
  record.method = exchange.request().method;
  record.peer = exchange.peer();
  if (refusal)
    exchange.respond_error(http_error(refusal->status, refusal->message));
  else if (overloaded)
    exchange.respond_error(api_error(ErrorKind::overloaded, "Too many requests at once; try again later."));
  else
    respond(exchange, router, record);
  if (record.outcome == Outcome::rejected) record.outcome = outcome_of_status(exchange.status());
  record.status = exchange.status();
  record.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  record.sent_bytes = exchange.sent_bytes();
  const bool reuse = exchange.reusable() && !stopping_;
  Gate& gate = &router == &router_ ? *gate_ : *metrics_gate_;
  if (sources_.on_request) sources_.on_request(record);
  reuse ? gate.resume(exchange.release()) : gate.finish(exchange.release());
}

void Server::respond(Exchange& exchange, const Router& router, RequestRecord& record) {
  exchange.add_header("Vary", "Origin");
  if (const auto origin = access_.allowed_origin(exchange.request()))
    exchange.add_header("Access-Control-Allow-Origin", *origin);
  if (refuse_foreign(exchange)) return;
  run_route(exchange, router, record);
}

bool Server::refuse_foreign(Exchange& exchange) {
  const HttpRequest& request = exchange.request();
  if (!access_.host_allowed(request)) {
    exchange.respond_error(
        api_error(ErrorKind::forbidden, "This Host is not served here; add it to --allowed-hosts to allow it."));
    return true;
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && access_.foreign_origin(request)) {
    exchange.respond_error(
        api_error(ErrorKind::forbidden, "Pages of this Origin may not call; add it to --allowed-hosts to allow them."));
    return true;
  }
  if (request.method != "OPTIONS") return false;
  HttpResponse preflight{204, "", "", {}};
  preflight.headers = {{"Access-Control-Allow-Methods", "GET, POST, OPTIONS"},
                       {"Access-Control-Allow-Headers",
                        "Authorization, Content-Type, X-Api-Key, X-Requested-With, "
                        "OpenAI-Organization, OpenAI-Project, OpenAI-Beta"},
                       {"Access-Control-Max-Age", "600"}};
  exchange.respond(preflight);
  return true;
}

void Server::run_route(Exchange& exchange, const Router& router, RequestRecord& record) {
  const HttpRequest& request = exchange.request();
  const Route* const route = router.find(request.method, request.path);
  record.route = route == nullptr ? "other" : route->path;
  if ((route == nullptr || !route->open) && !access_.key_right(request))
    return exchange.respond_error(
        api_error(ErrorKind::unauthorized, "The API key is missing or wrong; send 'Authorization: Bearer KEY'."));
  if (route != nullptr) return run_handler(exchange, *route, record);
  const std::string methods = router.methods_of(request.path);
  if (methods.empty())
    return exchange.respond_error(
        api_error(ErrorKind::not_found, "There is no such route; POST /v1/chat/completions answers chats."));
  HttpResponse response =
      error_response(http_error(405, "This route does not take that method, but: " + methods), exchange.error_style());
  response.headers.push_back({"Allow", methods});
  exchange.respond(response);
}

void Server::run_handler(Exchange& exchange, const Route& route, RequestRecord& record) {
  if (const auto error = wrong_body_type(exchange.request())) return exchange.respond_error(*error);
  try {
    route.handler(exchange, record);
  } catch (...) {
    const ApiError error = error_of_exception(std::current_exception());
    record.outcome = outcome_of_status(error.status);
    if (!exchange.answered()) return exchange.respond_error(error);
    exchange.break_off();
  }
}

}  // namespace luce::server
