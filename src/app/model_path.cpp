#include "app/model_path.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDemoFile = "demo-q4_k_m.gguf";
// Names that users type; files of any quantisation whose name begins so are found.
constexpr std::array kCatalogue = {"qwen3.6-35b-a3b", "qwen3.5-35b-a3b", "qwen3-30b-a3b",
                                   "gpt-oss-20b",     "gpt-oss-120b",    "glm-4.7-flash"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool is_later_part(const std::string& stem) {
  const size_t of = stem.rfind("-of-");
  return of != std::string::npos && of >= 6 && stem.compare(of - 6, 6, "-00001") != 0;
}

std::vector<fs::path> files_named(const std::string& name) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& each : fs::directory_iterator(model_folder(), error)) {
    const std::string stem = lower(each.path().stem().string());
    if (lower(each.path().extension().string()) != ".gguf" || is_later_part(stem)) continue;
    if (stem.compare(0, name.size(), lower(name)) == 0) found.push_back(each.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string file_names(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const fs::path& each : paths) names.push_back(each.filename().string());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string find_named(const std::string& name) {
  const std::vector<fs::path> found = files_named(name);
  if (found.size() == 1) return found[0].string();
  for (const fs::path& each : found)
    if (lower(each.stem().string()) == lower(name)) return each.string();
  if (found.size() > 1)
    fail(ErrorKind::not_found, "'{}' fits several models in {}: {}; give more of the name", name, model_folder(),
         file_names(found));
  fail(ErrorKind::not_found,
       "there is no model '{}': it is no file, and {} holds no GGUF file whose name begins so; give a path, or put the "
       "file there (names known: {}; LUCE_MODELS sets the folder)",
       name, model_folder(), fmt::join(kCatalogue, ", "));
}

std::string find_demo() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (fs::path folder = program.parent_path();; folder = folder.parent_path()) {
    for (const char* place : {"models", "share/luce-spark/models"})
      if (fs::exists(folder / place / kDemoFile, error)) return (folder / place / kDemoFile).string();
    if (!folder.has_relative_path()) break;
  }
  fail(ErrorKind::not_found, "the demo model models/{} is not beside the program; name a model with --model",
       kDemoFile);
}

}  // namespace

std::string model_folder() {
  if (const char* folder = std::getenv("LUCE_MODELS"); folder != nullptr && *folder != '\0') return folder;
  const char* const home = std::getenv("HOME");
  return (fs::path(home == nullptr ? "." : home) / ".cache" / "luce-spark" / "models").string();
}

ModelPath find_model(const std::string& name_or_path) {
  if (name_or_path.empty()) return {find_demo(), true};
  std::error_code error;
  if (fs::exists(name_or_path, error)) return {name_or_path, false};
  const bool is_path = name_or_path.find('/') != std::string::npos;
  if (is_path) fail(ErrorKind::not_found, "there is no file '{}'; check the path given with --model", name_or_path);
  return {find_named(name_or_path), false};
}

}  // namespace luce::app
