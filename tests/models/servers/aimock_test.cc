// Against a server that others wrote: @copilotkit/aimock of npm. The tests are skipped where it or
// Node is missing; servers/README.md says how it is installed.
#include <cstdlib>

#include "kbench/extract.h"
#include "tests/models/asked.h"
#include "tests/models/servers/node_server.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = ModelEvent::Kind;

/// The server, until the end of the test.
class Aimock : public NodeServer {
 public:
  explicit Aimock(const std::vector<std::string>& arguments = {}) : NodeServer(all(arguments)) {}

 private:
  static std::vector<std::string> all(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {node_module("@copilotkit/aimock/dist/cli.js"), "--port", "0",
                                      "--fixtures", KBENCH_AIMOCK_FIXTURES};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
};

class AimockServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!node_runs("@copilotkit/aimock", "dist/cli.js")) GTEST_SKIP();
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
