// Whatever a test starts ends with it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "tests/judge/processes.h"

namespace kbench::testing {
namespace {

/// The launcher with a script of the shell as its test.
class Launched {
 public:
  explicit Launched(const std::string& script)
      : Launched({KBENCH_TEST_LAUNCHER, "sh", "-c", script}) {}
  explicit Launched(std::vector<std::string> command) {
    std::array<int, 2> output = {};
    EXPECT_EQ(pipe2(output.data(), O_CLOEXEC), 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(output[1], STDOUT_FILENO);
      std::vector<char*> words;
      for (std::string& word : command) words.push_back(word.data());
      words.push_back(nullptr);
      execvp(words[0], words.data());
      _exit(126);
    }
    close(output[1]);
    output_ = output[0];
  }
  ~Launched() { close(output_); }
  Launched(const Launched&) = delete;

  /// A number that the script prints in a line of its own.
  pid_t next_process() const {
    std::string line;
    for (char byte = 0; read(output_, &byte, 1) == 1 && byte != '\n';) line += byte;
    return line.empty() ? -1 : std::stoi(line);
  }
  pid_t process() const { return process_; }
  /// Its status, once it has ended.
  int end() const {
    int status = 0;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    return status;
  }

 private:
  pid_t process_ = -1;
  int output_ = -1;
};

// One is a child of the test's, one has left its session and lost its parent.
constexpr const char* kLeaves = "sleep 1000 & echo $!; setsid sh -c 'sleep 1000 & echo $!'; ";

void expect_none(const std::vector<pid_t>& processes) {
  for (const pid_t each : processes) EXPECT_FALSE(alive(each)) << command_of(each);
}

TEST(TestLauncher, EndsWhatATestLeaves) {
  const Launched launched(kLeaves + std::string("exit 3"));
  const std::vector<pid_t> left = {launched.next_process(), launched.next_process()};
  const int status = launched.end();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  expect_none(left);
}

TEST(TestLauncher, EndsItWhereTheTestIsKilled) {
  const Launched launched(kLeaves + std::string("kill -KILL $$"));
  const std::vector<pid_t> left = {launched.next_process(), launched.next_process()};
  const int status = launched.end();
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  expect_none(left);
}

TEST(TestLauncher, EndsItWhereItIsToldToEnd) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    const Launched launched(kLeaves + std::string("sleep 1000"));
    const std::vector<pid_t> left = {launched.next_process(), launched.next_process()};
    kill(launched.process(), number);
    EXPECT_TRUE(WIFSIGNALED(launched.end()));
    expect_none(left);
  }
}

TEST(TestLauncher, EndsItWhereWhoStartedItIsKilled) {
  const Launched starter(std::vector<std::string>{"sh", "-c", "\"$0\" sh -c \"$1\"; true",
                                                  KBENCH_TEST_LAUNCHER,
                                                  kLeaves + std::string("sleep 1000")});
  const std::vector<pid_t> left = {starter.next_process(), starter.next_process()};
  kill(starter.process(), SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(starter.end()));
  for (const pid_t each : left) EXPECT_TRUE(dies(each)) << command_of(each);
}

TEST(TestLauncher, SaysWhichProgramIsMissing) {
  const Launched launched("exec " KBENCH_TEST_LAUNCHER " /nowhere/program 2>/dev/null");
  EXPECT_EQ(WEXITSTATUS(launched.end()), 127);
}

}  // namespace
}  // namespace kbench::testing
