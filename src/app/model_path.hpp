#pragma once

#include <string>

namespace luce::app {

struct ModelPath {
  std::string path;
  bool demo = false;  // no model was named, so the one that ships is used
};

/// Finds the file for --model: an existing path, a name of the catalogue or the start of a file's name in the model
/// folder, or, if empty, the demo model near the program. Throws Error{not_found} that says where it was looked for.
ModelPath find_model(const std::string& name_or_path);

/// LUCE_MODELS, else ~/.cache/luce-spark/models.
std::string model_folder();

}  // namespace luce::app
