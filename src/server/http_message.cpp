#include "server/http_message.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.hpp"

namespace luce::server {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::array<std::pair<int, const char*>, 21> kReasons = {{
    {100, "Continue"},
    {200, "OK"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {429, "Too Many Requests"},
}};

}  // namespace

bool same_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::optional<std::string_view> HttpRequest::header(std::string_view name) const {
  for (const Header& each : headers)
    if (same_ignoring_case(each.name, name)) return each.value;
  return std::nullopt;
}

const char* reason_phrase(int status) {
  const auto* const found =
      std::find_if(kReasons.begin(), kReasons.end(), [status](const auto& reason) { return reason.first == status; });
  return found == kReasons.end() ? "Status" : found->second;
}

std::string response_head(int status, const std::vector<Header>& headers) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_phrase(status));
  for (const Header& each : headers) head += fmt::format("{}: {}\r\n", each.name, each.value);
  return head + "\r\n";
}

}  // namespace luce::server
