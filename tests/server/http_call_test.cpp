#include "server/http_call.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "server/server.hpp"

namespace luce::server {
namespace {

TEST(HttpCall, ReadsAddresses) {
  const Endpoint plain = Endpoint::parse("http://localhost:8000");
  EXPECT_EQ(plain.host, "localhost");
  EXPECT_EQ(plain.port, 8000);
  EXPECT_EQ(plain.base_path, "");
  const Endpoint six = Endpoint::parse("http://[::1]:81/base/");
  EXPECT_EQ(six.host, "::1");
  EXPECT_EQ(six.port, 81);
  EXPECT_EQ(six.base_path, "/base");
  EXPECT_EQ(six.text(), "http://[::1]:81/base");
  EXPECT_EQ(Endpoint::parse("http://example.org").port, 80);
  for (const char* bad : {"", "localhost:8000", "https://localhost", "http://", "http://:80", "http://a:0",
                          "http://a:x", "http://a:65536", "http://a b", "http://a/x y", "http://u@a", "http://[::1"})
    EXPECT_THROW(Endpoint::parse(bad), Error) << bad;
}

TEST(HttpCall, AsksAServer) {
  ServerSettings settings;
  settings.host = "127.0.0.1";
  settings.port = 0;
  ServerSources sources;
  sources.metrics_text = [] { return std::string(300'000, '#'); };
  Server server(settings, sources);
  server.start();
  const Endpoint endpoint = Endpoint::parse("http://" + server.addresses().at(0));
  const HttpAnswer metrics = call(endpoint, {.path = "/metrics"});
  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.body.size(), 300'000U);
  EXPECT_EQ(call(endpoint, {.path = "/nowhere"}).status, 404);
  EXPECT_NE(call(endpoint, {.method = "POST", .path = "/v1/completions", .body = "{"}).status, 200);
  server.stop();
  EXPECT_THROW(call(endpoint, {.path = "/metrics"}), Error);
}

}  // namespace
}  // namespace luce::server
