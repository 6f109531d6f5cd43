#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "completion/json.hpp"
#include "completion/text_event.hpp"

namespace luce::server {

using completion::Json;

/// What all parts of one answer share.
struct ReplyIdentity {
  std::string id;       // "chatcmpl-..."
  int64_t created = 0;  // seconds since 1970
  std::string model;
};

/// A fresh id: the prefix and 24 random letters and digits.
ReplyIdentity make_identity(const std::string& prefix, const std::string& model);

/// Turns text events into the JSON of one API, either chunk by chunk or collected into one whole answer. One thread.
class ReplyFormat {
 public:
  virtual ~ReplyFormat() = default;

  /// The chunks of a stream for one event of a choice; none for Failure.
  virtual std::vector<Json> chunks(int choice, const completion::TextEvent& event) = 0;
  /// The chunk without choices that carries the usage.
  virtual Json usage_chunk(Json usage) = 0;

  /// How a chunk goes over the wire, and what comes after the last one.
  virtual std::string frame(const Json& chunk) const;
  virtual std::string last_frame() const { return "data: [DONE]\n\n"; }
  /// The chunk for a reply that failed in the middle; `error`: {"error": {...}}.
  virtual Json failure_chunk(Json error) { return error; }

  /// Takes an event of a choice into the whole answer.
  virtual void collect(int choice, const completion::TextEvent& event) = 0;
  virtual Json whole(Json usage) = 0;
};

/// A format whose events are named by their type, and whose last ones carry the usage.
class NamedEventFormat : public ReplyFormat {
 public:
  Json usage_chunk(Json usage) override { return usage; }  // is never asked for
  std::string frame(const Json& chunk) const override;
  std::string last_frame() const override { return {}; }
};

/// U+FFFD for each byte that is no part of valid UTF-8.
std::string replace_invalid_utf8(const std::string& text);

/// A log-probability as JSON can hold it: minus infinity becomes -9999.
double finite_logprob(float logprob);

}  // namespace luce::server
