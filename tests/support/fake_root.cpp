#include "support/fake_root.hpp"

#include <filesystem>
#include <fstream>

namespace luce::support {

FakeRoot::FakeRoot(const Files& files) {
  for (const auto& [name, text] : files) set(name, text);
}

void FakeRoot::set(const std::string& name, const std::string& text) const {
  const std::filesystem::path file = path() + name;
  std::filesystem::create_directories(file.parent_path());
  const std::filesystem::path fresh = file.string() + ".new";
  std::ofstream(fresh) << text;
  std::filesystem::rename(fresh, file);
}

}  // namespace luce::support
