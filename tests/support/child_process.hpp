#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace luce::support {

/// How a program ended and what it said.
struct ProcessResult {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
  int64_t peak_resident_bytes = 0;
};

/// A running program whose output is collected in files of its own. Its destructor kills what still runs.
class ChildProcess {
 public:
  /// `environment` holds further NAME=VALUE entries.
  explicit ChildProcess(const std::vector<std::string>& command, const std::vector<std::string>& environment = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void send(int signal) const;
  /// True once stderr holds `text`; false when `timeout` passes or the program ends first.
  bool wait_for_error_text(const std::string& text, std::chrono::milliseconds timeout) const;
  /// What stderr holds by now.
  std::string error_text() const;
  /// Waits for the end; kills the program when `timeout` passes first.
  ProcessResult wait(std::chrono::milliseconds timeout);

 private:
  bool reap(int options);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool ended_ = false;
  ProcessResult result_;
};

/// Path of the program under test.
std::string luce_spark();

/// Runs luce-spark with these arguments to its end.
ProcessResult run_luce_spark(const std::vector<std::string>& arguments,
                             std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace luce::support
