#include <fstream>
#include <iostream>
#include <iterator>

#include "app/command_line.hpp"
#include "app/model_path.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "gguf/file.hpp"
#include "text/tokenizer.hpp"

namespace luce::app {
namespace {

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    fail(ErrorKind::not_found, "cannot open the text file '{}'; check the path given with --text-file", path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

int tokenize(const std::string& model, const std::string& text_file, bool parse_special) {
  const gguf::File file = gguf::File::open(find_model(model).path);
  const text::Tokenizer tokenizer(file.metadata());
  const std::vector<int32_t> ids =
      tokenizer.encode(read_text(text_file), parse_special ? text::Special::parse : text::Special::plain);
  fmt::print("{}\n", fmt::join(ids, " "));
  return 0;
}

}  // namespace

void add_tokenize(CLI::App& root, Selection& selection) {
  CLI::App* const command = root.add_subcommand("tokenize", "Prints the token ids of a text on one line");
  const auto model = std::make_shared<std::string>();
  const auto text_file = std::make_shared<std::string>();
  const auto parse_special = std::make_shared<bool>(false);
  command->add_option("FILE", *model, "model or vocabulary file, or name")->required();
  command->add_option("--text-file", *text_file, "file with the text; - is standard input")
      ->required()
      ->option_text("F");
  command->add_flag("--parse-special", *parse_special, "read the text of control tokens as such tokens");
  command->callback([=, &selection] { selection.run = [=] { return tokenize(*model, *text_file, *parse_special); }; });
}

}  // namespace luce::app
