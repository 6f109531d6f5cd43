#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace luce::server {

/// Where a server listens, from an address such as http://localhost:8000 or http://[::1]:8000/base.
struct Endpoint {
  std::string host;
  int port = 80;
  std::string base_path;  // without a slash at its end

  /// Throws Error{usage} for anything but plain http.
  static Endpoint parse(std::string_view address);
  std::string text() const;
};

struct HttpCall {
  std::string method = "GET";
  std::string path = {};  // behind the endpoint's own
  std::string body = {};  // JSON; empty: none
  std::string api_key = {};
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // without a byte
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

/// Asks a server as a client does: one request on one connection, and the whole answer. Throws Error{io} that names the
/// endpoint when it cannot be reached or its answer is cut off.
HttpAnswer call(const Endpoint& endpoint, const HttpCall& request);

}  // namespace luce::server
