#include "experts/profile.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace luce::experts {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 2;
constexpr double kMaxCount = 9e15;  // counts stay exact in a double

[[noreturn]] void refuse(const std::string& why) { fail(ErrorKind::invalid_file, "{}", why); }

/// FNV-1a, 64 bits: any one changed byte changes it.
std::string checksum(const std::string& text) {
  uint64_t hash = 14695981039346656037U;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

Json encode_counts(const std::vector<double>& counts) {
  Json list = Json::array();
  for (const double count : counts) list.push_back(std::round(count * 1000) / 1000);
  return list;
}

std::vector<double> decode_counts(const Json& list) {
  std::vector<double> counts = list.get<std::vector<double>>();
  for (const double count : counts)
    if (!(count >= 0 && count <= kMaxCount)) refuse(fmt::format("it has a count of {}", count));
  return counts;
}

Json encode_tag(const LabelCounts& tag) {
  Json layers = Json::array();
  for (const std::vector<float>& layer : tag.counts) layers.push_back(encode_counts({layer.begin(), layer.end()}));
  return {{"name", tag.name}, {"tokens", tag.tokens}, {"layers", std::move(layers)}};
}

LabelCounts decode_tag(const Json& json) {
  LabelCounts tag{json.at("name").get<std::string>(), json.at("tokens").get<double>(), {}};
  if (tag.name.empty() || !(tag.tokens >= 0 && tag.tokens <= kMaxCount)) refuse("it has a tag that was never counted");
  for (const Json& layer : json.at("layers")) {
    const std::vector<double> counts = decode_counts(layer);
    tag.counts.emplace_back(counts.begin(), counts.end());
  }
  return tag;
}

Json encode_model(const ModelFingerprint& model) {
  return {
      {"architecture", model.architecture}, {"name", model.name}, {"shape", model.shape}, {"formats", model.formats}};
}

std::string write_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void check_model(const Json& found, const ModelFingerprint& expected) {
  // As a save would have written it: a name need not be UTF-8.
  const Json wanted = Json::parse(write_text(encode_model(expected)));
  for (const auto& [key, value] : wanted.items()) {
    const auto text = found.at(key).get<std::string>();
    if (text != value.get<std::string>())
      refuse(fmt::format("it is of another model: its {} is \"{}\", not \"{}\"", key, text, value.get<std::string>()));
  }
}

/// The part that the checksum covers.
const Json& checked_body(const Json& file) {
  const auto version = file.at("version").get<int64_t>();
  if (version > kVersion) refuse(fmt::format("it is of version {}, this luce-spark reads up to {}", version, kVersion));
  if (version < 1) refuse(fmt::format("its version {} was never written", version));
  const Json& body = file.at("body");
  if (file.at("checksum").get<std::string>() != checksum(body.dump())) refuse("it is damaged: its checksum differs");
  return body;
}

Profile decode_body(const Json& body, const ModelFingerprint& expected) {
  check_model(body.at("model"), expected);
  Profile profile;
  profile.model = expected;
  profile.saved_at = body.at("saved_at").get<int64_t>();
  profile.tokens = body.at("tokens").get<uint64_t>();
  for (const Json& layer : body.at("layers")) {
    LayerCounts counts{decode_counts(layer.at("decode")), decode_counts(layer.at("prompt"))};
    if (layer.contains("fast")) counts.fast = decode_counts(layer.at("fast"));
    const size_t experts = counts.decode.size();
    if (counts.prompt.size() != experts || (!counts.fast.empty() && counts.fast.size() != experts))
      refuse("a layer's lists differ in length");
    profile.layers.push_back(std::move(counts));
  }
  if (body.contains("tags"))
    for (const Json& tag : body.at("tags")) profile.tags.push_back(decode_tag(tag));
  return profile;
}

}  // namespace

std::string encode_profile(const Profile& profile) {
  Json layers = Json::array();
  for (const LayerCounts& layer : profile.layers)
    layers.push_back({{"decode", encode_counts(layer.decode)},
                      {"prompt", encode_counts(layer.prompt)},
                      {"fast", encode_counts(layer.fast)}});
  Json tags = Json::array();
  for (const LabelCounts& tag : profile.tags) tags.push_back(encode_tag(tag));
  const Json body = {{"model", encode_model(profile.model)},
                     {"saved_at", profile.saved_at},
                     {"tokens", profile.tokens},
                     {"layers", std::move(layers)},
                     {"tags", std::move(tags)}};
  const std::string text = write_text(body);
  return fmt::format("{{\"version\":{},\"checksum\":\"{}\",\"body\":{}}}\n", kVersion, checksum(text), text);
}

Profile decode_profile(std::string_view text, const ModelFingerprint& expected) {
  try {
    return decode_body(checked_body(Json::parse(text)), expected);
  } catch (const Json::exception& error) {
    refuse(fmt::format("it is damaged or no profile: {}", error.what()));
  }
}

}  // namespace luce::experts
