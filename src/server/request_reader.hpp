#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/chunked_body.hpp"
#include "server/request_head.hpp"

namespace luce::server {

/// Reads requests from one connection's bytes as they arrive, pipelined ones one after another.
class RequestReader {
 public:
  enum class State { head, body, complete, refused };

  explicit RequestReader(size_t most_body_bytes) : most_body_bytes_(most_body_bytes) {}

  State feed(std::string_view bytes);
  State state() const { return state_; }

  /// Why reading stopped; only in state refused.
  const Refusal& refusal() const { return refusal_; }
  /// Stops reading for a reason that lies outside of the bytes, such as a deadline.
  void give_up(Refusal refusal) { refuse(std::move(refusal)); }
  /// True once, after a head that wants "100 Continue" before its body is sent.
  bool take_continue();

  /// The complete request; reading goes on with what came behind it (see state()).
  HttpRequest take_request();
  /// The head of a request whose body was refused, as far as it is known.
  const HttpRequest& partial_request() const { return head_.request; }

  /// Nothing of a next request has arrived.
  bool idle() const { return state_ == State::head && pending_.empty(); }
  size_t buffered_bytes() const { return pending_.size() + head_.request.body.size(); }

 private:
  void advance();
  void read_head();
  void begin_body();
  void read_body();
  void refuse(Refusal refusal);

  size_t most_body_bytes_;
  State state_ = State::head;
  std::string pending_;
  size_t scanned_bytes_ = 0;
  RequestHead head_;
  ChunkedBody chunks_;
  bool owes_continue_ = false;
  Refusal refusal_;
};

}  // namespace luce::server
