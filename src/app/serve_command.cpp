#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/command_line.hpp"
#include "app/condition_board.hpp"
#include "app/condition_list.hpp"
#include "app/memory_guard.hpp"
#include "app/monitor.hpp"
#include "app/progress_bar.hpp"
#include "app/service.hpp"
#include "app/start_report.hpp"
#include "app/stop_signals.hpp"
#include "app/trouble_watch.hpp"
#include "app/usage_memory.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "server/server.hpp"

namespace luce::app {
namespace {

using std::chrono::milliseconds;

constexpr int kSpareWorkers = 8;  // requests that are parsed while all places are taken
constexpr auto kLoadingGrace = milliseconds(1000);
constexpr auto kStoppingGrace = milliseconds(800);

milliseconds to_milliseconds(double seconds) { return milliseconds(static_cast<int64_t>(seconds * 1000)); }

base::LogLevel level_of(const std::string& name) {
  if (name == "debug") return base::LogLevel::debug;
  if (name == "warning") return base::LogLevel::warning;
  return name == "error" ? base::LogLevel::error : base::LogLevel::info;
}

server::ServerSettings server_settings(const Settings& settings) {
  server::ServerSettings out;
  out.host = settings.address.host;
  out.port = settings.address.port;
  out.access.api_keys = settings.access.api_keys;
  out.access.allowed_hosts = settings.access.allowed_hosts;
  out.gate.body_bytes = static_cast<size_t>(settings.http.body_bytes);
  out.gate.buffered_bytes = std::max<size_t>(out.gate.body_bytes, size_t{64} << 20);
  out.gate.header_timeout = to_milliseconds(settings.http.header_timeout_seconds);
  out.gate.body_timeout = to_milliseconds(settings.http.body_timeout_seconds);
  out.generation.keep_alive_interval = to_milliseconds(settings.http.keep_alive_seconds);
  out.generation.strict_model = settings.access.strict_model;
  out.generation_workers = settings.engine.parallel + settings.engine.queue + kSpareWorkers;
  if (settings.monitor.enable_prometheus && settings.monitor.metrics_port != 0)
    out.metrics_port = settings.monitor.metrics_port;
  return out;
}

void check_access(const ResolvedSettings& settings) {
  const AccessControl& access = settings.values.access;
  const bool loopback = server::is_loopback(settings.values.address.host);
  if (access.api_key_given && access.api_keys.empty()) {
    if (!loopback)
      fail(ErrorKind::usage, "--api-key is empty and --host {} can be reached from outside; set a key or leave it out",
           settings.values.address.host);
    base::log_warning("--api-key is empty, so no key is in force: every program on this machine may call");
  } else if (!loopback && access.api_keys.empty()) {
    base::log_warning("anybody who reaches {} may call: no key is set; use --api-key", settings.values.address.host);
  }
}

/// Ends answers before what they use goes away, however the scope is left.
struct AnswersEnd {
  engine::Engine& engine;
  server::Server& server;
  ~AnswersEnd() {
    engine.stop();
    server.stop();
  }
};

/// A server whose life goes: bound, loading, ready, stopping.
class ServeRun {
 public:
  explicit ServeRun(ResolvedSettings settings) : settings_(std::move(settings)), signals_([this] { on_signal(); }) {}
  ~ServeRun() {
    // No thread may log or wait on members that are going away.
    if (watchdog_.joinable()) watchdog_.detach();
  }
  ServeRun(const ServeRun&) = delete;
  ServeRun& operator=(const ServeRun&) = delete;

  int run() {
    check_device(settings_.values.device);
    check_access(settings_);
    const ModelPath path = find_model(settings_.values.model.model);
    if (path.demo) base::log_info("no --model is given, so the demo model answers; it is small and invents facts");
    open_server();
    try {
      serve(path);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::cancelled || !signals_.stop_wanted()) throw;
    }
    if (server_) server_->stop();
    base::log_info("stopped");
    return 0;
  }

 private:
  /// Lets /health and /metrics tell of the usage memory while it is there.
  class MemoryShown {
   public:
    MemoryShown(ServeRun& run, UsageMemory& memory) : run_(run) {
      memory.show(run.registry_);
      set(&memory);
    }
    ~MemoryShown() { set(nullptr); }
    MemoryShown(const MemoryShown&) = delete;
    MemoryShown& operator=(const MemoryShown&) = delete;

   private:
    void set(const UsageMemory* memory) {
      const std::lock_guard lock(run_.mutex_);
      run_.memory_ = memory;
    }
    ServeRun& run_;
  };

  void on_signal() {
    base::log_info("stopping; a second signal ends at once");
    const auto grace =
        ready_ ? to_milliseconds(settings_.values.http.drain_timeout_seconds) + kStoppingGrace : kLoadingGrace;
    // Whatever hangs, the process ends in time; there is nothing that would be lost.
    watchdog_ = std::thread([grace] {
      std::this_thread::sleep_for(grace);
      _exit(0);
    });
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }

  void open_server() {
    server::ServerSources sources;
    sources.metrics_text = [this] { return registry_.render(); };
    sources.conditions = [this] {
      const std::lock_guard lock(mutex_);
      std::vector<server::Condition> all = conditions_;
      for (const server::Condition& each : board_.conditions()) all.push_back(each);
      if (memory_ != nullptr)
        for (const server::Condition& each : memory_->conditions()) all.push_back(each);
      return all;
    };
    sources.on_request = [this](const server::RequestRecord& record) {
      count_request(registry_, record);
      if (record.route != "/health" && record.route != "/metrics") base::log_info("{}", server::access_line(record));
    };
    server::ServerSettings wanted = server_settings(settings_.values);
    try {
      server_ = std::make_unique<server::Server>(wanted, sources);
    } catch (const Error& error) {
      if (!wanted.metrics_port || settings_.is_given("metrics-port")) throw;
      // Nobody asked for this port by name: /metrics stays on the main one.
      base::log_warning("no metrics port of its own: {}", error.what());
      wanted.metrics_port.reset();
      server_ = std::make_unique<server::Server>(wanted, sources);
    }
    server_->start();
  }

  void serve(const ModelPath& path) {
    ModelAssembly assembly(path, settings_, service_needs(settings_, settings_.values.engine.parallel));
    tell(assembly, path);
    ProgressBar bar("loading");
    assembly.load([&](int64_t done, int64_t all) {
      bar.show(done, all);
      return !signals_.stop_wanted();
    });
    bar.finish();
    Service service(assembly, settings_, registry_);
    Monitor monitor(registry_, assembly, service.engine());
    monitor.start_log(std::chrono::duration<double>(settings_.values.monitor.log_interval_seconds));
    UsageMemory memory(assembly, settings_);
    const MemoryShown memory_shown(*this, memory);
    MemoryGuard guard(settings_.values.monitor.system_root, assembly, service.engine(), board_);
    guard.show(registry_);
    guard.start();
    TroubleWatch trouble(assembly, settings_.values.cache.warmup_tokens, board_);
    trouble.start();
    const AnswersEnd answers_end{service.engine(), *server_};
    server_->set_model(service.served(served_name(settings_.values.model, path.path)));
    ready_ = true;
    for (const std::string& each : server_->addresses()) base::log_info("ready: http://{}/v1", each);
    memory.start([](const std::string& text) { base::log_info("{}", text); });
    wait_for_stop();
    server_->begin_stop();
    if (assembly.recorder() != nullptr) assembly.recorder()->save();
    memory.save();  // before answers are waited for: a second signal or the watchdog may end that
    service.engine().drain(to_milliseconds(settings_.values.http.drain_timeout_seconds));
  }

  void tell(const ModelAssembly& assembly, const ModelPath& path) {
    for (const std::string& each : start_lines(assembly, path, measure_speeds(assembly))) base::log_info("{}", each);
    for (const std::string& each : warning_lines(assembly)) base::log_warning("{}", each);
    show_conditions(registry_, assembly.conditions());
    const std::lock_guard lock(mutex_);
    conditions_ = assembly.conditions();
  }

  void wait_for_stop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stop_; });
  }

  ResolvedSettings settings_;
  telemetry::Registry registry_;
  ConditionBoard board_{registry_};
  std::atomic<bool> ready_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;                          // guarded by mutex_
  std::vector<server::Condition> conditions_;  // guarded by mutex_
  const UsageMemory* memory_ = nullptr;        // guarded by mutex_
  std::thread watchdog_;
  StopSignals signals_;
  std::unique_ptr<server::Server> server_;
};

// Requests are parsed on many threads; with an area of memory for each of them the process would grow for hours.
void share_memory_among_threads() {
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 2);
#endif
}

int serve_until_stopped(ResolvedSettings settings) {
  share_memory_among_threads();
  base::set_log_level(level_of(settings.values.monitor.log_level));
  for (const std::string& each : settings.warnings) base::log_warning("{}", each);
  return ServeRun(std::move(settings)).run();
}

}  // namespace

void add_serve(CLI::App& root, Selection& selection) {
  CLI::App* const command = root.add_subcommand("serve", "Serves a model over an OpenAI-compatible HTTP API");
  const OptionBinder options(*command, kServe);
  command->callback([=, &selection] { selection.run = [=] { return serve_until_stopped(options.resolve()); }; });
}

}  // namespace luce::app
