#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "server/http_message.hpp"

namespace luce::server {

/// Why a request cannot be read: answered with this status, then the connection closes.
struct Refusal {
  int status = 400;
  std::string message;
};

/// How the body is framed.
struct BodyFraming {
  bool chunked = false;
  size_t length_bytes = 0;
  bool expects_continue = false;
};

struct RequestHead {
  HttpRequest request;
  BodyFraming framing;
};

/// Parses the head up to and with its empty line (RFC 9112); lines end with CR LF or LF. Strict where leniency lets two
/// readers disagree: doubled or contradicting lengths, folded lines, spaces before a colon, control bytes.
/// Returns the reason if the head is refused; `out` is then unspecified.
std::optional<Refusal> parse_request_head(std::string_view head, RequestHead& out);

}  // namespace luce::server
