#include "server/request_record.hpp"

#include "base/format.hpp"

namespace luce::server {

Outcome outcome_of_status(int status) {
  if (status < 400) return Outcome::completed;
  if (status == 503) return Outcome::overloaded;
  return status < 500 ? Outcome::rejected : Outcome::failed;
}

std::string access_line(const RequestRecord& record) {
  std::string line = fmt::format("request method={} route={} status={} outcome={} seconds={:.4f} sent_bytes={} peer={}",
                                 record.method, record.route, record.status, outcome_name(record.outcome),
                                 record.seconds, record.sent_bytes, record.peer);
  if (record.prompt_tokens > 0)
    line += fmt::format(" prompt_tokens={} completion_tokens={}", record.prompt_tokens, record.completion_tokens);
  return line;
}

}  // namespace luce::server
