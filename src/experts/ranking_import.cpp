#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "experts/profile.hpp"

namespace luce::experts {
namespace {

using Json = nlohmann::json;

constexpr double kRankOffset = 8;  // flattens the head: the first expert is not worth twice the second

[[noreturn]] void refuse(const std::string& why) { fail(ErrorKind::invalid_file, "the ranking {}", why); }

size_t layer_of(const std::string& key, size_t layers) {
  size_t layer = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), layer);
  if (error != std::errc() || end != key.data() + key.size() || layer >= layers)
    refuse(fmt::format("names layer \"{}\", the model has {}", key, layers));
  return layer;
}

void add_ranks(const Json& ids, size_t layer, std::vector<double>& counts) {
  std::vector<bool> seen(counts.size());
  double rank = kRankOffset;
  for (const Json& each : ids) {
    const auto id = each.get<int64_t>();
    if (id < 0 || id >= static_cast<int64_t>(counts.size()))
      refuse(fmt::format("names expert {} in layer {}, which has {}", id, layer, counts.size()));
    const auto at = static_cast<size_t>(id);
    if (seen[at]) refuse(fmt::format("names expert {} of layer {} twice", id, layer));
    seen[at] = true;
    counts[at] += kRankOffset / rank++;
  }
}

}  // namespace

bool is_ranking(std::string_view text) {
  const Json file = Json::parse(text, nullptr, false);
  return file.is_object() && file.contains("domains");
}

std::vector<LayerCounts> import_ranking(std::string_view text, const std::vector<int>& experts) {
  std::vector<LayerCounts> layers;
  for (const int count : experts)
    layers.push_back(
        {std::vector<double>(static_cast<size_t>(count)), std::vector<double>(static_cast<size_t>(count))});
  try {
    const Json file = Json::parse(text);
    for (const auto& [domain, lists] : file.at("domains").items())
      for (const auto& [key, ids] : lists.at("per_layer_domain_preferred").items()) {
        const size_t layer = layer_of(key, layers.size());
        add_ranks(ids, layer, layers[layer].decode);
      }
  } catch (const Json::exception& error) {
    refuse(fmt::format("cannot be read: {}", error.what()));
  }
  return layers;
}

}  // namespace luce::experts
