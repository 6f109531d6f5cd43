#include "server/request_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace luce::server {
namespace {

using State = RequestReader::State;

constexpr size_t kMostBody = 1000;

RequestReader read_whole(const std::string& bytes) {
  RequestReader reader(kMostBody);
  reader.feed(bytes);
  return reader;
}

std::string post(const std::string& headers, const std::string& body) {
  return "POST /v1/x?q=1 HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n" + body;
}

TEST(RequestReader, ReadsAPlainRequest) {
  RequestReader reader = read_whole(post("Content-Length: 3\r\nX-A:  b \r\n", "abc"));
  ASSERT_EQ(reader.state(), State::complete);
  const HttpRequest request = reader.take_request();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/v1/x");
  EXPECT_EQ(request.query, "q=1");
  EXPECT_EQ(request.header("x-a"), "b");
  EXPECT_EQ(request.body, "abc");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_TRUE(reader.idle());
}

TEST(RequestReader, TheCutOfTheBytesDoesNotMatter) {
  const std::string bytes =
      post("Transfer-Encoding: chunked\r\n", "4;x=1\r\nabcd\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n") +
      "GET /health HTTP/1.0\r\n\r\n";
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    RequestReader reader(kMostBody);
    std::vector<HttpRequest> requests;
    for (size_t at = 0; at < bytes.size();) {
      const size_t count = std::min<size_t>(1 + random() % 9, bytes.size() - at);
      reader.feed(std::string_view(bytes).substr(at, count));
      at += count;
      while (reader.state() == State::complete) requests.push_back(reader.take_request());
    }
    ASSERT_EQ(requests.size(), 2U);
    EXPECT_EQ(requests[0].body, "abcd0123456789");
    EXPECT_EQ(requests[1].path, "/health");
    EXPECT_FALSE(requests[1].keep_alive);
  }
}

struct Refused {
  const char* what;
  std::string bytes;
  int status;
};

class RefusedRequests : public testing::TestWithParam<Refused> {};

TEST_P(RefusedRequests, GetTheirStatus) {
  RequestReader reader = read_whole(GetParam().bytes);
  ASSERT_EQ(reader.state(), State::refused) << GetParam().what;
  EXPECT_EQ(reader.refusal().status, GetParam().status) << GetParam().what;
  EXPECT_EQ(reader.buffered_bytes(), 0U) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedRequests,
    testing::Values(Refused{"no version", "GET /\r\n\r\n", 400},
                    Refused{"old version", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
                    Refused{"new version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
                    Refused{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
                    Refused{"two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
                    Refused{"space before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
                    Refused{"folded line", "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
                    Refused{"control byte", std::string("GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n"), 400},
                    Refused{"no path", "GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
                    Refused{"TLS", std::string("\x16\x03\x01\x02\x00\x01\n\n", 8), 400},
                    Refused{"length twice", post("Content-Length: 1\r\nContent-Length: 1\r\n", "a"), 400},
                    Refused{"length and chunks", post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", ""), 400},
                    Refused{"negative length", post("Content-Length: -1\r\n", ""), 400},
                    Refused{"signed length", post("Content-Length: +1\r\n", ""), 400},
                    Refused{"huge length", post("Content-Length: 99999999999999999999999\r\n", ""), 413},
                    Refused{"large length", post("Content-Length: 40000000000\r\n", ""), 413},
                    Refused{"gzip coding", post("Transfer-Encoding: gzip, chunked\r\n", ""), 501},
                    Refused{"huge chunk", post("Transfer-Encoding: chunked\r\n", "FFFFFFFFFFFFFFFF\r\n"), 400},
                    Refused{"large chunk", post("Transfer-Encoding: chunked\r\n", "3E9\r\n"), 413},
                    Refused{"bad chunk", post("Transfer-Encoding: chunked\r\n", "x\r\n"), 400},
                    Refused{"chunk without end", post("Transfer-Encoding: chunked\r\n", "1\r\nab\r\n"), 400},
                    Refused{"endless chunk line", post("Transfer-Encoding: chunked\r\n", std::string(5000, '1')), 400},
                    Refused{"unknown expectation", post("Expect: x\r\n", ""), 417},
                    Refused{"long target", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
                    Refused{"long head", "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100000, 'a'), 431}));

TEST(RequestReader, ManyHeadersAreRefused) {
  std::string headers;
  for (int i = 0; i < 200; ++i) headers += "X: y\r\n";
  EXPECT_EQ(read_whole(post(headers, "")).refusal().status, 431);
}

TEST(RequestReader, ChunksThatTogetherPassTheLimitAreRefusedBeforeTheyAreKept) {
  RequestReader reader(kMostBody);
  reader.feed(post("Transfer-Encoding: chunked\r\n", ""));
  size_t peak = 0;
  for (int i = 0; i < 100 && reader.state() == State::body; ++i) {
    reader.feed("64\r\n" + std::string(100, 'a') + "\r\n");
    peak = std::max(peak, reader.buffered_bytes());
  }
  EXPECT_EQ(reader.refusal().status, 413);
  EXPECT_LE(peak, kMostBody);
}

TEST(RequestReader, OwesContinueOnceAndOnlyWithoutABody) {
  RequestReader reader(kMostBody);
  reader.feed(post("Expect: 100-continue\r\nContent-Length: 2\r\n", ""));
  EXPECT_TRUE(reader.take_continue());
  EXPECT_FALSE(reader.take_continue());
  reader.feed("ab");
  EXPECT_EQ(reader.state(), State::complete);
}

TEST(RequestReader, RandomBytesNeverBreakIt) {
  std::mt19937 random(11);
  const std::string good = post("Transfer-Encoding: chunked\r\n", "4\r\nabcd\r\n0\r\n\r\n");
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (unsigned edits = 1 + random() % 4; edits > 0; --edits)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    RequestReader reader(kMostBody);
    reader.feed(bytes);
    if (reader.state() == State::complete) {
      EXPECT_LE(reader.take_request().body.size(), kMostBody);
    }
  }
}

}  // namespace
}  // namespace luce::server
