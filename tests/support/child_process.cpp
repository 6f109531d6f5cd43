#include "support/child_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace luce::support {
namespace {

using Clock = std::chrono::steady_clock;

int nameless_file() {
  std::string path = (std::filesystem::temp_directory_path() / "luce-child-XXXXXX").string();
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error("cannot make a file for a child's output");
  unlink(path.c_str());
  return descriptor;
}

std::string content(int descriptor) {
  std::string text(static_cast<size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  const ssize_t got = pread(descriptor, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command, const std::vector<std::string>& environment)
    : out_(nameless_file()), err_(nameless_file()) {
  std::vector<std::string> variables = environment;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  const std::vector<char*> arguments = pointers(command);
  const std::vector<char*> values = pointers(variables);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(input, STDIN_FILENO);
    dup2(out_, STDOUT_FILENO);
    dup2(err_, STDERR_FILENO);
    execve(arguments[0], arguments.data(), values.data());
    _exit(127);
  }
}

ChildProcess::~ChildProcess() {
  if (!ended_) {
    send(SIGKILL);
    reap(0);
  }
  close(out_);
  close(err_);
}

void ChildProcess::send(int signal) const {
  if (!ended_) kill(pid_, signal);
}

std::string ChildProcess::error_text() const { return content(err_); }

bool ChildProcess::wait_for_error_text(const std::string& text, std::chrono::milliseconds timeout) const {
  const Clock::time_point end = Clock::now() + timeout;
  while (Clock::now() < end) {
    if (error_text().find(text) != std::string::npos) return true;
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
      return error_text().find(text) != std::string::npos;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

bool ChildProcess::reap(int options) {
  int status = 0;
  rusage usage{};
  if (wait4(pid_, &status, options, &usage) != pid_) return false;
  ended_ = true;
  result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result_.peak_resident_bytes = static_cast<int64_t>(usage.ru_maxrss) * 1024;
  return true;
}

ProcessResult ChildProcess::wait(std::chrono::milliseconds timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  while (!ended_ && !reap(WNOHANG)) {
    if (Clock::now() >= end) {
      send(SIGKILL);
      reap(0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  result_.out = content(out_);
  result_.err = content(err_);
  return result_;
}

std::string luce_spark() { return LUCE_PROGRAM; }

ProcessResult run_luce_spark(const std::vector<std::string>& arguments, std::chrono::milliseconds timeout) {
  std::vector<std::string> command = {luce_spark()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return ChildProcess(command).wait(timeout);
}

}  // namespace luce::support
