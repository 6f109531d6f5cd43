#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.hpp"

namespace luce::server {

/// Who may call.
struct AccessSettings {
  std::vector<std::string> api_keys;       // empty: no key is asked for
  bool loopback_only = true;               // bound to loopback: a foreign Host is refused
  std::vector<std::string> allowed_hosts;  // hosts ("chat.example") or whole origins ("https://chat.example")
};

/// Compares all bytes whatever the first difference; the time depends on the length of `given` alone.
bool same_secret(std::string_view given, std::string_view key);

/// Decides by headers alone who may call; pure.
class AccessRules {
 public:
  explicit AccessRules(AccessSettings settings) : settings_(std::move(settings)) {}

  /// Whether the Host header names this machine or an allowed host. Bound elsewhere than to loopback every host is
  /// right.
  bool host_allowed(const HttpRequest& request) const;
  /// The Origin that may read the answer: one of loopback, an allowed one, or the host that was called itself.
  std::optional<std::string> allowed_origin(const HttpRequest& request) const;
  /// A page of another site is calling.
  bool foreign_origin(const HttpRequest& request) const;
  /// True without keys; else one right key as "Authorization: Bearer KEY" or "x-api-key: KEY" suffices.
  bool key_right(const HttpRequest& request) const;

 private:
  bool listed(std::string_view host_or_origin) const;
  bool is_key(std::string_view given) const;

  AccessSettings settings_;
};

}  // namespace luce::server
