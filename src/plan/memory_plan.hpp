#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/model_shape.hpp"
#include "tensor/format.hpp"

namespace luce::plan {

/// What the memory of one tier is spent on. Everything but the expert slots is fixed by the model and the request.
enum class Part { dense_weights, kv_cache, recurrent_state, scratch, tokenizer, staging, overhead, expert_slots };
inline constexpr int kParts = 8;
inline constexpr std::array<Part, kParts> kAllParts = {Part::dense_weights, Part::kv_cache,    Part::recurrent_state,
                                                       Part::scratch,       Part::tokenizer,   Part::staging,
                                                       Part::overhead,      Part::expert_slots};

/// For people, for example "dense weights".
std::string_view name(Part part);

/// What the user asked for, and what the rest of the process needs. Sizes in bytes.
struct MemoryRequest {
  std::optional<int64_t> budget_bytes;  // everything together; none: all available memory but the reserve
  int64_t available_bytes = 0;          // what the machine or container can give; used without a budget
  int64_t context_tokens = 0;           // of one sequence
  int64_t sequences = 1;                // running at the same time
  int64_t chunk_rows = 0;               // most rows of one step
  int64_t output_rows = 0;              // most rows of one step whose logits are wanted; at least one per sequence
  tensor::Format kv_format = tensor::Format::f16;
  std::optional<double> expert_share;        // of all experts, 0 to 1; 0 is one slot per layer
  std::optional<int64_t> experts_per_layer;  // on average
  int64_t tokenizer_bytes = 0;
  int64_t staging_bytes = 0;   // read buffers and slots that streamed experts pass through
  int64_t overhead_bytes = 0;  // code, stacks, heap and libraries
};

struct MemoryPlan {
  int64_t budget_bytes = 0;
  int64_t reserve_bytes = 0;                 // to be left available, whoever chose the budget
  std::array<int64_t, kParts> part_bytes{};  // indexed by Part
  std::vector<int> slots;                    // per layer of the model; 0 in a dense layer
  int64_t total_slots = 0;
  int64_t total_experts = 0;
  double share_resident = 1.0;      // of expert bytes
  int64_t token_cycle_bytes = 0;    // routed experts of one token
  double expected_hit_ratio = 1.0;  // by hit_model.hpp
  std::vector<std::string> warnings;

  int64_t bytes(Part part) const { return part_bytes[static_cast<size_t>(part)]; }
  int64_t total_bytes() const;
};

/// Splits the budget: the fixed parts for the whole context first, then expert slots, at least one per layer and
/// otherwise the same share in every layer. Throws Error{out_of_memory} with all parts in bytes if even one slot per
/// layer does not fit, Error{usage} for numbers out of range.
MemoryPlan plan_memory(const ModelShape& shape, const MemoryRequest& request);

/// Bytes that an automatic budget leaves to the rest of the machine.
int64_t reserve_bytes(int64_t available_bytes);

/// Key-value store of `tokens` positions of one sequence, over the layers that attend.
int64_t kv_bytes(const ModelShape& shape, tensor::Format format, int64_t tokens);

/// Bytes of the routed experts that one token reads.
int64_t token_cycle_bytes(const ModelShape& shape);

}  // namespace luce::plan
