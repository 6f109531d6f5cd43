#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "model/model.hpp"

namespace luce::model {

/// What one layer remembers of a sequence: keys and values in an attention layer, a state in a recurrent one.
struct LayerMemory {
  int64_t key_values = 0;    // per position: kv heads * key width; 0 in a recurrent layer
  int64_t value_values = 0;  // per position
  int64_t convolution_taps = 0;
  int64_t convolution_channels = 0;
  int64_t state_heads = 0;
  int64_t state_key_width = 0;
  int64_t state_value_width = 0;

  bool recurrent() const { return state_heads > 0; }
  int64_t convolution_values() const { return (convolution_taps - 1) * convolution_channels; }
  int64_t state_values() const { return state_heads * state_key_width * state_value_width; }
  int64_t recurrent_bytes() const;  // of one sequence
};

/// KV caches and recurrent states of all sequence slots, allocated once.
class SequenceMemory {
 public:
  struct Layer {
    device::Tensor keys, values;  // [sequences, context, key_values], [sequences, context, value_values]
    device::Tensor convolution;   // [sequences, taps - 1, channels]
    device::Tensor state;         // [sequences, heads, key_width, value_width]
  };

  SequenceMemory(device::Device& device, std::vector<LayerMemory> layers, const StepLimits& limits,
                 tensor::Format kv_format);
  /// The same shapes over no memory, for measuring a step.
  static SequenceMemory measuring(std::vector<LayerMemory> layers, const StepLimits& limits, tensor::Format kv_format);

  const Layer& layer(int index) const { return tensors_[static_cast<size_t>(index)]; }
  /// Bytes of the recurrent states of one sequence.
  int64_t state_bytes() const;
  void save_state(device::Device& device, int slot, std::span<std::byte> to) const;
  void load_state(device::Device& device, int slot, std::span<const std::byte> from);

 private:
  SequenceMemory(std::vector<LayerMemory> layers, const StepLimits& limits, tensor::Format kv_format);
  struct Need {
    int64_t kv_bytes = 0;
    int64_t state_bytes = 0;
  };
  /// Lays all layers out from the two addresses on; returns the bytes they take.
  Need place(device::Address kv_base, device::Address state_base);
  void place_layer(const LayerMemory& layer, Layer& tensors, device::Address kv, device::Address state) const;
  template <typename Function>
  void for_each_state(int slot, Function&& function) const;

  std::vector<LayerMemory> layers_;
  StepLimits limits_;
  tensor::Format kv_format_;
  std::vector<Layer> tensors_;
  std::unique_ptr<device::Allocation> kv_;
  std::unique_ptr<device::Allocation> states_;
};

}  // namespace luce::model
