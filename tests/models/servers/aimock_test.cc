// Against a server that others wrote: @copilotkit/aimock of npm. The tests are skipped where it or
// Node is missing; KBENCH_NODE_MODULES names the folder that `npm install @copilotkit/aimock` made.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "kbench/extract.h"
#include "tests/models/asked.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = ModelEvent::Kind;

std::string module_path() {
  const char* folder = std::getenv("KBENCH_NODE_MODULES");
  return std::string(folder == nullptr ? "" : folder) + "/@copilotkit/aimock/dist/cli.js";
}

/// Why these tests cannot run here; empty where they can.
std::string what_is_missing() {
  if (std::getenv("KBENCH_NODE_MODULES") == nullptr) {
    return "KBENCH_NODE_MODULES does not name a folder with @copilotkit/aimock";
  }
  if (!std::filesystem::exists(module_path())) return "there is no " + module_path();
  const char* check =
      "node -e 'const [a, b] = process.versions.node.split(\".\");"
      "process.exit(a > 20 || (a == 20 && b >= 15) ? 0 : 1)' 2>/dev/null";
  return std::system(check) == 0 ? "" : "Node 20.15 or later is missing";
}

/// The server, until the end of the test.
class Aimock {
 public:
  explicit Aimock(std::vector<std::string> arguments = {}) {
    std::array<int, 2> pipe = {};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    std::vector<std::string> words = {"node", module_path(), "--port",
                                      "0",    "--fixtures",  KBENCH_AIMOCK_FIXTURES};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(pipe[1], 1);
      ::dup2(pipe[1], 2);
      ::execvp("node", argv.data());
      ::_exit(127);
    }
    ::close(pipe[1]);
    said_ = pipe[0];
    // "... listening on http://127.0.0.1:PORT"
    std::string said;
    char byte = 0;
    while (::read(said_, &byte, 1) == 1) {
      said += byte;
      const size_t at = said.find("http://");
      if (byte != '\n' || at == said.npos) continue;
      url_ = said.substr(at, said.find_first_of(" \n/", at + 7) - at) + "/v1";
      return;
    }
    throw std::runtime_error("aimock did not start: " + said);
  }
  ~Aimock() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(said_);
  }
  const std::string& url() const { return url_; }

 private:
  pid_t pid_ = -1;
  int said_ = -1;
  std::string url_;
};

class AimockServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = what_is_missing(); !missing.empty()) GTEST_SKIP() << missing;
  }
};

Ask asking(const std::string& text) { return {.messages = {{Role::user, text}}}; }

TEST_F(AimockServer, ARepairConversation) {
  const Aimock server;
  Asked asked(server.url());
  Ask ask = asking("write relu");
  const Answer first = asked.ask(ask);
  const Extraction none = extract(first, {1, 19});
  EXPECT_EQ(none.outcome, Outcome::no_candidate);
  ask.messages.push_back({Role::assistant, first.text});
  ask.messages.push_back({Role::user, none.explanation});
  const Answer second = asked.ask(ask);
  EXPECT_EQ(second.reasoning, "They want the block.");
  const Extraction found = extract(second, {1, 19});
  EXPECT_EQ(found.outcome, Outcome::candidate) << second.text;
  EXPECT_THAT(found.files, SizeIs(2));
  EXPECT_TRUE(second.usage.input);  // from the stream's last event
}

TEST_F(AimockServer, ARateLimit) {
  const Aimock server;
  Asked asked(server.url());
  const Answer answer = asked.ask(asking("limited"));
  EXPECT_EQ(answer.text, "now");
  EXPECT_EQ(answer.tries, 2);
  EXPECT_EQ(asked.events(Kind::retry).at(0).status, 429);
  EXPECT_THAT(asked.events(Kind::retry).at(0).text, HasSubstr("Rate limit reached"));
  EXPECT_GE(asked.sleeps().at(0), 1);  // what Retry-After says
  EXPECT_THAT(asked.events(Kind::connections), SizeIs(1));
}

TEST_F(AimockServer, ABrokenStream) {
  const Aimock server;
  Asked asked(server.url());
  const Answer answer = asked.ask(asking("broken"));
  EXPECT_EQ(answer.text, "A whole text.");
  EXPECT_EQ(answer.tries, 2);
}

TEST_F(AimockServer, ACutAnswerStreamedAndWhole) {
  const Aimock server;
  for (const bool stream : {true, false}) {
    Asked asked(server.url(), {.stream = stream});
    const Answer answer = asked.ask(asking("short"));
    EXPECT_EQ(answer.text, "cut");
    EXPECT_EQ(answer.finish, "length");
    EXPECT_EQ(answer.usage.input, 11);
    EXPECT_EQ(answer.usage.output, 22);
  }
}

TEST_F(AimockServer, WhateverGoesWrong) {
  const Aimock server({"--chaos-drop", "0.2", "--chaos-malformed", "0.2", "--chaos-disconnect",
                       "0.2", "--chaos-ratelimit", "0.2"});
  Asked asked(server.url(), {.tries = 100, .retry_seconds = 1e6});
  int tries = 0;
  for (int i = 0; i < 30; ++i) {
    const Answer answer = asked.ask(asking("chaos"));
    EXPECT_EQ(answer.text, "through");
    tries += answer.tries;
  }
  EXPECT_GT(tries, 30);
}

TEST_F(AimockServer, AKeyThatIsMissing) {
  setenv("AIMOCK_API_KEYS", "sk-of-the-server-0123456789", 1);
  const Aimock server;
  unsetenv("AIMOCK_API_KEYS");
  Asked without(server.url());
  EXPECT_EQ(without.error()->reach(), ModelError::Reach::model);
  setenv("KBENCH_TEST_KEY", "sk-of-the-server-0123456789", 1);
  Asked with(server.url(), {.key_env = "KBENCH_TEST_KEY"});
  unsetenv("KBENCH_TEST_KEY");
  EXPECT_EQ(with.ask(asking("short")).text, "cut");
}

}  // namespace
}  // namespace kbench::testing
