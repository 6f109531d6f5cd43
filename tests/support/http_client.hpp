#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace luce::support {

using Json = nlohmann::ordered_json;
using HeaderList = std::vector<std::pair<std::string, std::string>>;

/// One response as it came over the wire.
struct HttpReply {
  int status = 0;                              // 0: none came
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // chunks joined
  bool complete = false;                       // the body ended as its framing says

  std::string header(const std::string& name) const;
  Json json() const { return Json::parse(body); }
  /// Texts behind "data: ", in order, comments left out.
  std::vector<std::string> frames() const;
  /// Frames but the last "[DONE]", parsed.
  std::vector<Json> chunks() const;
};

/// A client on a raw socket, to send what a well-behaved library would not.
class TestClient {
 public:
  explicit TestClient(int port, const std::string& address = "127.0.0.1");
  ~TestClient();
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  bool connected() const { return fd_ >= 0; }
  /// Lets the kernel hold few bytes for a client that does not read.
  void take_little_ahead();
  /// False if the server closed.
  bool send(std::string_view bytes);
  void shutdown_write();
  void close();
  /// Bytes that come within the time, at once when there are some; empty if none or closed.
  std::string receive(std::chrono::milliseconds timeout);
  /// Waits for the server to close; false if it does not in time.
  bool closed_within(std::chrono::milliseconds timeout);
  /// One whole response.
  HttpReply read_reply(std::chrono::milliseconds timeout = std::chrono::seconds(20), bool head_only = false);

 private:
  bool fill(std::chrono::steady_clock::time_point deadline);

  int fd_ = -1;
  std::string buffer_;
  bool ended_ = false;
};

/// The text of a request with Host and, for a body, Content-Length and Content-Type: application/json.
std::string request_text(const std::string& method, const std::string& path, const std::string& body = "",
                         HeaderList headers = {});

HttpReply send_request(int port, const std::string& method, const std::string& path, const std::string& body = "",
                       HeaderList headers = {});

}  // namespace luce::support
