#include "app/warmup_prompts.hpp"

#include <fstream>

#include "base/error.hpp"

namespace luce::app {
namespace {

using Json = nlohmann::ordered_json;

struct Scenario {
  const char* name;
  const char* text;
};

constexpr Scenario kScenarios[] = {
    {"chat", "Hello! What can you help me with today?"},
    {"chat, German", "Was macht das Paket python3-numpy, und wann brauche ich es?"},
    {"chat, French", "Explique en quelques phrases ce que fait un gestionnaire de paquets."},
    {"question on a text",
     "Answer from this text only. Text: The library reads and writes PNG images; its development files are in a "
     "package "
     "of their own. Question: where are the development files?"},
    {"summary",
     "Summarise in one sentence: The server keeps the experts that the traffic uses in fast memory and reads the "
     "others "
     "from the model file when a token needs them."},
    {"writing", "Write a short, polite mail that moves a meeting from Monday to Tuesday."},
    {"code, Python", "Write a Python function that returns the n most frequent words of a text file."},
    {"code, C", "Write a C function that reverses a singly linked list, and explain each line."},
    {"code review", "What is wrong with this? for (size_t i = n - 1; i >= 0; --i) sum += values[i];"},
    {"translation", "Translate to Italian: The package contains shared libraries and documentation."},
    {"structured output", "Give name, version and license of a library you know as a JSON object."},
    {"reasoning", "A tank holds 240 litres and loses 3 litres an hour. When is it half empty? Think step by step."},
};

Json user_message(const std::string& text) { return {{"messages", {{{"role", "user"}, {"content", text}}}}}; }

WarmupPrompt parse_line(const std::string& line, const std::string& place) {
  if (line.front() != '{') return {place, user_message(line)};
  try {
    return {place, Json::parse(line)};
  } catch (const Json::exception& error) {
    fail(ErrorKind::usage, "{} begins with a brace but is no JSON object: {}", place, error.what());
  }
}

}  // namespace

std::vector<WarmupPrompt> standard_prompts() {
  std::vector<WarmupPrompt> prompts;
  for (const Scenario& each : kScenarios) prompts.push_back({each.name, user_message(each.text)});
  return prompts;
}

std::vector<WarmupPrompt> read_prompts(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(ErrorKind::usage, "cannot open the prompts '{}'; check the path given with --prompts", path);
  std::vector<WarmupPrompt> prompts;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) prompts.push_back(parse_line(line, fmt::format("line {} of {}", number, path)));
  }
  if (prompts.empty()) fail(ErrorKind::usage, "the file '{}' has no prompts in it; one is expected on each line", path);
  return prompts;
}

}  // namespace luce::app
