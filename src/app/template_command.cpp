#include <ctime>
#include <fstream>
#include <iterator>

#include "app/command_line.hpp"
#include "app/model_path.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "gguf/file.hpp"
#include "text/chat_template.hpp"
#include "text/vocabulary.hpp"

namespace luce::app {
namespace {

using Json = nlohmann::ordered_json;

struct TemplateArguments {
  std::string model;
  std::string source;
  std::string messages;
};

std::string read_file(const std::string& path, const char* flag) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(ErrorKind::not_found, "cannot open '{}'; check the path given with {}", path, flag);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A request body, or a bare array of messages.
text::ChatInput read_chat(const std::string& path) {
  Json chat = Json::parse(read_file(path, "--messages"), nullptr, false);
  if (chat.is_array()) chat = {{"messages", std::move(chat)}};
  if (!chat.is_object() || !chat.contains("messages"))
    fail(ErrorKind::invalid_file, "'{}' must hold JSON: an object with messages, or an array of them", path);
  text::ChatInput input;
  input.messages = chat["messages"];
  input.tools = chat.value("tools", Json());
  input.add_generation_prompt = chat.value("add_generation_prompt", Json(true)) == Json(true);
  input.template_kwargs = chat.value("chat_template_kwargs", Json());
  if (chat.contains("enable_thinking") && chat["enable_thinking"].is_boolean())
    input.enable_thinking = chat["enable_thinking"].get<bool>();
  const std::time_t now = std::time(nullptr);
  localtime_r(&now, &input.now);
  return input;
}

text::ChatTemplate make_template(const TemplateArguments& arguments) {
  if (!arguments.source.empty()) return text::ChatTemplate(read_file(arguments.source, "--template"));
  const gguf::File file = gguf::File::open(find_model(arguments.model).path);
  const text::Vocabulary vocabulary(text::VocabularyData::from_metadata(file.metadata()));
  if (vocabulary.chat_template().empty())
    fail(ErrorKind::not_found, "'{}' has no chat template; give one with --template", file.path());
  return text::ChatTemplate(vocabulary.chat_template(), text::TemplateTokens::of(vocabulary));
}

int render(const TemplateArguments& arguments) {
  if (arguments.model.empty() == arguments.source.empty())
    fail(ErrorKind::usage, "give either a model FILE or --template T.jinja");
  fmt::print("{}", make_template(arguments).render(read_chat(arguments.messages)).text);
  return 0;
}

}  // namespace

void add_template(CLI::App& root, Selection& selection) {
  CLI::App* const command = root.add_subcommand("template", "Prints the prompt that a chat template makes of messages");
  const auto arguments = std::make_shared<TemplateArguments>();
  command->add_option("FILE", arguments->model, "model file or name whose template is used");
  command->add_option("--template", arguments->source, "Jinja file used instead")->option_text("T.jinja");
  command->add_option("--messages", arguments->messages, "JSON: a request body or an array of messages")
      ->required()
      ->option_text("CASE.json");
  command->callback([=, &selection] { selection.run = [=] { return render(*arguments); }; });
}

}  // namespace luce::app
