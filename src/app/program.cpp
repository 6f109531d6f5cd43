#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>

#include "app/command_line.hpp"
#include "app/nearest_name.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace luce::app {
namespace {

int complain(int exit_code, std::string message) {
  for (char& c : message)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "luce-spark: %s\n", message.c_str());
  return exit_code;
}

/// The words of the user that no option or command takes, with what may have been meant.
std::string unknown_word(const CLI::App& root, const std::string& word) {
  const CLI::App* where = &root;
  for (const CLI::App* each : root.get_subcommands()) where = each;
  std::vector<std::string> known;
  if (word.substr(0, 1) != "-" && where != &root)
    return fmt::format("'{}' is one argument too many; see luce-spark {} --help", word, where->get_name());
  if (word.substr(0, 1) == "-") {
    for (const CLI::Option* each : where->get_options()) known.push_back(each->get_name());
  } else {
    for (const CLI::App* each : root.get_subcommands(nullptr)) known.push_back(each->get_name());
  }
  const std::string nearest = nearest_name(word.substr(0, word.find('=')), known);
  return fmt::format("'{}' is not known here; did you mean '{}'? See luce-spark {}--help", word, nearest,
                     where == &root ? "" : where->get_name() + " ");
}

/// What the command line lacks or has too much of; nothing if it is right.
std::string parse(CLI::App& root, int argc, char** argv) {
  std::string complaint;
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& error) {
    complaint = std::string(error.what()) + "; see luce-spark --help";
  }
  const auto rest = root.remaining(true);
  return rest.empty() ? complaint : unknown_word(root, rest.front());
}

void declare_commands(CLI::App& root, Selection& selection) {
  root.set_version_flag("--version", "luce-spark " LUCE_VERSION);
  root.get_formatter()->column_width(44);
  root.require_subcommand(1);
  // Extra words are looked at after parsing, to say what was meant instead.
  root.allow_extras();
  for (const auto add : {add_serve, add_run, add_plan, add_bench, add_replay, add_warmup, add_inspect, add_logits,
                         add_tokenize, add_template})
    add(root, selection);
  for (CLI::App* each : root.get_subcommands(nullptr)) {
    each->allow_extras();
    each->set_version_flag("--version", "luce-spark " LUCE_VERSION);
    each->get_formatter()->column_width(44);
  }
}

int run_selected(const Selection& selection) {
  try {
    const int code = selection.run();
    if (std::fflush(stdout) == 0) return code;
    return complain(1, "cannot write to standard output; check the disk or the program that reads it");
  } catch (const Error& error) {
    return complain(error.kind() == ErrorKind::usage ? 2 : 1, error.what());
  } catch (const std::bad_alloc&) {
    return complain(1, "the machine has no memory left for this; give a smaller --ram-memory or --ctx-size");
  } catch (const std::exception& error) {
    return complain(1, fmt::format("a defect of luce-spark ended this: {}; please report it", error.what()));
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  CLI::App root("luce-spark serves mixture-of-experts models whose experts do not all fit into fast memory.",
                "luce-spark");
  Selection selection;
  declare_commands(root, selection);
  try {
    if (const std::string complaint = parse(root, argc, argv); !complaint.empty()) return complain(2, complaint);
  } catch (const CLI::Success& wanted) {
    return root.exit(wanted);
  }
  return run_selected(selection);
}

}  // namespace luce::app
