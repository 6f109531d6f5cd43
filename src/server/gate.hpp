#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "server/connection.hpp"
#include "server/listener.hpp"

namespace luce::server {

struct GateLimits {
  size_t body_bytes = size_t{32} << 20;       // of one request
  size_t buffered_bytes = size_t{256} << 20;  // of all requests that are being read
  size_t connections = 1024;
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{10'000};    // for each further part of a body
  std::chrono::milliseconds idle_timeout{60'000};    // between two requests
};

/// Accepts connections and reads requests, all on one thread, so that a slow or idle client costs a socket and no
/// worker. Whole requests (or refusals) go to `on_request`, which takes the connection and must not block.
class Gate {
 public:
  using Handover = std::function<void(std::unique_ptr<Connection>)>;

  Gate(GateLimits limits, std::vector<Listener> listeners, Handover on_request);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void start();
  /// Reads the next request of an answered connection. Thread-safe.
  void resume(std::unique_ptr<Connection> connection);
  /// Sends the end of the stream and waits shortly until the client has read it. Thread-safe.
  void finish(std::unique_ptr<Connection> connection);
  /// Closes the listening sockets and the connections on which nothing is under way. Thread-safe.
  void stop_accepting();
  /// Ends the thread and closes all that it holds.
  void stop();

  /// Connections held here, not those that workers hold.
  size_t held_connections() const { return held_connections_; }

 private:
  void loop();
  void wake();
  void take_returned();
  void accept_from(const Listener& listener);
  void adopt(std::unique_ptr<Connection> connection);
  void read_from(int fd);
  void discard_from(Connection& connection);
  void after_read(Connection& connection, bool was_idle);
  void await_more(Connection& connection, bool was_idle);
  void hand_over(int fd);
  void drop(int fd);
  void drop_overdue();
  void close_listeners();
  void count_buffered(Connection& connection);

  GateLimits limits_;
  std::vector<Listener> listeners_;
  Handover on_request_;
  FileDescriptor epoll_;
  FileDescriptor wake_;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;  // by socket; loop thread only
  size_t buffered_bytes_ = 0;                                         // loop thread only
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> returned_;  // guarded by mutex_
  std::atomic<size_t> held_connections_ = 0;
  std::atomic<bool> accepting_ = true;
  std::atomic<bool> running_ = false;
  std::thread thread_;
};

}  // namespace luce::server
