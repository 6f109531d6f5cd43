#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experts/request_usage.hpp"

namespace luce::experts {

/// What a profile must share with a model to be of use to it.
struct ModelFingerprint {
  std::string architecture;
  std::string name;
  std::string shape;    // of the experts of all layers
  std::string formats;  // of their matrices
  bool operator==(const ModelFingerprint&) const = default;
};

/// How often one layer's experts were chosen by the unbiased router, in tokens; fractions come from fading.
struct LayerCounts {
  std::vector<double> decode;  // [experts]
  std::vector<double> prompt;  // [experts]
  std::vector<double> fast{};  // [experts], the policy's fast score when it was saved; empty: not known
  bool operator==(const LayerCounts&) const = default;
};

/// Usage as it is kept on disk.
struct Profile {
  ModelFingerprint model;
  int64_t saved_at = 0;  // seconds since 1970
  uint64_t tokens = 0;   // seen by the process that saved it
  std::vector<LayerCounts> layers;
  std::vector<LabelCounts> tags{};  // usage by task tag
  bool operator==(const Profile&) const = default;
};

/// JSON with version and checksum. Counts are rounded to thousandths. Version 1 had no fast scores and no tags; it is
/// read as if there were none.
std::string encode_profile(const Profile& profile);

/// Throws Error{invalid_file}, saying why, for text that is damaged, of a newer version or of another model.
Profile decode_profile(std::string_view text, const ModelFingerprint& expected);

/// Whether the text is a ranking of experts without counts: {"domains": {NAME: {"per_layer_domain_preferred": {LAYER:
/// [expert, most used first]}}}}.
bool is_ranking(std::string_view text);

/// Counts that fall with the rank, summed over domains. `experts` is [layers]; layers without experts are skipped in
/// the file's numbering only if they come last. Throws Error{invalid_file} for a ranking of another shape.
std::vector<LayerCounts> import_ranking(std::string_view text, const std::vector<int>& experts);

}  // namespace luce::experts
