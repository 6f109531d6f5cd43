#include "text/vocabulary_files.hpp"

#include <map>

#include "gguf/file.hpp"
#include "support/golden_path.hpp"

namespace luce::text {

const Tokenizer& golden_tokenizer(const std::string& name) {
  static std::map<std::string, Tokenizer> loaded;
  const auto found = loaded.find(name);
  if (found != loaded.end()) return found->second;
  const auto file = gguf::File::open(support::golden_path(name));
  return loaded.emplace(name, Tokenizer(file.metadata())).first->second;
}

}  // namespace luce::text
