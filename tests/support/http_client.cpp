#include "support/http_client.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace luce::support {
namespace {

using Clock = std::chrono::steady_clock;

int connect_to(int port, const std::string& address) {
  sockaddr_storage storage = {};
  socklen_t size = 0;
  if (address.find(':') != std::string::npos) {
    auto* const six = reinterpret_cast<sockaddr_in6*>(&storage);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET6, address.c_str(), &six->sin6_addr);
    size = sizeof(sockaddr_in6);
  } else {
    auto* const four = reinterpret_cast<sockaddr_in*>(&storage);
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &four->sin_addr);
    size = sizeof(sockaddr_in);
  }
  const int fd = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&storage), size) == 0) return fd;
  ::close(fd);
  return -1;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Joins chunks; sets `complete` when the last one was there.
std::string join_chunks(std::string_view raw, size_t& used, bool& complete) {
  std::string body;
  size_t at = 0;
  for (;;) {
    const size_t end = raw.find("\r\n", at);
    if (end == std::string_view::npos) return body;
    const size_t size = std::stoul(std::string(raw.substr(at, end - at)), nullptr, 16);
    if (raw.size() < end + 2 + size + 2) return body;
    body.append(raw.substr(end + 2, size));
    at = end + 2 + size + 2;
    used = at;
    if (size == 0) {
      complete = true;
      return body;
    }
  }
}

}  // namespace

std::string HttpReply::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

std::vector<std::string> HttpReply::frames() const {
  std::vector<std::string> found;
  constexpr std::string_view kBegin = "data: ";
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find('\n', at), body.size());
    const std::string line = body.substr(at, end - at);
    if (line.compare(0, kBegin.size(), kBegin) == 0) found.push_back(line.substr(kBegin.size()));
    at = end + 1;
  }
  return found;
}

std::vector<Json> HttpReply::chunks() const {
  std::vector<Json> parsed;
  for (const std::string& each : frames())
    if (each != "[DONE]") parsed.push_back(Json::parse(each));
  return parsed;
}

TestClient::TestClient(int port, const std::string& address) : fd_(connect_to(port, address)) {}

TestClient::~TestClient() { close(); }

void TestClient::take_little_ahead() {
  const int bytes = 4096;
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

bool TestClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void TestClient::shutdown_write() { ::shutdown(fd_, SHUT_WR); }

void TestClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool TestClient::fill(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd state = {fd_, POLLIN, 0};
  if (fd_ < 0 || ended_ || left < 0 || ::poll(&state, 1, static_cast<int>(left)) <= 0) return false;
  char bytes[65536];
  const ssize_t got = ::recv(fd_, bytes, sizeof(bytes), 0);
  ended_ = got <= 0;
  if (got > 0) buffer_.append(bytes, static_cast<size_t>(got));
  return got > 0;
}

std::string TestClient::receive(std::chrono::milliseconds timeout) {
  if (buffer_.empty()) fill(Clock::now() + timeout);
  return std::exchange(buffer_, {});
}

bool TestClient::closed_within(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!ended_ && Clock::now() < deadline) fill(deadline);
  return ended_;
}

HttpReply TestClient::read_reply(std::chrono::milliseconds timeout, bool head_only) {
  const auto deadline = Clock::now() + timeout;
  size_t head_end = std::string::npos;
  for (;;) {
    head_end = buffer_.find("\r\n\r\n");
    const bool interim = head_end != std::string::npos && buffer_.compare(0, 12, "HTTP/1.1 100") == 0;
    if (interim)
      buffer_.erase(0, head_end + 4);
    else if (head_end != std::string::npos || !fill(deadline))
      break;
  }
  HttpReply reply;
  if (head_end == std::string::npos) return reply;
  reply.status = std::stoi(buffer_.substr(9, 3));
  for (size_t at = buffer_.find("\r\n") + 2; at < head_end;) {
    const size_t end = buffer_.find("\r\n", at);
    const size_t colon = buffer_.find(':', at);
    reply.headers[lower(buffer_.substr(at, colon - at))] = buffer_.substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  buffer_.erase(0, head_end + 4);
  const bool chunked = reply.header("transfer-encoding") == "chunked";
  const std::string length = reply.header("content-length");
  if (head_only || (!chunked && length.empty() && reply.status == 204)) {
    reply.complete = true;
    return reply;
  }
  for (;;) {
    size_t used = 0;
    if (chunked)
      reply.body = join_chunks(buffer_, used, reply.complete);
    else if (!length.empty() && buffer_.size() >= std::stoul(length)) {
      used = std::stoul(length);
      reply.body = buffer_.substr(0, used);
      reply.complete = true;
    }
    if (reply.complete) {
      buffer_.erase(0, used);
      return reply;
    }
    if (!fill(deadline)) break;
  }
  if (!chunked && length.empty() && ended_) reply.complete = true;
  if (!chunked) reply.body = std::exchange(buffer_, {});
  return reply;
}

std::string request_text(const std::string& method, const std::string& path, const std::string& body,
                         HeaderList headers) {
  std::string text = method + " " + path + " HTTP/1.1\r\n";
  const auto given = [&headers](const std::string& name) {
    return std::any_of(headers.begin(), headers.end(),
                       [&name](const auto& each) { return lower(each.first) == lower(name); });
  };
  if (!given("Host")) headers.emplace_back("Host", "localhost");
  if (method == "POST" && !given("Content-Type")) headers.emplace_back("Content-Type", "application/json");
  if (method == "POST") headers.emplace_back("Content-Length", std::to_string(body.size()));
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  return text + "\r\n" + body;
}

HttpReply send_request(int port, const std::string& method, const std::string& path, const std::string& body,
                       HeaderList headers) {
  TestClient client(port);
  client.send(request_text(method, path, body, std::move(headers)));
  return client.read_reply(std::chrono::seconds(30), method == "HEAD");
}

}  // namespace luce::support
