// A runner that cannot do its work says why, whenever it is asked.
#include "harness/measure/judge/runner_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "tests/candidate/support.h"

namespace kbench::judge {
namespace {

using ::testing::HasSubstr;

class RunnerWithoutADriver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* given = getenv(kName)) before_ = given;
    setenv(kName, "/nowhere", 1);
    options_.program = KBENCH_PROGRAM;
    options_.device = "auto";
  }
  void TearDown() override { before_ ? setenv(kName, before_->c_str(), 1) : unsetenv(kName); }
  static constexpr const char* kName = "VK_DRIVER_FILES";
  std::optional<std::string> before_;
  RunnerProcess::Options options_;
};

TEST_F(RunnerWithoutADriver, SaysSoWhenItIsAskedAfterItHasLeft) {
  RunnerProcess runner(runner::RunnerKind::eager, options_);
  for (int i = 0; i < 6000 && !runner.ended(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_TRUE(runner.ended());
  try {
    runner.begin_open();
    FAIL() << "it has left";
  } catch (const RunnerFailure& failure) {
    EXPECT_EQ(failure.kind, RunnerFailure::Kind::device) << failure.message;
    EXPECT_THAT(failure.message, HasSubstr("/nowhere"));
  }
}

RunnerFailure failure_of(const RunnerProcess::Options& options) {
  try {
    RunnerProcess(runner::RunnerKind::vulkan, options).wait_open("");
  } catch (const RunnerFailure& failure) {
    return failure;
  }
  ADD_FAILURE() << "it opens a device";
  return {};
}

TEST(RunnerWithoutAProcess, IsTheSystemsFault) {
  const RunnerFailure failure = failure_of({.program = "/nowhere/kbench", .device = "auto"});
  EXPECT_EQ(failure.kind, RunnerFailure::Kind::starved);
  EXPECT_THAT(failure.message, HasSubstr("/nowhere/kbench"));
}

TEST(RunnerWithoutAThread, SaysSoAsItExits) {
  const testing_support::ScratchFolder folder;
  const std::string program = folder.path("kbench");
  std::ofstream(program) << "#!/bin/sh\necho 'no thread' >&2\nexit 87\n";
  chmod(program.c_str(), 0755);
  const RunnerFailure failure = failure_of({.program = program, .device = "auto"});
  EXPECT_EQ(failure.kind, RunnerFailure::Kind::starved);
  EXPECT_THAT(failure.message, HasSubstr("left for the runner: no thread"));
}

TEST(RunnerThatHearsNoJudge, IsNotTheCandidatesFault) {
  const testing_support::ScratchFolder folder;
  for (const char* how : {"exit 0", "echo 'a message too long' >&2\nexit 88"}) {
    const std::string program = folder.path("kbench");
    std::ofstream(program) << "#!/bin/sh\n" << how << "\n";
    chmod(program.c_str(), 0755);
    const RunnerFailure failure = failure_of({.program = program, .device = "auto"});
    EXPECT_EQ(failure.kind, RunnerFailure::Kind::starved) << how << ": " << failure.message;
  }
}

}  // namespace
}  // namespace kbench::judge
