#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>

#include "app/settings_sources.hpp"

namespace luce::app {

/// The subcommand that the user chose: what main runs.
struct Selection {
  std::function<int()> run;
};

/// Adds the options of the table that a command takes, and --config, to its parser.
class OptionBinder {
 public:
  OptionBinder(CLI::App& command, CommandBit bit);

  /// Settings from all sources, the environment of the process included.
  ResolvedSettings resolve() const;

 private:
  std::shared_ptr<FlagTexts> texts_ = std::make_shared<FlagTexts>();
};

/// Each declares its subcommand; when the user names it, `selection.run` is set.
void add_serve(CLI::App& root, Selection& selection);
void add_run(CLI::App& root, Selection& selection);
void add_bench(CLI::App& root, Selection& selection);
void add_plan(CLI::App& root, Selection& selection);
void add_replay(CLI::App& root, Selection& selection);
void add_inspect(CLI::App& root, Selection& selection);
void add_logits(CLI::App& root, Selection& selection);
void add_tokenize(CLI::App& root, Selection& selection);
void add_template(CLI::App& root, Selection& selection);
void add_warmup(CLI::App& root, Selection& selection);

/// The whole program: 0 on success, 1 for a failed task, 2 for wrong usage.
int run_program(int argc, char** argv);

}  // namespace luce::app
