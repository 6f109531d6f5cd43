#include <unistd.h>

#include <iostream>
#include <iterator>

#include "app/chat_terminal.hpp"
#include "app/command_line.hpp"
#include "app/interrupt.hpp"
#include "app/progress_bar.hpp"
#include "app/service.hpp"
#include "app/start_report.hpp"
#include "app/usage_memory.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"

namespace luce::app {
namespace {

constexpr int kExitInterrupted = 130;  // 128 + SIGINT

struct RunArguments {
  std::string prompt;
  std::string system;
  bool raw = false;
};

void tell(const ModelAssembly& assembly, const ModelPath& path) {
  if (path.demo) std::fputs("No --model is given, so the demo model answers; it is small and invents facts.\n", stderr);
  for (const std::string& each : warning_lines(assembly)) base::log_warning("{}", each);
  const plan::MemoryPlan& plan = assembly.plan();
  if (plan.total_experts == 0) return;
  std::fputs(fmt::format("{}: {} of {} experts resident, {}\n", assembly.blueprint().shape().name, plan.total_slots,
                         plan.total_experts, assembly.device().description())
                 .c_str(),
             stderr);
}

void converse(const RunArguments& arguments, ChatSession& session, const ModelAssembly& assembly) {
  ChatTerminal terminal(session, assembly);
  if (!arguments.system.empty()) session.set_system(arguments.system);
  if (!arguments.prompt.empty()) return terminal.answer_once(arguments.prompt, arguments.raw);
  if (isatty(STDIN_FILENO) == 1 && !arguments.raw) return terminal.talk();
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (text.empty()) fail(ErrorKind::usage, "there is no prompt: give one with -p or on standard input");
  terminal.answer_once(text, arguments.raw);
}

int run(const RunArguments& arguments, const ResolvedSettings& settings) {
  for (const std::string& each : settings.warnings) base::log_warning("{}", each);
  catch_interrupts();
  const ModelPath path = find_model(settings.values.model.model);
  ModelAssembly assembly(path, settings, service_needs(settings, 1));
  tell(assembly, path);
  ProgressBar bar("loading");
  assembly.load([&bar](int64_t done, int64_t all) {
    bar.show(done, all);
    return !interrupt_flag();
  });
  bar.finish();
  telemetry::Registry registry;
  Service service(assembly, settings, registry);
  if (!service.has_chat_template() && !arguments.raw)
    fail(ErrorKind::usage, "this model has no chat template; continue plain text with --raw, or give --chat-template");
  UsageMemory memory(assembly, settings);
  if (!settings.values.router.profile_path.empty()) memory.start();
  ChatSession session(service.completer(), settings.values.chat, interrupt_flag());
  converse(arguments, session, assembly);
  return 0;
}

/// A signal ends the loading too: SIGTERM as an orderly end, Ctrl-C with the exit code that shells expect.
int run_until_stopped(const RunArguments& arguments, const ResolvedSettings& settings) {
  try {
    return run(arguments, settings);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::cancelled || !interrupt_flag()) throw;
    return terminate_wanted() ? 0 : kExitInterrupted;
  }
}

}  // namespace

void add_run(CLI::App& root, Selection& selection) {
  CLI::App* const command = root.add_subcommand("run", "Chats with a model on the terminal, or answers one prompt");
  const auto arguments = std::make_shared<RunArguments>();
  command->add_option("-p,--prompt", arguments->prompt, "answer this and leave; without it, chat")
      ->option_text("PROMPT");
  command->add_option("--system", arguments->system, "system message")->option_text("TEXT");
  command->add_flag("--raw", arguments->raw, "continue the prompt as plain text, without the chat template");
  const OptionBinder options(*command, kRun);
  command->callback(
      [=, &selection] { selection.run = [=] { return run_until_stopped(*arguments, options.resolve()); }; });
}

}  // namespace luce::app
