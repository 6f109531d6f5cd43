#include "model/sequence_memory.hpp"

#include "base/check.hpp"
#include "model/scratch.hpp"

namespace luce::model {
namespace {

constexpr int64_t kAlignment = 64;

int64_t float_bytes(int64_t values) { return values * static_cast<int64_t>(sizeof(float)); }

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

int64_t LayerMemory::recurrent_bytes() const {
  if (!recurrent()) return 0;
  return float_bytes(convolution_values() + state_values());
}

SequenceMemory::SequenceMemory(std::vector<LayerMemory> layers, const StepLimits& limits, tensor::Format kv_format)
    : layers_(std::move(layers)), limits_(limits), kv_format_(kv_format), tensors_(layers_.size()) {}

SequenceMemory::SequenceMemory(device::Device& device, std::vector<LayerMemory> layers, const StepLimits& limits,
                               tensor::Format kv_format)
    : SequenceMemory(std::move(layers), limits, kv_format) {
  const Need need = place(Scratch::kNowhere, Scratch::kNowhere);
  kv_ = device.allocate(static_cast<size_t>(need.kv_bytes), device::Purpose::kv_cache);
  if (need.state_bytes > 0) {
    states_ = device.allocate(static_cast<size_t>(need.state_bytes), device::Purpose::recurrent_state);
  }
  place(kv_->address(), states_ ? states_->address() : 0);
}

SequenceMemory SequenceMemory::measuring(std::vector<LayerMemory> layers, const StepLimits& limits,
                                         tensor::Format kv_format) {
  SequenceMemory memory(std::move(layers), limits, kv_format);
  memory.place(Scratch::kNowhere, Scratch::kNowhere);
  return memory;
}

SequenceMemory::Need SequenceMemory::place(device::Address kv_base, device::Address state_base) {
  const int64_t positions = static_cast<int64_t>(limits_.sequences) * limits_.context_tokens;
  Need need;
  for (size_t index = 0; index < layers_.size(); ++index) {
    const LayerMemory& layer = layers_[index];
    place_layer(layer, tensors_[index], kv_base + static_cast<device::Address>(need.kv_bytes),
                state_base + static_cast<device::Address>(need.state_bytes));
    need.kv_bytes += aligned(tensor::packed_bytes(kv_format_, positions * layer.key_values)) +
                     aligned(tensor::packed_bytes(kv_format_, positions * layer.value_values));
    need.state_bytes += aligned(float_bytes(limits_.sequences * layer.convolution_values())) +
                        aligned(float_bytes(limits_.sequences * layer.state_values()));
  }
  return need;
}

void SequenceMemory::place_layer(const LayerMemory& layer, Layer& tensors, device::Address kv,
                                 device::Address state) const {
  using device::make_tensor;
  const int64_t sequences = limits_.sequences;
  const int64_t context = limits_.context_tokens;
  if (!layer.recurrent()) {
    const int64_t key_bytes = tensor::packed_bytes(kv_format_, sequences * context * layer.key_values);
    tensors.keys = make_tensor(kv_format_, {sequences, context, layer.key_values}, kv);
    tensors.values = make_tensor(kv_format_, {sequences, context, layer.value_values},
                                 kv + static_cast<device::Address>(aligned(key_bytes)));
    return;
  }
  tensors.convolution =
      make_tensor(tensor::Format::f32, {sequences, layer.convolution_taps - 1, layer.convolution_channels}, state);
  const int64_t convolution_bytes = aligned(float_bytes(sequences * layer.convolution_values()));
  tensors.state =
      make_tensor(tensor::Format::f32, {sequences, layer.state_heads, layer.state_key_width, layer.state_value_width},
                  state + static_cast<device::Address>(convolution_bytes));
}

int64_t SequenceMemory::state_bytes() const {
  int64_t bytes = 0;
  for (const LayerMemory& layer : layers_) bytes += layer.recurrent_bytes();
  return bytes;
}

template <typename Function>
void SequenceMemory::for_each_state(int slot, Function&& function) const {
  size_t offset = 0;
  const auto visit = [&](const device::Tensor& tensor, int64_t values) {
    const auto bytes = static_cast<size_t>(float_bytes(values));
    function(tensor.address + static_cast<device::Address>(slot) * bytes, offset, bytes);
    offset += bytes;
  };
  for (size_t index = 0; index < layers_.size(); ++index) {
    if (!layers_[index].recurrent()) continue;
    visit(tensors_[index].convolution, layers_[index].convolution_values());
    visit(tensors_[index].state, layers_[index].state_values());
  }
}

void SequenceMemory::save_state(device::Device& device, int slot, std::span<std::byte> to) const {
  LUCE_CHECK(to.size() == static_cast<size_t>(state_bytes()), "a saved state has another size");
  for_each_state(
      slot, [&](device::Address from, size_t offset, size_t bytes) { device.read(from, to.subspan(offset, bytes)); });
}

void SequenceMemory::load_state(device::Device& device, int slot, std::span<const std::byte> from) {
  LUCE_CHECK(from.size() == static_cast<size_t>(state_bytes()), "a saved state has another size");
  for_each_state(
      slot, [&](device::Address to, size_t offset, size_t bytes) { device.write(to, from.subspan(offset, bytes)); });
}

}  // namespace luce::model
