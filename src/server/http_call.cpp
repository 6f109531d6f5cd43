#include "server/http_call.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <charconv>
#include <memory>
#include <system_error>

#include "base/error.hpp"
#include "server/file_descriptor.hpp"
#include "server/http_message.hpp"

namespace luce::server {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr size_t kMostAnswerBytes = size_t{64} << 20;

std::string reason() { return std::generic_category().message(errno); }

[[noreturn]] void fail_call(const Endpoint& endpoint, const std::string& why) {
  fail(ErrorKind::io, "{}: {}; is luce-spark serve running there?", endpoint.text(), why);
}

int parse_port(std::string_view digits, std::string_view address) {
  int port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port < 1 || port > 65535)
    fail(ErrorKind::usage, "the port of '{}' must be a number from 1 to 65535", address);
  return port;
}

FileDescriptor connect_to(const Endpoint& endpoint) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &list) != 0)
    fail_call(endpoint, "the name " + endpoint.host + " is not known");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  std::string why = "no address";
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    FileDescriptor socket(::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    if (socket.valid() && ::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0) return socket;
    why = reason();
  }
  fail_call(endpoint, "cannot connect: " + why);
}

// HTTP/1.0, so that the answer is never chunked and ends with the connection.
std::string request_text(const Endpoint& endpoint, const HttpCall& request) {
  const bool six = endpoint.host.find(':') != std::string::npos;
  std::string text =
      fmt::format("{} {}{} HTTP/1.0\r\nHost: {}:{}\r\nAccept: */*\r\n", request.method, endpoint.base_path,
                  request.path, six ? "[" + endpoint.host + "]" : endpoint.host, endpoint.port);
  if (!request.api_key.empty()) text += fmt::format("Authorization: Bearer {}\r\n", request.api_key);
  if (!request.body.empty())
    text += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", request.body.size());
  return text + "\r\n" + request.body;
}

std::string read_to_end(const Endpoint& endpoint, int socket) {
  std::string text;
  char bytes[65536];
  for (;;) {
    const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_call(endpoint, "no answer: " + reason());
    text.append(bytes, static_cast<size_t>(got));
    if (text.size() > kMostAnswerBytes) fail_call(endpoint, "the answer is too long");
  }
}

/// The number behind Content-Length, or npos.
size_t announced_length(std::string_view head) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !same_ignoring_case(line.substr(0, colon), "content-length")) continue;
    const std::string_view digits = line.substr(line.find_first_not_of(' ', colon + 1));
    size_t length = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), length);
    return length;
  }
  return std::string_view::npos;
}

HttpAnswer parse_answer(const Endpoint& endpoint, const std::string& text) {
  const size_t head_end = text.find("\r\n\r\n");
  if (head_end == std::string::npos || text.compare(0, 7, "HTTP/1.") != 0 || text.size() < 12)
    fail_call(endpoint, "what answers does not speak HTTP");
  HttpAnswer answer;
  std::from_chars(text.data() + 9, text.data() + 12, answer.status);
  answer.body = text.substr(head_end + 4);
  const size_t length = announced_length(std::string_view(text).substr(0, head_end));
  if (length != std::string_view::npos && answer.body.size() < length) fail_call(endpoint, "the answer is cut off");
  return answer;
}

}  // namespace

Endpoint Endpoint::parse(std::string_view address) {
  std::string_view rest = address;
  if (rest.substr(0, kScheme.size()) != kScheme)
    fail(ErrorKind::usage, "the endpoint is '{}' but must begin with http://, such as http://localhost:8000", address);
  rest.remove_prefix(kScheme.size());
  Endpoint endpoint;
  const size_t slash = std::min(rest.find('/'), rest.size());
  endpoint.base_path = rest.substr(slash);
  while (endpoint.base_path.ends_with('/')) endpoint.base_path.pop_back();
  rest = rest.substr(0, slash);
  const size_t bracket = rest.find(']');
  const size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  endpoint.host = rest.substr(0, colon);
  if (colon != std::string_view::npos) endpoint.port = parse_port(rest.substr(colon + 1), address);
  if (endpoint.host.starts_with('[') && endpoint.host.ends_with(']'))
    endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
  const bool plain = endpoint.host.find_first_of("[]@ \r\n") == std::string::npos &&
                     endpoint.base_path.find_first_of(" \r\n?#") == std::string::npos;
  if (endpoint.host.empty() || !plain) fail(ErrorKind::usage, "the endpoint '{}' names no host", address);
  return endpoint;
}

std::string Endpoint::text() const {
  const bool six = host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}{}", six ? "[" : "", host, six ? "]" : "", port, base_path);
}

HttpAnswer call(const Endpoint& endpoint, const HttpCall& request) {
  const FileDescriptor socket = connect_to(endpoint);
  const timeval patience = {request.timeout.count() / 1000, request.timeout.count() % 1000 * 1000};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const std::string text = request_text(endpoint, request);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t sent = ::send(socket.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) break;  // it may have answered already, why it does not want the rest
    left.remove_prefix(static_cast<size_t>(sent));
  }
  return parse_answer(endpoint, read_to_end(endpoint, socket.get()));
}

}  // namespace luce::server
