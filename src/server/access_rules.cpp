#include "server/access_rules.hpp"

#include <algorithm>

namespace luce::server {
namespace {

/// The host without its port: "[::1]:80" gives "[::1]".
std::string_view without_port(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  const size_t bracket = authority.rfind(']');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
  return has_port ? authority.substr(0, colon) : authority;
}

bool is_loopback_name(std::string_view host) {
  if (same_ignoring_case(host, "localhost") || host == "[::1]") return true;
  if (host.substr(0, 4) != "127.") return false;
  const auto dots = std::count(host.begin(), host.end(), '.');
  return dots == 3 && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// "https://host:port" to "host:port"; empty if it is no web origin.
std::string_view authority_of(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.substr(0, scheme.size()) == scheme) return origin.substr(scheme.size());
  return {};
}

}  // namespace

bool same_secret(std::string_view given, std::string_view key) {
  unsigned difference = given.size() == key.size() ? 0u : 1u;
  for (size_t i = 0; i < given.size(); ++i) {
    const char expected = key.empty() ? '\0' : key[i % key.size()];
    difference |= static_cast<unsigned char>(given[i] ^ expected);
  }
  return difference == 0 && !key.empty();
}

bool AccessRules::listed(std::string_view host_or_origin) const {
  return std::any_of(settings_.allowed_hosts.begin(), settings_.allowed_hosts.end(),
                     [&](const std::string& each) { return same_ignoring_case(each, host_or_origin); });
}

bool AccessRules::host_allowed(const HttpRequest& request) const {
  if (!settings_.loopback_only) return true;
  const auto host = request.header("Host");
  if (!host) return request.minor_version == 0;
  return is_loopback_name(without_port(*host)) || listed(*host) || listed(without_port(*host));
}

std::optional<std::string> AccessRules::allowed_origin(const HttpRequest& request) const {
  const auto origin = request.header("Origin");
  if (!origin) return std::nullopt;
  const std::string_view authority = authority_of(*origin);
  if (authority.empty()) return std::nullopt;
  const std::string_view host = without_port(authority);
  const bool own = request.header("Host") == authority;
  if (own || is_loopback_name(host) || listed(*origin) || listed(authority) || listed(host))
    return std::string(*origin);
  return std::nullopt;
}

bool AccessRules::foreign_origin(const HttpRequest& request) const {
  return request.header("Origin").has_value() && !allowed_origin(request).has_value();
}

bool AccessRules::is_key(std::string_view given) const {
  bool found = false;
  for (const std::string& key : settings_.api_keys) found = same_secret(given, key) || found;
  return found;
}

bool AccessRules::key_right(const HttpRequest& request) const {
  if (settings_.api_keys.empty()) return true;
  constexpr std::string_view kScheme = "Bearer ";
  const auto authorization = request.header("Authorization");
  if (authorization && same_ignoring_case(authorization->substr(0, kScheme.size()), kScheme) &&
      is_key(authorization->substr(kScheme.size())))
    return true;
  const auto key = request.header("x-api-key");
  return key && is_key(*key);
}

}  // namespace luce::server
