// What goes over the sockets: pipelining, half-closed and slow clients, old and odd requests.
#include <chrono>
#include <thread>

#include "server/server_fixture.hpp"
#include "support/sanitizer.hpp"

namespace luce::server {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string chat_text(Json body) { return request_text("POST", "/v1/chat/completions", body.dump()); }

TEST(Connection, ServesSeveralRequestsOneAfterAnother) {
  const RunningServer server;
  TestClient client(server.port());
  for (int i = 0; i < 20; ++i) {
    client.send(i % 2 == 0 ? request_text("GET", "/health") : chat_text(small_chat("hi", 1)));
    const HttpReply reply = client.read_reply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.header("connection"), "keep-alive");
  }
}

TEST(Connection, AnswersPipelinedRequestsInOrder) {
  const RunningServer server;
  TestClient client(server.port());
  Json stream = small_chat("hi", 2);
  stream["stream"] = true;
  client.send(chat_text(small_chat("hi", 1)) + request_text("GET", "/v1/models") + chat_text(stream) +
              request_text("GET", "/v1/none"));
  EXPECT_EQ(client.read_reply().json()["object"], "chat.completion");
  EXPECT_EQ(client.read_reply().json()["object"], "list");
  EXPECT_EQ(client.read_reply().frames().back(), "[DONE]");
  EXPECT_EQ(client.read_reply().status, 404);
}

TEST(Connection, AHalfClosedClientGetsItsAnswer) {
  RunningServer server;
  server.hooks().decode_step_ms = 20;
  for (const bool stream : {false, true}) {
    Json body = small_chat("hi", 8);
    body["stream"] = stream;
    body["ignore_eos"] = true;
    TestClient client(server.port());
    client.send(chat_text(body));
    client.shutdown_write();
    const HttpReply reply = client.read_reply();
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.complete);
    if (stream) {
      EXPECT_EQ(reply.frames().back(), "[DONE]");
    } else {
      EXPECT_EQ(reply.json()["usage"]["completion_tokens"], 8);
    }
  }
}

TEST(Connection, ClosesWhenAskedToAndForOldClients) {
  const RunningServer server;
  TestClient client(server.port());
  client.send(request_text("GET", "/health", "", {{"Connection", "close"}}));
  EXPECT_EQ(client.read_reply().header("connection"), "close");
  EXPECT_TRUE(client.closed_within(milliseconds(1000)));
  TestClient old(server.port());
  Json body = small_chat("hi", 3);
  body["stream"] = true;
  const std::string text = body.dump();
  old.send("POST /v1/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(text.size()) + "\r\n\r\n" + text);
  const HttpReply reply = old.read_reply();
  EXPECT_EQ(reply.header("transfer-encoding"), "");
  EXPECT_EQ(reply.frames().back(), "[DONE]");
}

TEST(Connection, HeadHasNoBody) {
  const RunningServer server;
  TestClient client(server.port());
  client.send(request_text("HEAD", "/health"));
  const HttpReply reply = client.read_reply(milliseconds(2000), true);
  EXPECT_EQ(reply.status, 200);
  EXPECT_GT(std::stoi(reply.header("content-length")), 10);
  client.send(request_text("GET", "/health"));
  EXPECT_EQ(client.read_reply().json()["status"], "ok");
}

TEST(Connection, TellsTheClientToGoOn) {
  const RunningServer server;
  TestClient client(server.port());
  const std::string text =
      request_text("POST", "/v1/chat/completions", small_chat("hi", 1).dump(), {{"Expect", "100-continue"}});
  const size_t head = text.find("\r\n\r\n") + 4;
  client.send(text.substr(0, head));
  EXPECT_EQ(client.receive(milliseconds(1000)), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(text.substr(head));
  EXPECT_EQ(client.read_reply().status, 200);
}

TEST(Connection, BytesThatAreNoHttpGetAnErrorObject) {
  const RunningServer server;
  for (const std::string& bytes :
       std::vector<std::string>{std::string("\x16\x03\x01\x02\x01\x01\n\n"), std::string("hello\r\n\r\n"),
                                std::string("GET / HTTP/3\r\nHost: a\r\n\r\n"),
                                std::string("GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")}) {
    TestClient client(server.port());
    client.send(bytes);
    const HttpReply reply = client.read_reply();
    EXPECT_THAT(reply.status, testing::AnyOf(400, 505));
    EXPECT_TRUE(reply.json()["error"]["message"].is_string());
    EXPECT_TRUE(client.closed_within(milliseconds(3000)));
  }
  server.expect_alive();
}

TEST(Connection, AClientThatDoesNotReadIsGivenUp) {
  ServerOptions options;
  options.http.write_timeout = milliseconds(300);
  options.n_ctx = 4096;
  RunningServer server(options);
  server.hooks().decode_step_ms = 1;  // the reply must outlast the socket's buffers
  Json body = small_chat("hi", 100);
  body["n"] = 4;
  body["ignore_eos"] = true;
  body["logprobs"] = true;
  body["top_logprobs"] = 20;
  body["max_tokens"] = 4000;
  body["stream"] = true;
  TestClient client(server.port());
  client.take_little_ahead();
  client.send(chat_text(body));
  const auto deadline = Clock::now() + std::chrono::seconds(15) * support::kSlowness;
  while (server.engine().status().running == 0 && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(5));
  while (server.engine().status().running > 0 && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(server.engine().status().running, 0);
  EXPECT_GE(server.metric("luce_requests_total{outcome=\"cancelled\"}"), 1);
  server.expect_alive();
}

TEST(Connection, TheMetricsPortOffersNothingElse) {
  ServerOptions options;
  options.http.metrics_port = 0;
  RunningServer server(options);
  const int port = server.server().metrics_port();
  EXPECT_EQ(send_request(port, "GET", "/metrics").status, 200);
  EXPECT_THAT(send_request(port, "GET", "/metrics").body, HasSubstr("luce_requests_total"));
  EXPECT_EQ(send_request(port, "GET", "/health").status, 200);
  EXPECT_EQ(send_request(port, "POST", "/v1/chat/completions", small_chat().dump()).status, 404);
  EXPECT_EQ(send_request(port, "GET", "/metrics", "", {{"Host", "evil.example"}}).status, 403);
}

TEST(Connection, MetricsAnswerWhileEveryPlaceStreamsAndTheQueueIsFull) {
  ServerOptions options;
  options.slots = 2;
  options.queue = 2;
  RunningServer server(options);
  server.hooks().decode_step_ms = 5;
  Json body = small_chat("hi", 200);
  body["stream"] = true;
  body["ignore_eos"] = true;
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<TestClient>(server.port()));
    clients.back()->send(chat_text(body));
  }
  for (int i = 0; i < 10; ++i) {
    const auto begin = Clock::now();
    EXPECT_EQ(server.get(i % 2 == 0 ? "/metrics" : "/health").status, 200);
    EXPECT_LT(Clock::now() - begin, milliseconds(200));
  }
}

TEST(Connection, TheNumberOfConnectionsIsBounded) {
  ServerOptions options;
  options.http.gate.connections = 8;
  const RunningServer server(options);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(std::make_unique<TestClient>(server.port()));
  std::this_thread::sleep_for(milliseconds(200));
  TestClient one_more(server.port());
  EXPECT_EQ(one_more.read_reply(milliseconds(2000)).status, 503);
  clients.clear();
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(server.get("/health").status, 200);
}

TEST(Connection, CompressedBodiesAreRefused) {
  const RunningServer server;
  EXPECT_EQ(server.post_raw("/v1/chat/completions", "x", {{"Content-Encoding", "gzip"}}).status, 415);
}

}  // namespace
}  // namespace luce::server
