#pragma once

#include <string>

#include "server/exchange.hpp"
#include "server/reply_delivery.hpp"

namespace luce::server {

/// What is kept of a request: no text of it, no key, no query.
struct RequestRecord {
  std::string method;
  std::string route;  // the path of a known route, else "other": paths are the client's text
  std::string peer;
  int status = 0;
  Outcome outcome = Outcome::rejected;
  double seconds = 0;
  size_t sent_bytes = 0;
  int prompt_tokens = 0;
  int completion_tokens = 0;
};

Outcome outcome_of_status(int status);

/// One line of "key=value" pairs for the access log.
std::string access_line(const RequestRecord& record);

}  // namespace luce::server
