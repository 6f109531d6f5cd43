#include "model/architectures/architectures.hpp"

#include <array>

#include "base/error.hpp"

namespace luce::model {
namespace {

struct Entry {
  std::string_view name;  // general.architecture
  ArchitectureTraits traits;
};

constexpr std::array kArchitectures = {
    Entry{"llama", {.make = make_llama, .optional_experts = true}},
    Entry{"qwen3", {.make = make_qwen3}},
    Entry{"qwen35", {.make = make_qwen35, .hybrid = true}},
    Entry{"qwen35moe", {.make = make_qwen35moe, .hybrid = true, .experts = true, .shared_expert = true}},
    Entry{"qwen3moe", {.make = make_qwen3moe, .experts = true}},
};

}  // namespace

const ArchitectureTraits& find_architecture(std::string_view name) {
  std::string known;
  for (const Entry& entry : kArchitectures) {
    if (entry.name == name) return entry.traits;
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  fail(ErrorKind::unsupported, "the model's architecture '{}' is not supported; supported are: {}", name, known);
}

std::string layer_prefix(int layer) { return "blk." + std::to_string(layer) + "."; }

}  // namespace luce::model
