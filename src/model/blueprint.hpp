#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "gguf/file.hpp"
#include "model/hyperparameters.hpp"
#include "model/model.hpp"
#include "model/sequence_memory.hpp"
#include "model/weight_reader.hpp"
#include "plan/model_shape.hpp"

namespace luce::model {

struct LoadSettings {
  StepLimits limits;
  tensor::Format kv_format = tensor::Format::f16;  // f32, f16 or q8_0
};

/// A model file whose numbers, tensor shapes and formats were all checked against what its architecture needs, and
/// nothing of which is loaded yet: enough to plan memory.
class Blueprint {
 public:
  /// `file` and `device` must outlive this. Throws Error{invalid_file | unsupported} naming the key or tensor at fault.
  Blueprint(const gguf::File& file, const device::Device& device);

  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  /// Sizes as this device will hold them, for planning.
  const plan::ModelShape& shape() const { return shape_; }
  const std::vector<ExpertLayer>& expert_layers() const { return expert_layers_; }
  const gguf::File& file() const { return file_; }
  /// Things a user should know: tensors that are not used, tied weights.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Of all dense weights in the device's layout.
  int64_t dense_bytes() const { return dense_bytes_; }

 private:
  void shape_layers(const WeightReader& weights, const device::Device& device, const std::vector<LayerMemory>& memory);
  void note_oddities(const WeightReader& weights, bool tied);

  const gguf::File& file_;
  Hyperparameters hyperparameters_;
  plan::ModelShape shape_;
  std::vector<ExpertLayer> expert_layers_;
  int64_t dense_bytes_ = 0;
  std::vector<std::string> notes_;
};

/// Throws Error{unsupported} if the KV format does not fit the model's heads.
void check_kv_format(const Hyperparameters& h, tensor::Format kv_format);

/// Reads the dense weights and allocates everything a step needs. `experts` may be null in a dense model; it and
/// `device` must outlive the model.
std::unique_ptr<Model> load(const Blueprint& blueprint, device::Device& device, device::ExpertService* experts,
                            const LoadSettings& settings, const LoadProgress& progress = {});

}  // namespace luce::model
