// Copies of a prototype: children of the asking process, with the prototype's memory.
#include "harness/measure/process/prototype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "harness/measure/process/channel.h"
#include "kbench/error.h"
#include "tests/error_of.h"

namespace kbench::process {
namespace {

using std::chrono::seconds;
using ::testing::StartsWith;

class PrototypeTest : public ::testing::Test {
 protected:
  static Spawn specimen() {
    Spawn spawn;
    spawn.program = KBENCH_PROTOTYPE_SPECIMEN;
    return spawn;
  }
  std::unique_ptr<ChildProcess> copy(const std::string& told) {
    return prototype_.copy(told, {ends_.second.get(), STDIN_FILENO, STDERR_FILENO});
  }
  /// All output of a copy that ends by itself.
  std::string said(const std::string& told) {
    const auto child = copy(told);
    EXPECT_EQ(child->finish(seconds(20)).status, 7);
    std::string text = child->output();
    if (!text.empty()) text.pop_back();  // the line's end
    return text;
  }

  std::pair<UniqueFd, UniqueFd> ends_ = make_socket_pair();
  Prototype prototype_{specimen()};
};

TEST_F(PrototypeTest, IsCopiedWithWhatItHadMade) {
  const std::string first = said("made");
  EXPECT_THAT(first, StartsWith("made by "));
  EXPECT_EQ(said("made"), first);
}

TEST_F(PrototypeTest, CopiesAreChildrenOfTheAskingProcess) {
  const auto child = copy("parent");
  EXPECT_EQ(child->finish(seconds(20)).status, 7);
  EXPECT_EQ(child->output(), std::to_string(getpid()) + " " + std::to_string(child->id()) + "\n");
}

TEST_F(PrototypeTest, HasCopiesWithOnlyTheDescriptorsTheyAreGiven) {
  EXPECT_EQ(said("open"), "0 1 2 3 4 5 ");
  EXPECT_EQ(said("open"), "0 1 2 3 4 5 ");
  EXPECT_EQ(copy("descriptor")->finish(seconds(20)).status, 0);
  char text[4] = {};
  EXPECT_EQ(read(ends_.first.get(), text, sizeof text), 4);
  EXPECT_EQ(std::string(text, 4), "here");
}

TEST_F(PrototypeTest, HasCopiesInAFolderWhereNothingCanBeMade) {
  EXPECT_EQ(said("folder"), "nothing can be made");
}

TEST_F(PrototypeTest, KnowsHowACopyEndedAndGoesOn) {
  EXPECT_EQ(copy("crash")->finish(seconds(20)).signal, SIGABRT);
  const auto sleeper = copy("sleep");
  EXPECT_FALSE(sleeper->poll().ended);
  EXPECT_TRUE(sleeper->stop());
  sleeper->kill();
  EXPECT_EQ(sleeper->poll().signal, SIGKILL);
  EXPECT_THAT(said("made"), StartsWith("made by "));
}

TEST_F(PrototypeTest, ServesSeveralThreads) {
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 8; ++k) right += copy("exit")->finish(seconds(20)).status == 7;
    });
  }
  threads.clear();
  EXPECT_EQ(right, 32);
}

TEST_F(PrototypeTest, ThatHasEndedIsAnErrorAndItsCopiesLiveOn) {
  const auto sleeper = copy("sleep");
  const std::string maker = said("made");
  ASSERT_EQ(kill(std::stoi(maker.substr(maker.rfind(' '))), SIGKILL), 0);
  for (int i = 0; i < 2; ++i) {
    const Error e = error_of([&] { copy("exit"); });
    EXPECT_EQ(e.code(), ErrorCode::kIo);
  }
  EXPECT_FALSE(sleeper->poll().ended);
}

TEST(Prototype, AProgramThatDoesNotServeIsAnError) {
  Spawn spawn;
  spawn.program = "/bin/sh";
  spawn.arguments = {"-c", "echo not today >&2; exit 3"};
  Prototype prototype(spawn);
  auto [ours, theirs] = make_socket_pair();
  const Error e = error_of([&] { prototype.copy("exit", {theirs.get()}); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace kbench::process
