#include "app/line_editor.hpp"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>

#include "base/error.hpp"

namespace luce::app {
namespace {

constexpr int kHistoryLines = 1000;
constexpr int kMomentMilliseconds = 50;
constexpr wchar_t kReplacement = 0xFFFD;
constexpr char kLiteral = '\1';  // encloses what takes no room in the prompt

/// libedit counts what the prompt shows, so colour sequences are marked.
std::string mark_colours(const std::string& prompt) {
  std::string out;
  for (size_t i = 0; i < prompt.size(); ++i) {
    if (prompt[i] != '\033') {
      out += prompt[i];
      continue;
    }
    const size_t end = std::min(prompt.find('m', i), prompt.size() - 1);
    out += kLiteral + prompt.substr(i, end - i + 1) + kLiteral;
    i = end;
  }
  return out;
}

}  // namespace

struct LineEditor::Terminal {
  Terminal(std::string with_marks, const std::atomic<bool>& flag) : prompt(std::move(with_marks)), interrupted(flag) {}
  ~Terminal() {
    if (edit != nullptr) el_end(edit);
    if (past != nullptr) history_end(past);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  static Terminal& of(EditLine* edit) {
    void* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }
  static char* show_prompt(EditLine* edit) { return of(edit).prompt.data(); }

  /// One character of the UTF-8 that is typed. libedit's own reader goes on after a signal; this one comes back.
  static int read_character(EditLine* edit, wchar_t* out) {
    std::mbstate_t state{};
    for (;;) {
      // A signal may come between two reads, so waiting is never longer than a moment.
      pollfd ready{STDIN_FILENO, POLLIN, 0};
      const int waited = ::poll(&ready, 1, kMomentMilliseconds);
      if (of(edit).interrupted) return -1;
      if (waited == 0 || (waited < 0 && errno == EINTR)) continue;
      char byte = 0;
      const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return static_cast<int>(got);
      const size_t used = std::mbrtowc(out, &byte, 1, &state);
      if (used == static_cast<size_t>(-2)) continue;
      if (used == static_cast<size_t>(-1)) *out = kReplacement;
      return 1;
    }
  }

  std::string prompt;
  EditLine* edit = nullptr;
  History* past = nullptr;
  const std::atomic<bool>& interrupted;
};

LineEditor::LineEditor(const std::string& prompt, const std::atomic<bool>& interrupted)
    : terminal_(std::make_unique<Terminal>(mark_colours(prompt), interrupted)) {
  // Only how characters are read and how wide they are; numbers keep their form.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  Terminal& t = *terminal_;
  t.edit = el_init("luce-spark", stdin, stdout, stderr);
  t.past = history_init();
  if (t.edit == nullptr || t.past == nullptr) fail(ErrorKind::device, "the terminal cannot be used to edit lines");
  HistEvent event;
  history(t.past, &event, H_SETSIZE, kHistoryLines);
  history(t.past, &event, H_SETUNIQUE, 1);
  el_set(t.edit, EL_CLIENTDATA, &t);
  el_set(t.edit, EL_PROMPT_ESC, &Terminal::show_prompt, kLiteral);
  el_set(t.edit, EL_EDITOR, "emacs");
  el_set(t.edit, EL_HIST, history, t.past);
  el_set(t.edit, EL_GETCFN, &Terminal::read_character);
  el_set(t.edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  constexpr std::array kKeys{std::array{"\033[1~", "ed-move-to-beg"},      std::array{"\033[4~", "ed-move-to-end"},
                             std::array{"\033[H", "ed-move-to-beg"},       std::array{"\033[F", "ed-move-to-end"},
                             std::array{"\033[3~", "ed-delete-next-char"}, std::array{"\033[1;5D", "ed-prev-word"},
                             std::array{"\033[1;5C", "em-next-word"}};
  for (const auto& [key, action] : kKeys) el_set(t.edit, EL_BIND, key, action, nullptr);
}

LineEditor::~LineEditor() = default;

LineEnd LineEditor::read(std::string& line) {
  Terminal& t = *terminal_;
  // libedit itself would first show the prompt: what is typed in between would be edited by the kernel, byte by byte.
  el_set(t.edit, EL_PREP_TERM, 1);
  int length = 0;
  const char* const typed = el_gets(t.edit, &length);
  if (t.interrupted) {
    el_reset(t.edit);
    el_set(t.edit, EL_PREP_TERM, 0);
    return LineEnd::interrupted;
  }
  if (typed == nullptr || length <= 0) return LineEnd::end_of_input;
  line.assign(typed, static_cast<size_t>(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  HistEvent event;
  if (!line.empty()) history(t.past, &event, H_ENTER, line.c_str());
  return LineEnd::line;
}

}  // namespace luce::app
