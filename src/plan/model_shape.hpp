#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luce::plan {

/// What one layer needs. Bytes are those of the device's packed layout, as it will hold them.
struct LayerShape {
  int64_t dense_bytes = 0;      // weights that are always resident: attention, norms, router, shared expert
  int64_t k_width = 0;          // key values per position (kv heads * head width); 0 in a recurrent layer
  int64_t v_width = 0;          // value values per position; 0 in a recurrent layer
  int64_t recurrent_bytes = 0;  // state of one sequence; 0 in an attention layer
  int experts = 0;              // 0 in a dense layer
  int64_t expert_bytes = 0;     // one routed expert: its slot size
};

/// Plain numbers of a model, filled by model/ from the file and the device; all arithmetic on memory and speed is done
/// on these.
struct ModelShape {
  std::string architecture;  // general.architecture
  std::string name;          // general.name, or the file's name
  std::vector<LayerShape> layers;
  int64_t vocabulary = 0;
  int64_t hidden = 0;                // model width
  int top_k = 0;                     // routed experts per token; 0 in a dense model
  int64_t trained_context = 0;       // tokens
  int64_t embedding_bytes = 0;       // token table, of which a token reads one row; 0 if the output head serves as both
  int64_t output_bytes = 0;          // output norm and head, read whole for every token
  int64_t scratch_row_bytes = 0;     // activations for each row of a step
  int64_t scratch_output_bytes = 0;  // for each row whose logits are wanted (vocabulary * 4)
  int64_t scratch_fixed_bytes = 0;   // whatever the step's size is
};

}  // namespace luce::plan
