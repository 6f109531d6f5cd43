// The chat as a person at a terminal has it: keys, history, signals. The program runs on a pseudo terminal.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>

#include "support/child_process.hpp"

namespace luce::app_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr const char* kUp = "\033[A";
constexpr const char* kLeft = "\033[D";
constexpr const char* kRight = "\033[C";
constexpr const char* kHome = "\033[H";
constexpr const char* kCtrlC = "\003";
constexpr const char* kCtrlD = "\004";

/// `luce-spark run` on a terminal of 200 columns.
class TerminalChat {
 public:
  TerminalChat() {
    const std::string program = support::luce_spark();
    winsize size{};
    size.ws_row = 50;
    size.ws_col = 200;
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      setenv("TERM", "xterm", 1);
      execl(program.c_str(), program.c_str(), "run", "--seed", "1", "--temperature", "0", "--max-tokens", "20",
            nullptr);
      _exit(127);
    }
  }
  ~TerminalChat() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(terminal_);
  }
  TerminalChat(const TerminalChat&) = delete;
  TerminalChat& operator=(const TerminalChat&) = delete;

  void type(const std::string& keys) const {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void send(int signal) const { kill(pid_, signal); }

  /// Takes what the screen received up to and with `text`; a failure if it does not come.
  void wait_for(const std::string& text) {
    const auto end = steady_clock::now() + seconds(20);
    size_t found = std::string::npos;
    while ((found = screen_.find(text)) == std::string::npos && steady_clock::now() < end) {
      pollfd ready{terminal_, POLLIN, 0};
      if (poll(&ready, 1, 100) <= 0) continue;
      char bytes[4096];
      const ssize_t got = read(terminal_, bytes, sizeof bytes);
      if (got <= 0) break;
      screen_.append(bytes, static_cast<size_t>(got));
    }
    ASSERT_NE(found, std::string::npos) << "no '" << text << "' in: " << screen_;
    screen_.erase(0, found + text.size());
  }

  void wait_for_prompt() { wait_for("\033[1;36m>\033[0m"); }

  int wait_for_exit() {
    int status = 0;
    const auto end = steady_clock::now() + seconds(20);
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (steady_clock::now() > end) return -1;
      char bytes[4096];
      pollfd ready{terminal_, POLLIN, 0};
      if (poll(&ready, 1, 20) > 0 && read(terminal_, bytes, sizeof bytes) < 0) usleep(1000);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::string screen_;
  int terminal_ = -1;
  pid_t pid_ = -1;
};

TEST(TerminalChat, KeysEditTheLine) {
  TerminalChat chat;
  chat.wait_for_prompt();
  chat.type(std::string("emperaure") + kLeft + kLeft + kLeft + "t" + kHome + "/t" + kRight + "\r");
  chat.wait_for("/temperature wants");
  chat.wait_for_prompt();
  chat.type("/syst\u00e8m\u00e9" + std::string(1, '\177') + "e\r");
  chat.wait_for("/syst\u00e8me is not known here");
  chat.wait_for_prompt();
  chat.type(kCtrlD);
  EXPECT_EQ(chat.wait_for_exit(), 0);
}

TEST(TerminalChat, ArrowsBringBackEarlierLines) {
  TerminalChat chat;
  chat.wait_for_prompt();
  chat.type("/nothing\r");
  chat.wait_for("/nothing is not known here");
  chat.wait_for_prompt();
  chat.type("/stats\r");
  chat.wait_for("tokens at");
  chat.wait_for_prompt();
  chat.type(std::string(kUp) + kUp + "\r");
  chat.wait_for("/nothing is not known here");
  chat.wait_for_prompt();
  chat.type("/quit\r");
  EXPECT_EQ(chat.wait_for_exit(), 0);
}

TEST(TerminalChat, InterruptDropsTheLineAndGoesOn) {
  TerminalChat chat;
  chat.wait_for_prompt();
  chat.type("half a li");
  chat.wait_for("li");
  chat.type(kCtrlC);
  chat.wait_for("Ctrl-D or /quit leaves");
  chat.wait_for_prompt();
  chat.type("What is libpng-dev?\r");
  chat.wait_for("tokens at");
  chat.wait_for_prompt();
  chat.type(kCtrlD);
  EXPECT_EQ(chat.wait_for_exit(), 0);
}

TEST(TerminalChat, TerminationEndsItInOrder) {
  TerminalChat chat;
  chat.wait_for_prompt();

  chat.send(SIGTERM);
  EXPECT_EQ(chat.wait_for_exit(), 0);
}

}  // namespace
}  // namespace luce::app_test
