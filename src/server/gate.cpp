#include "server/gate.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace luce::server {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr auto kLingerTimeout = std::chrono::milliseconds(2000);
constexpr size_t kMostLingerBytes = size_t{8} << 20;
// A body must grow by this much before its deadline moves: one byte a second is not progress.
constexpr size_t kProgressBytes = 1024;
constexpr size_t kReadBytes = 65536;

std::string address_of(const sockaddr_storage& peer) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* raw = peer.ss_family == AF_INET6
                        ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&peer)->sin6_addr)
                        : static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&peer)->sin_addr);
  inet_ntop(peer.ss_family, raw, text.data(), text.size());
  return text.data();
}

void watch(int epoll, int fd, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.fd = fd;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    fail(ErrorKind::io, "cannot watch a socket: {}", std::generic_category().message(errno));
}

}  // namespace

Gate::Gate(GateLimits limits, std::vector<Listener> listeners, Handover on_request)
    : limits_(limits),
      listeners_(std::move(listeners)),
      on_request_(std::move(on_request)),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_.valid() || !wake_.valid())
    fail(ErrorKind::io, "cannot set up the HTTP sockets: {}", std::generic_category().message(errno));
  watch(epoll_.get(), wake_.get(), EPOLLIN);
  for (const Listener& each : listeners_) watch(epoll_.get(), each.socket.get(), EPOLLIN);
}

Gate::~Gate() { stop(); }

void Gate::start() {
  running_ = true;
  thread_ = std::thread([this] { loop(); });
}

void Gate::resume(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    returned_.push_back(std::move(connection));
  }
  wake();
}

void Gate::finish(std::unique_ptr<Connection> connection) {
  ::shutdown(connection->socket.get(), SHUT_WR);
  connection->lingering = true;
  resume(std::move(connection));
}

void Gate::stop_accepting() {
  accepting_ = false;
  wake();
}

void Gate::stop() {
  if (!thread_.joinable()) return;
  running_ = false;
  wake();
  thread_.join();
  connections_.clear();
  const std::lock_guard lock(mutex_);
  returned_.clear();
  held_connections_ = 0;
}

void Gate::wake() {
  const uint64_t one = 1;
  // A full counter wakes as well, so the result does not matter.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
}

void Gate::loop() {
  std::array<epoll_event, 64> events{};
  while (running_) {
    const int ready = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), kTick.count());
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == wake_.get()) take_returned();
      for (const Listener& each : listeners_)
        if (fd == each.socket.get()) accept_from(each);
      if (connections_.contains(fd)) read_from(fd);
    }
    if (!accepting_) close_listeners();
    drop_overdue();
    held_connections_ = connections_.size();
  }
}

void Gate::take_returned() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &count, sizeof(count));
  std::vector<std::unique_ptr<Connection>> returned;
  {
    const std::lock_guard lock(mutex_);
    returned.swap(returned_);
  }
  for (auto& each : returned) adopt(std::move(each));
}

void Gate::accept_from(const Listener& listener) {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  FileDescriptor fd(
      accept4(listener.socket.get(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid() || !accepting_) return;
  if (connections_.size() >= limits_.connections) {
    constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
    ::send(fd.get(), kFull.data(), kFull.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  const int on = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  adopt(std::make_unique<Connection>(std::move(fd), address_of(peer), limits_.body_bytes));
}

void Gate::adopt(std::unique_ptr<Connection> connection) {
  const int fd = connection->socket.get();
  Connection& held = *connection;
  if (!accepting_ && !held.lingering && held.reader.idle()) return;
  connections_[fd] = std::move(connection);
  watch(epoll_.get(), fd, EPOLLIN | EPOLLRDHUP);
  const auto now = Clock::now();
  if (held.lingering) {
    held.deadline = now + kLingerTimeout;
    return;
  }
  held.deadline = now + limits_.idle_timeout;
  // A pipelined request may be complete already.
  if (!held.reader.idle()) after_read(held, true);
}

void Gate::read_from(int fd) {
  Connection& connection = *connections_.at(fd);
  if (connection.lingering) return discard_from(connection);
  std::array<char, kReadBytes> bytes;
  const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return drop(fd);
  const bool was_idle = connection.reader.idle();
  connection.progress_bytes += static_cast<size_t>(got);
  connection.reader.feed({bytes.data(), static_cast<size_t>(got)});
  after_read(connection, was_idle);
}

void Gate::discard_from(Connection& connection) {
  std::array<char, kReadBytes> bytes;
  const ssize_t got = ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) connection.discarded_bytes += static_cast<size_t>(got);
  if (got <= 0 || connection.discarded_bytes > kMostLingerBytes) drop(connection.socket.get());
}

void Gate::after_read(Connection& connection, bool was_idle) {
  using State = RequestReader::State;
  const State state = connection.reader.state();
  count_buffered(connection);
  if (state == State::body && buffered_bytes_ > limits_.buffered_bytes)
    connection.reader.give_up({503, "Too many large requests are being read; try again later."});
  else if (state != State::complete && state != State::refused)
    return await_more(connection, was_idle);
  hand_over(connection.socket.get());
}

void Gate::await_more(Connection& connection, bool was_idle) {
  using State = RequestReader::State;
  const State state = connection.reader.state();
  if (connection.reader.take_continue()) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    ::send(connection.socket.get(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (state == State::head && was_idle) connection.deadline = Clock::now() + limits_.header_timeout;
  if (state == State::body && (was_idle || connection.progress_bytes >= kProgressBytes)) {
    connection.deadline = Clock::now() + limits_.body_timeout;
    connection.progress_bytes = 0;
  }
}

void Gate::hand_over(int fd) {
  auto node = connections_.extract(fd);
  std::unique_ptr<Connection> connection = std::move(node.mapped());
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  buffered_bytes_ -= connection->counted_bytes;
  connection->counted_bytes = 0;
  connection->progress_bytes = 0;
  on_request_(std::move(connection));
}

void Gate::drop(int fd) {
  buffered_bytes_ -= connections_.at(fd)->counted_bytes;
  connections_.erase(fd);
}

void Gate::drop_overdue() {
  const auto now = Clock::now();
  std::vector<int> overdue;
  for (const auto& [fd, connection] : connections_)
    if (connection->deadline < now) overdue.push_back(fd);
  for (const int fd : overdue) {
    Connection& connection = *connections_.at(fd);
    if (connection.lingering || connection.reader.idle()) {
      drop(fd);
      continue;
    }
    connection.reader.give_up({408, "The request did not arrive in time."});
    hand_over(fd);
  }
}

void Gate::close_listeners() {
  listeners_.clear();
  std::vector<int> idle;
  for (const auto& [fd, connection] : connections_)
    if (!connection->lingering && connection->reader.idle()) idle.push_back(fd);
  for (const int fd : idle) drop(fd);
}

void Gate::count_buffered(Connection& connection) {
  buffered_bytes_ -= connection.counted_bytes;
  connection.counted_bytes = connection.reader.buffered_bytes();
  buffered_bytes_ += connection.counted_bytes;
}

}  // namespace luce::server
