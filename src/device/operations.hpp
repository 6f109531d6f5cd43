#pragma once

#include "device/expert_service.hpp"
#include "device/tensor.hpp"

// Parameters of the device's ops. "rows" are the tokens of a step; activations are f32, indices i32. An op reads and
// writes exactly the rows that its tensors show. Outputs may alias inputs only where it says so.
namespace luce::device {

struct EmbedRows {
  Tensor table;  // [vocabulary, width], weights
  Tensor ids;    // [rows] i32
  Tensor out;    // [rows, width]
};

struct GatherRows {
  Tensor x;        // [all_rows, width]
  Tensor indices;  // [rows] i32
  Tensor out;      // [rows, width]
};

/// out = x / sqrt(mean(x^2) + epsilon) * weight over the innermost axis; out may be x.
struct RmsNorm {
  Tensor x;       // [rows, width] or [rows, heads, width]
  Tensor weight;  // [width] f32
  Tensor out;     // as x
  float epsilon = 0;
};

/// x / max(|x|, epsilon) over the innermost axis, in place.
struct L2Norm {
  Tensor x;  // [rows, heads, width]
  float epsilon = 0;
};

/// out = x weight^T (+ bias); each output is one dot product, so that it does not depend on the other rows.
struct MatMul {
  Tensor x;       // [rows, in]
  Tensor weight;  // [out_width, in], weights
  Tensor bias;    // [out_width] f32, or empty
  Tensor out;     // [rows, out_width]
};

struct Add {
  Tensor x;  // [rows, width], changed in place: x += y
  Tensor y;  // [rows, width]
};

/// out = silu(gate) * up; out may be gate or up.
struct SwiGlu {
  Tensor gate, up;  // [rows, width]
  Tensor out;       // [rows, width]
};

enum class GateFunction { sigmoid, silu };

/// x *= f(gate), in place; a gate of innermost width 1 scales whole rows.
struct MultiplyGate {
  Tensor x;     // [rows, heads, width] or [rows, width]
  Tensor gate;  // as x, or width 1
  GateFunction function = GateFunction::sigmoid;
};

/// Which pairs of values are turned together.
enum class RotaryStyle { halves, neighbours };  // (i, i + n/2) as NeoX, or (2i, 2i + 1)

/// Rotary position embedding on the first `dimensions` of each head, in place.
struct Rotary {
  Tensor x;                  // [rows, heads, head_width]
  Tensor positions;          // [rows] i32
  Tensor frequency_factors;  // [dimensions / 2] f32 divisors, or empty
  int dimensions = 0;
  float base = 10000.0F;
  float frequency_scale = 1.0F;
  RotaryStyle style = RotaryStyle::halves;
};

struct AppendKv {
  Tensor k, v;              // [rows, kv_heads, head_width]
  Tensor slots, positions;  // [rows] i32
  Tensor k_cache, v_cache;  // [sequence_slots, context, kv_heads * head_width], f16, f32 or q8_0
};

/// Causal attention: row r sees positions 0..positions[r] of its sequence slot.
struct Attend {
  Tensor q;                 // [rows, heads, head_width]
  Tensor k_cache, v_cache;  // [sequence_slots, context, kv_heads * head_width]
  Tensor slots, positions;  // [rows] i32
  Tensor out;               // [rows, heads, value_width]
  int64_t kv_heads = 0;
  float scale = 1.0F;
};

/// Causal depthwise convolution over time followed by SiLU. A sequence that starts at position 0 starts from zeros.
struct Convolve {
  Tensor x;       // [rows, channels]
  Tensor kernel;  // [channels, taps] f32, oldest tap first
  Tensor state;   // [sequence_slots, taps - 1, channels], the last inputs, oldest first
  Tensor spans;   // [sequences, 4] i32: sequence slot, first row, rows, first position
  Tensor out;     // [rows, channels]
};

/// decay = exp(a * softplus(alpha + dt_bias)), beta = sigmoid(beta), both in place; a is negative.
struct DeltaGates {
  Tensor alpha;    // [rows, heads], becomes decay in (0, 1]
  Tensor beta;     // [rows, heads]
  Tensor dt_bias;  // [heads] f32
  Tensor a;        // [heads] f32
};

/// Gated delta rule. Per value head with state S [key_width, value_width], for each row in order:
/// S *= decay; d = beta (v - S^T k); S += k d^T; out = S^T q / sqrt(key_width). Value head h uses key head h mod
/// key_heads. A sequence that starts at position 0 starts from zeros. Source: Gated Delta Networks, arXiv 2412.06464.
struct DeltaRule {
  Tensor q, k;         // [rows, key_heads, key_width], normalised
  Tensor v;            // [rows, value_heads, value_width]
  Tensor decay, beta;  // [rows, value_heads]
  Tensor state;        // [sequence_slots, value_heads, key_width, value_width]
  Tensor spans;        // [sequences, 4] i32, as in Convolve
  Tensor out;          // [rows, value_heads, value_width]
};

/// Router scores; always f32 arithmetic.
struct RouterLogits {
  Tensor x;       // [rows, width]
  Tensor weight;  // [experts, width], weights
  Tensor logits;  // [rows, experts]
};

enum class RouterGating { softmax, sigmoid };

/// The top_k largest logits per row, largest first, ties to the lower id, with their mixing weights. A change makes
/// decode rows differ from that, then a rule may change the choice. Places left over hold kNoExpert and weight 0.
struct SelectExperts {
  Tensor logits;   // [rows, experts]
  Tensor ids;      // [rows, top_k] i32
  Tensor weights;  // [rows, top_k]
  int top_k = 0;
  RouterGating gating = RouterGating::softmax;
  bool renormalise = true;  // weights sum to 1 over the chosen
  float weight_scale = 1.0F;
  RouterChange change = {};
  SelectionRule* rule = nullptr;
  const RowClass* classes = nullptr;  // [rows], host memory; only with a change or a rule
  int layer = 0;                      // only with a rule
};

/// The routed experts of one layer: out[r] = sum over k, in router order, of weights[r, k] * expert(ids[r, k], x[r]),
/// with expert(x) = down (silu(gate x) * up x); kNoExpert adds nothing. Every expert writes its own row of `parts`; one
/// reduction sums them.
struct ExpertBlock {
  Tensor x;        // [rows, width]
  Tensor ids;      // [rows, top_k] i32
  Tensor weights;  // [rows, top_k]
  Tensor hidden;   // [rows * top_k, inner], scratch
  Tensor parts;    // [rows * top_k, width], scratch
  Tensor out;      // [rows, width]
  ExpertService* service = nullptr;
  const RowClass* classes = nullptr;  // [rows], host memory
  int layer = 0;
};

}  // namespace luce::device
