#include "server/reply_format.hpp"

#include "base/format.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace luce::server {

namespace {

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string ReplyFormat::frame(const Json& chunk) const { return fmt::format("data: {}\n\n", dump(chunk)); }

std::string NamedEventFormat::frame(const Json& chunk) const {
  return fmt::format("event: {}\ndata: {}\n\n", chunk.at("type").get<std::string>(), dump(chunk));
}

ReplyIdentity make_identity(const std::string& prefix, const std::string& model) {
  constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::uniform_int_distribution<size_t> pick(0, kLetters.size() - 1);
  ReplyIdentity identity{prefix, 0, model};
  for (int i = 0; i < 24; ++i) identity.id += kLetters[pick(random)];
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  identity.created = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return identity;
}

std::string replace_invalid_utf8(const std::string& text) {
  const Json value = text;
  const std::string dumped = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(dumped).get<std::string>();
}

double finite_logprob(float logprob) { return std::clamp(static_cast<double>(logprob), -9999.0, 0.0); }

}  // namespace luce::server
