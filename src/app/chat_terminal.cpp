#include "app/chat_terminal.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "app/interrupt.hpp"
#include "app/option_table.hpp"
#include "app/option_value.hpp"
#include "base/byte_size.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "plan/speed.hpp"

namespace luce::app {
namespace {

constexpr const char* kDim = "\033[2m";
constexpr const char* kBold = "\033[1;36m";
constexpr const char* kPlain = "\033[0m";

void write_out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

double rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

/// Unlike std::getline this comes back when a signal interrupts the reading.
LineEnd read_line(std::string& line) {
  line.clear();
  char byte = 0;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) return LineEnd::interrupted;
    if (got <= 0) return line.empty() ? LineEnd::end_of_input : LineEnd::line;
    if (byte == '\n') return LineEnd::line;
    line += byte;
  }
}

}  // namespace

std::string stats_line(const engine::RequestStats& stats, const ModelAssembly& assembly) {
  const double speed = rate(std::max(0, stats.generated_tokens - 1), stats.decode_seconds);
  const auto bytes = static_cast<double>(
      plan::token_traffic(assembly.blueprint().shape(), tensor::Format::f16, stats.prompt_tokens).total_bytes());
  std::string line = fmt::format("{} tokens at {:.1f}/s ({:.2f} GB/s); prompt of {} at {:.0f}/s",
                                 stats.generated_tokens, speed, speed * bytes / 1e9, stats.prompt_tokens,
                                 rate(stats.prompt_tokens - stats.cached_tokens, stats.prompt_seconds));
  const double accesses = stats.experts.hits + stats.experts.misses;
  if (accesses > 0)
    line += fmt::format("; experts: {:.0f} hits, {:.0f} misses ({:.1f} % hit), {} fetched", stats.experts.hits,
                        stats.experts.misses, stats.experts.hits / accesses * 100,
                        base::format_bytes(static_cast<int64_t>(stats.experts.bytes_fetched)));
  return line;
}

ChatTerminal::ChatTerminal(ChatSession& session, const ModelAssembly& assembly)
    : session_(session),
      assembly_(assembly),
      output_is_terminal_(isatty(STDOUT_FILENO) == 1),
      input_is_terminal_(isatty(STDIN_FILENO) == 1) {}

std::string ChatTerminal::dim(const std::string& text) const {
  return output_is_terminal_ ? kDim + text + kPlain : text;
}

AnswerSink ChatTerminal::sink() {
  in_reasoning_ = false;
  return {[this](const std::string& text) {
            in_reasoning_ = true;
            last_character_ = text.back();
            write_out(dim(text));
          },
          [this](const std::string& text) {
            if (in_reasoning_) write_out("\n\n");
            in_reasoning_ = false;
            last_character_ = text.back();
            write_out(text);
          }};
}

void ChatTerminal::end_answer(const completion::Done& done) {
  if (last_character_ != '\n') write_out("\n");
  last_character_ = '\n';
  if (session_.was_interrupted()) return write_out(dim("(stopped)") + "\n\n");
  std::string note = stats_line(done.stats, assembly_);
  if (done.end == completion::ReplyEnd::length) note = "(cut at the token or context limit) " + note;
  write_out(dim(note) + "\n\n");
}

void ChatTerminal::answer_once(const std::string& prompt, bool raw) {
  const AnswerSink out = sink();
  raw ? session_.complete(prompt, out) : session_.ask(prompt, out);
  if (last_character_ != '\n') write_out("\n");
  // The answer may be piped into a file, so the figures go elsewhere.
  std::fprintf(stderr, "%s\n", stats_line(session_.totals(), assembly_).c_str());
}

void ChatTerminal::answer(const std::string& text) {
  clear_interrupt();
  try {
    end_answer(text.empty() ? session_.retry(sink()) : session_.ask(text, sink()));
  } catch (const Error& error) {
    write_out(fmt::format("{}\n\n", dim(error.what())));
  }
  clear_interrupt();
}

bool ChatTerminal::read_message(std::string& text) {
  text.clear();
  std::string line;
  for (;;) {
    switch (editor_ ? editor_->read(line) : read_line(line)) {
      case LineEnd::end_of_input: return false;
      case LineEnd::interrupted:
        if (terminate_wanted()) return false;
        clear_interrupt();
        text.clear();
        write_out(dim("\n(Ctrl-D or /quit leaves)") + "\n");
        continue;
      case LineEnd::line: break;
    }
    const bool goes_on = !line.empty() && line.back() == '\\';
    if (goes_on) line.back() = '\n';
    text += line;
    if (!goes_on) return true;
  }
}

void ChatTerminal::show_help() const {
  write_out(dim("/help            this list\n"
                "/reset           begin a new conversation\n"
                "/retry           answer the last message again\n"
                "/system TEXT     set the system message; without TEXT none\n"
                "/temperature X   0 always takes the most likely token\n"
                "/stats           speed and expert cache since the start\n"
                "/quit            leave, as Ctrl-D does\n"
                "Arrow keys edit and bring back earlier lines, Ctrl-R searches them.\n"
                "Ctrl-C stops an answer. A line that ends with \\ goes on in the next.\n") +
            "\n");
}

/// False to leave.
bool ChatTerminal::obey(const std::string& line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string word = line.substr(0, space);
  const std::string rest = line.substr(std::min(space + 1, line.size()));
  if (word == "/quit" || word == "/exit") return false;
  if (word == "/help") {
    show_help();
  } else if (word == "/reset") {
    session_.reset();
    write_out(dim("(a new conversation)") + "\n\n");
  } else if (word == "/retry" && session_.can_retry()) {
    answer("");
  } else if (word == "/system") {
    session_.set_system(rest);
    write_out(dim(rest.empty() ? "(no system message)" : "(the system message is set)") + "\n\n");
  } else if (word == "/temperature") {
    try {
      session_.set_temperature(static_cast<float>(parse_decimal(rest, 0, 100)));
    } catch (const BadValue& expected) {
      write_out(dim(fmt::format("/temperature wants {}", expected.what())) + "\n\n");
    }
  } else if (word == "/stats") {
    write_out(dim(stats_line(session_.totals(), assembly_)) + "\n\n");
  } else {
    write_out(dim(fmt::format("{} is not known here; /help lists what is", word)) + "\n\n");
  }
  return true;
}

void ChatTerminal::talk() {
  if (input_is_terminal_) write_out(dim("Type a message; /help lists the commands.") + "\n\n");
  if (input_is_terminal_ && output_is_terminal_)
    editor_.emplace(fmt::format("{}>{} ", kBold, kPlain), interrupt_flag());
  std::string text;
  while (!terminate_wanted() && read_message(text)) {
    if (text.find_first_not_of(" \t\n") == std::string::npos) continue;
    if (text[0] != '/')
      answer(text);
    else if (!obey(text))
      break;
  }
  write_out(dim(stats_line(session_.totals(), assembly_)) + "\n");
}

}  // namespace luce::app
