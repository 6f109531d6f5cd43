#include "server/exchange.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "base/check.hpp"
#include "base/format.hpp"

namespace luce::server {
namespace {

HttpRequest request_of(RequestReader& reader) {
  return reader.state() == RequestReader::State::complete ? reader.take_request() : reader.partial_request();
}

}  // namespace

Exchange::Exchange(std::unique_ptr<Connection> connection, std::chrono::milliseconds write_timeout)
    : connection_(std::move(connection)), write_timeout_(write_timeout) {
  const bool complete = connection_->reader.state() == RequestReader::State::complete;
  request_ = request_of(connection_->reader);
  reusable_ = complete && request_.keep_alive;
}

void Exchange::add_header(std::string name, std::string value) {
  extra_headers_.push_back({std::move(name), std::move(value)});
}

void Exchange::respond(const HttpResponse& response) {
  LUCE_CHECK(!answered(), "a request is answered once");
  std::vector<Header> headers = response.headers;
  if (response.status != 204) {
    headers.push_back({"Content-Type", response.content_type});
    headers.push_back({"Content-Length", std::to_string(response.body.size())});
  }
  send_head(response.status, std::move(headers));
  if (request_.method != "HEAD") send_all(response.body);
}

ErrorStyle Exchange::error_style() const {
  return request_.path.starts_with("/v1/messages") ? ErrorStyle::anthropic : ErrorStyle::openai;
}

void Exchange::begin_stream(std::string_view content_type) {
  LUCE_CHECK(!answered(), "a request is answered once");
  chunked_ = request_.minor_version == 1;
  if (!chunked_) reusable_ = false;
  std::vector<Header> headers = {{"Content-Type", std::string(content_type)}, {"Cache-Control", "no-cache"}};
  if (chunked_) headers.push_back({"Transfer-Encoding", "chunked"});
  send_head(200, std::move(headers));
  streaming_ = true;
}

bool Exchange::write(std::string_view bytes) {
  if (bytes.empty() || gone_) return !gone_;
  return chunked_ ? send_all(fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes)) : send_all(bytes);
}

void Exchange::end_stream() {
  if (chunked_) send_all("0\r\n\r\n");
}

void Exchange::break_off() { reusable_ = false; }

bool Exchange::client_gone() {
  if (gone_) return true;
  pollfd state = {connection_->socket.get(), POLLRDHUP, 0};
  ::poll(&state, 1, 0);
  if ((state.revents & (POLLERR | POLLHUP)) != 0) gone_ = true;
  if (!gone_ && (state.revents & POLLRDHUP) != 0 && !probed_) probe();
  return gone_;
}

void Exchange::probe() {
  probed_ = true;
  reusable_ = false;
  if (request_.minor_version == 0 && !streaming_) return;
  if (streaming_)
    write(": are you there\n\n");
  else
    send_all("HTTP/1.1 100 Continue\r\n\r\n");
}

void Exchange::send_head(int status, std::vector<Header> headers) {
  status_ = status;
  headers.insert(headers.end(), extra_headers_.begin(), extra_headers_.end());
  headers.push_back({"X-Content-Type-Options", "nosniff"});
  headers.push_back({"Connection", reusable_ ? "keep-alive" : "close"});
  send_all(response_head(status, headers));
}

bool Exchange::send_all(std::string_view bytes) {
  const auto deadline = Clock::now() + write_timeout_;
  while (!bytes.empty() && !gone_) {
    const ssize_t sent = ::send(connection_->socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      sent_bytes_ += static_cast<size_t>(sent);
      continue;
    }
    if (errno == EINTR) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd state = {connection_->socket.get(), POLLOUT, 0};
    if (errno != EAGAIN || left.count() <= 0 || ::poll(&state, 1, static_cast<int>(left.count())) < 0) gone_ = true;
  }
  return !gone_;
}

}  // namespace luce::server
