#pragma once

#include <atomic>
#include <memory>
#include <string>

namespace luce::app {

/// How the reading of a line ended.
enum class LineEnd { line, end_of_input, interrupted };

/// Reads UTF-8 lines from a person at a terminal (standard input and output), with the usual keys to edit (emacs
/// style), a history for the arrow keys and Ctrl-R to search in it. Not for pipes.
class LineEditor {
 public:
  /// `prompt` may hold terminal colour sequences; a signal handler sets `interrupted`, which outlives this.
  LineEditor(const std::string& prompt, const std::atomic<bool>& interrupted);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// Waits for a line, without its line feed. `interrupted` once the flag is set; what was typed is gone.
  LineEnd read(std::string& line);

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace luce::app
