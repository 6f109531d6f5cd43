#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gguf/metadata_builder.hpp"
#include "synthetic/model_spec.hpp"

namespace luce::synthetic {

struct WriteOptions {
  uint32_t part_count = 1;
  /// A GGUF file whose tokenizer is copied in place of a made-up one.
  std::optional<std::string> tokenizer_path{};
  /// Called now and then with bytes written and bytes in all.
  std::function<void(uint64_t, uint64_t)> progress{};
};

/// Keys as files of that architecture have them, without the tokenizer.
gguf::MetadataBuilder architecture_metadata(const ModelSpec& spec);

/// Writes the model; gives the paths of its files. The same spec gives the same bytes.
std::vector<std::string> write_model(const ModelSpec& spec, const std::string& path, const WriteOptions& options = {});

}  // namespace luce::synthetic
