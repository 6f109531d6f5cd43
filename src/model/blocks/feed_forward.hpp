#pragma once

#include "model/hyperparameters.hpp"
#include "model/step.hpp"
#include "model/weight_reader.hpp"

namespace luce::model {

/// down (silu(gate x) * up x).
struct FeedForward {
  device::Tensor gate, up;  // [inner, width]
  device::Tensor down;      // [width, inner]
};

/// `suffix` stands between the name and ".weight", for example "_shexp".
FeedForward read_feed_forward(WeightReader& weights, const std::string& prefix, const std::string& suffix,
                              const tensor::Shape& inner_and_width);

/// [rows, width] from the normalised input x [rows, width].
device::Tensor feed_forward(Step& step, const FeedForward& f, const device::Tensor& x);

}  // namespace luce::model
