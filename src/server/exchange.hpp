#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/connection.hpp"
#include "server/error_body.hpp"
#include "server/http_message.hpp"

namespace luce::server {

/// One request and its answer, on a worker's thread: either one whole response or one stream.
class Exchange {
 public:
  Exchange(std::unique_ptr<Connection> connection, std::chrono::milliseconds write_timeout);

  const HttpRequest& request() const { return request_; }
  const std::string& peer() const { return connection_->peer; }

  /// Headers that any answer gets, such as CORS.
  void add_header(std::string name, std::string value);
  void respond(const HttpResponse& response);
  void respond_error(const ApiError& error) { respond(error_response(error, error_style())); }
  /// As the API that the path belongs to words errors.
  ErrorStyle error_style() const;

  /// Sends status 200 and headers at once; a body of unknown length follows (chunked, or up to the end for HTTP/1.0).
  void begin_stream(std::string_view content_type);
  /// False once the client is gone; further writes then do nothing.
  bool write(std::string_view bytes);
  void end_stream();
  /// Ends the connection without the mark of a proper end.
  void break_off();

  bool answered() const { return status_ != 0; }
  bool streaming() const { return streaming_; }
  int status() const { return status_; }
  size_t sent_bytes() const { return sent_bytes_; }

  /// True when the client has closed. A client that closed only its sending side (nc -N) still gets its answer: the two
  /// are told apart by a harmless byte sent to it, a comment in a stream, "100 Continue" before a response.
  bool client_gone();

  /// The connection may serve another request.
  bool reusable() const { return reusable_ && !gone_; }
  std::unique_ptr<Connection> release() { return std::move(connection_); }

 private:
  bool send_all(std::string_view bytes);
  void probe();
  void send_head(int status, std::vector<Header> headers);

  std::unique_ptr<Connection> connection_;
  std::chrono::milliseconds write_timeout_;
  HttpRequest request_;
  std::vector<Header> extra_headers_;
  int status_ = 0;
  size_t sent_bytes_ = 0;
  bool streaming_ = false;
  bool chunked_ = false;
  bool probed_ = false;
  bool reusable_ = false;
  bool gone_ = false;
};

}  // namespace luce::server
