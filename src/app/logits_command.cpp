#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

#include "app/command_line.hpp"
#include "app/model_assembly.hpp"
#include "app/progress_bar.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

namespace luce::app {
namespace {

constexpr int kMostRows = 512;

struct LogitsArguments {
  std::string model;
  std::string tokens;
  std::string output;
  bool decode = false;  // one token a step, as when generating
  bool unguarded_bias = false;
};

std::vector<int32_t> read_tokens(const std::string& path, int32_t vocabulary) {
  std::ifstream stream(path);
  if (!stream) fail(ErrorKind::not_found, "cannot open the token file '{}'; check the path given with --tokens", path);
  std::vector<int32_t> tokens;
  std::string word;
  while (stream >> word) {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size() || id < 0 || id >= vocabulary)
      fail(ErrorKind::invalid_file, "word {} of '{}' is no token id from 0 to {}", tokens.size() + 1, path,
           vocabulary - 1);
    tokens.push_back(id);
  }
  if (tokens.empty()) fail(ErrorKind::invalid_file, "the token file '{}' has no token ids in it", path);
  return tokens;
}

model::Batch batch_of(const std::vector<int32_t>& tokens, int first, int rows, device::RowClass row_class) {
  model::Batch batch;
  batch.tokens.assign(tokens.begin() + first, tokens.begin() + first + rows);
  batch.spans = {{0, 0, rows, first, row_class}};
  for (int row = 0; row < rows; ++row) batch.logit_rows.push_back(row);
  return batch;
}

void write_logits(ModelAssembly& assembly, const std::vector<int32_t>& tokens, bool decode, std::ofstream& stream) {
  const int most_rows = decode ? 1 : kMostRows;
  const auto row_class = decode ? device::RowClass::decode : device::RowClass::prompt;
  ProgressBar bar("computing");
  const int count = static_cast<int>(tokens.size());
  for (int first = 0; first < count; first += most_rows) {
    const int rows = std::min(most_rows, count - first);
    const std::span<const float> logits = assembly.model().forward(batch_of(tokens, first, rows, row_class));
    stream.write(reinterpret_cast<const char*>(logits.data()), static_cast<std::streamsize>(logits.size_bytes()));
    bar.show(first + rows, count);
  }
}

void tell_experts(const experts::ServiceCounters& counters) {
  std::fputs(fmt::format("experts: {} hits, {} misses, {} substituted, displaced weight {:.3f}, {} dropped, {} "
                         "reweighted\n",
                         counters.decode.hits, counters.decode.misses, counters.substituted, counters.displaced_weight,
                         counters.dropped, counters.reweighted)
                 .c_str(),
             stderr);
}

int write_all_logits(const LogitsArguments& arguments, ResolvedSettings settings) {
  settings.values.router.bias_is_guarded = !arguments.unguarded_bias;
  const ModelPath path = find_model(arguments.model);
  const auto vocabulary =
      static_cast<int32_t>(text::VocabularyData::from_metadata(gguf::File::open(path.path).metadata()).tokens.size());
  const std::vector<int32_t> tokens = read_tokens(arguments.tokens, vocabulary);
  const int count = static_cast<int>(tokens.size());
  const int rows = std::min(count, kMostRows);
  ModelAssembly assembly(path, settings, {count, 1, rows, rows});
  ProgressBar bar("loading");
  assembly.load([&bar](int64_t done, int64_t all) {
    bar.show(done, all);
    return true;
  });
  bar.finish();
  std::ofstream stream(arguments.output, std::ios::binary | std::ios::trunc);
  write_logits(assembly, tokens, arguments.decode, stream);
  stream.close();
  if (arguments.decode && assembly.experts() != nullptr) tell_experts(assembly.experts()->counters());
  if (!stream) fail(ErrorKind::io, "cannot write the logits to '{}'; check the folder and the disk", arguments.output);
  return 0;
}

}  // namespace

void add_logits(CLI::App& root, Selection& selection) {
  CLI::App* const command =
      root.add_subcommand("logits", "Writes the logits of every position as f32, for comparing engines");
  const auto arguments = std::make_shared<LogitsArguments>();
  command->add_option("FILE", arguments->model, "model file or name")->required();
  command->add_option("--tokens", arguments->tokens, "text file with token ids")->required()->option_text("IDS.txt");
  command->add_option("--output", arguments->output, "file for [positions, vocabulary] floats, little endian")
      ->required()
      ->option_text("OUT.f32");
  command->add_flag("--decode", arguments->decode,
                    "one token a step, as when generating, and tell how the expert cache did");
  command->add_flag("--unguarded-bias", arguments->unguarded_bias,
                    "the hot bias without its guards, to measure what they are worth");
  const OptionBinder options(*command, kLogits);
  command->callback(
      [=, &selection] { selection.run = [=] { return write_all_logits(*arguments, options.resolve()); }; });
}

}  // namespace luce::app
