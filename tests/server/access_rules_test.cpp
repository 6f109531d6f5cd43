#include "server/access_rules.hpp"

#include <gtest/gtest.h>

namespace luce::server {
namespace {

HttpRequest request_with(std::vector<Header> headers) {
  HttpRequest request;
  request.method = "GET";
  request.headers = std::move(headers);
  return request;
}

AccessRules rules(AccessSettings settings = {}) { return AccessRules(std::move(settings)); }

// Case foreign-host-header-refused.
TEST(AccessRules, OnLoopbackOnlyLocalHostsAreServed) {
  for (const char* host : {"evil.example", "evil.example:8123", "127.0.0.1.evil.example", "localhost.evil.example:8123",
                           "10.0.0.5:8123", "", "[::2]:8123", "127.evil.0.1", "[::1].evil.example"})
    EXPECT_FALSE(rules().host_allowed(request_with({{"Host", host}}))) << host;
  for (const char* host :
       {"localhost", "localhost:8123", "LOCALHOST:8123", "127.0.0.1:8123", "127.0.0.1:9", "[::1]:8123", "[::1]"})
    EXPECT_TRUE(rules().host_allowed(request_with({{"Host", host}}))) << host;
}

TEST(AccessRules, AllowedHostsAndOtherAddressesAreServed) {
  const auto named = rules({{}, true, {"box.example", "https://chat.example"}});
  EXPECT_TRUE(named.host_allowed(request_with({{"Host", "box.example:80"}})));
  EXPECT_FALSE(named.host_allowed(request_with({{"Host", "chat.example"}})));
  EXPECT_TRUE(rules({{}, false, {}}).host_allowed(request_with({{"Host", "any.example"}})));
}

// Case default-no-cors.
TEST(AccessRules, OnlyLoopbackAndAllowedOriginsMayRead) {
  for (const char* origin :
       {"https://page.example", "null", "file://", "http://localhost.evil.example", "ftp://localhost"})
    EXPECT_FALSE(rules().allowed_origin(request_with({{"Host", "localhost"}, {"Origin", origin}}))) << origin;
  for (const char* origin : {"http://localhost:3000", "http://127.0.0.1:8080", "https://[::1]"})
    EXPECT_EQ(rules().allowed_origin(request_with({{"Host", "localhost"}, {"Origin", origin}})), origin);
  const auto named = rules({{}, true, {"https://chat.example"}});
  EXPECT_TRUE(named.allowed_origin(request_with({{"Origin", "https://chat.example"}})));
  EXPECT_FALSE(named.allowed_origin(request_with({{"Origin", "http://chat.example"}})));
  const auto elsewhere = rules({{}, false, {}});
  EXPECT_TRUE(elsewhere.allowed_origin(request_with({{"Host", "box:80"}, {"Origin", "http://box:80"}})));
  EXPECT_TRUE(elsewhere.foreign_origin(request_with({{"Host", "box:80"}, {"Origin", "http://other"}})));
  EXPECT_FALSE(elsewhere.foreign_origin(request_with({{"Host", "box:80"}})));
}

// Cases key-forms-and-unknown-headers, key-compare-and-several-keys and empty-key-is-not-open.
TEST(AccessRules, EveryKeyCountsWhole) {
  const auto keyed = rules({{"alpha-key-1", "beta-key-2"}, true, {}});
  const auto right = [&](std::vector<Header> headers) { return keyed.key_right(request_with(std::move(headers))); };
  EXPECT_TRUE(right({{"Authorization", "Bearer alpha-key-1"}}));
  EXPECT_TRUE(right({{"authorization", "bearer beta-key-2"}}));
  EXPECT_TRUE(right({{"x-api-key", "beta-key-2"}}));
  EXPECT_TRUE(right({{"X-Api-Key", "alpha-key-1"}, {"anthropic-beta", "a,b"}}));
  EXPECT_TRUE(right({{"Authorization", "Bearer alpha-key-1"}, {"x-api-key", "wrong"}}));
  for (const auto& key : std::vector<std::string>{
           "alpha-key", "alpha-key-1x", "ALPHA-KEY-1", std::string("alpha-key-1,beta-key-2"), std::string("é"),
           std::string(), std::string(100000, 'a'), std::string("alpha-key-1alpha-key-1")}) {
    EXPECT_FALSE(right({{"Authorization", "Bearer " + key}})) << key.substr(0, 40);
    EXPECT_FALSE(right({{"x-api-key", key}})) << key.substr(0, 40);
  }
  EXPECT_FALSE(right({}));
  EXPECT_FALSE(right({{"Authorization", "Bearer"}}));
  EXPECT_FALSE(right({{"Authorization", "Basic alpha-key-1"}}));
  EXPECT_TRUE(rules().key_right(request_with({})));
}

TEST(SameSecret, LooksAtEverything) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abd", "abc"));
  EXPECT_FALSE(same_secret("xbc", "abc"));
  EXPECT_FALSE(same_secret("abcabc", "abc"));
  EXPECT_FALSE(same_secret("ab", "abc"));
  EXPECT_FALSE(same_secret("", ""));
}

}  // namespace
}  // namespace luce::server
