#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luce::server {

struct Header {
  std::string name;
  std::string value;
};

/// ASCII letters compare equal in either case.
bool same_ignoring_case(std::string_view left, std::string_view right);

/// One whole request with its decoded body.
struct HttpRequest {
  std::string method;
  std::string path;   // as sent, without the query
  std::string query;  // behind '?', undecoded
  int minor_version = 1;
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = true;

  /// The first header of that name in any letter case.
  std::optional<std::string_view> header(std::string_view name) const;
};

/// A whole response; the connection adds Content-Length and Connection.
struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<Header> headers;
};

const char* reason_phrase(int status);

/// Status line and headers up to the empty line.
std::string response_head(int status, const std::vector<Header>& headers);

}  // namespace luce::server
