#pragma once

#include <memory>
#include <string>

#include "model/network.hpp"

// One maker per architecture, each in the file of its name; the table in architectures.cpp names them all.
namespace luce::model {

std::unique_ptr<Network> make_llama(const Hyperparameters& h, WeightReader& weights);
std::unique_ptr<Network> make_qwen3(const Hyperparameters& h, WeightReader& weights);
std::unique_ptr<Network> make_qwen3moe(const Hyperparameters& h, WeightReader& weights);
std::unique_ptr<Network> make_qwen35(const Hyperparameters& h, WeightReader& weights);
std::unique_ptr<Network> make_qwen35moe(const Hyperparameters& h, WeightReader& weights);

/// "blk.3." for layer 3.
std::string layer_prefix(int layer);

}  // namespace luce::model
