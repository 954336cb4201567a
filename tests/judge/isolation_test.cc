// A runner that dies, hangs or is killed costs at most its own candidate a verdict; and a
// candidate's runner holds none of the baseline's memory. On a software device.

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/judge/evaluator_fixture.h"
#include "tests/judge/processes.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using namespace kbench::testing;

class IsolationTest : public EvaluatorTest {
 protected:
  void SetUp() override {
    EvaluatorTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!has_software_device()) GTEST_SKIP() << "no software device";
    where_.device = "cpu";
  }
};

TEST_F(IsolationTest, ACrashedRunnerCostsTheJudgeNothing) {
  expect_right();
  const std::vector<pid_t> before = judges(), baselines = runners("eager");
  ASSERT_EQ(before.size(), 1u);
  for (int i = 0; i < 2; ++i) {
    const Result result = run(wild());
    EXPECT_EQ(name_of(result.verdict), "crashed") << result.message;
    EXPECT_THAT(result.message, HasSubstr("SIGSEGV"));
    EXPECT_THAT(result.message, HasSubstr("while running on the device (warm-up)"));
    expect_right();
  }
  EXPECT_EQ(judges(), before);
  EXPECT_EQ(runners("eager"), baselines);
}

TEST_F(IsolationTest, AHangingKernelTimesOutAndTheNextIsRight) {
  asked_.limits.device_seconds = 5;
  expect_right();
  const std::vector<pid_t> before = judges();
  const auto start = std::chrono::steady_clock::now();
  const Result result = run(hanging());
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(name_of(result.verdict), "timeout") << result.message;
  EXPECT_THAT(result.message, HasSubstr("took longer than 5 s while running on the device"));
  EXPECT_LT(took, std::chrono::seconds(100));
  expect_right();
  EXPECT_EQ(judges(), before);
}

TEST_F(IsolationTest, ACandidateThatTakesTooLongInAllIsATimeout) {
  asked_.limits.total_seconds = 0.05;
  asked_.plan = {0, 100, 100000, 100000};
  const auto start = std::chrono::steady_clock::now();
  fails(right(), Verdict::timeout, "0.05 s in all");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST_F(IsolationTest, ARunnerKilledFromOutsideCostsNoVerdict) {
  std::string role, at;
  int kills = 0, stages = 0;
  observer_.on_stage = [&](const char* stage) {
    ++stages;
    if (kills > 0 || stage != at) return;
    for (const pid_t runner : runners(role)) kills += ::kill(runner, SIGKILL) == 0;
  };
  for (const char* each : {"candidate", "eager"}) {
    for (const char* when : {"load", "compile", "warm-up", "sample"}) {
      role = each, at = when, kills = 0, stages = 0;
      if (at == "load") end_judge();  // A warm judge may not have the next runner yet.
      const Result result = run(right());
      EXPECT_EQ(name_of(result.verdict), "passed") << role << " at " << at << result.message;
      EXPECT_GE(kills, 1) << role << " at " << at;  // with one that had served, or is to serve
      EXPECT_GT(stages, 4) << role << " at " << at << ": not tried again";
    }
  }
}

TEST_F(IsolationTest, AStuckBaselineIsEndedAndCostsNoVerdict) {
  asked_.limits.total_seconds = 10;
  asked_.plan.min_samples = 50;
  int stopped = 0;
  observer_.on_stage = [&](const char* stage) {
    if (stopped > 0 || std::string(stage) != "sample") return;
    for (const pid_t runner : runners("eager")) stopped += ::kill(runner, SIGSTOP) == 0;
  };
  const auto start = std::chrono::steady_clock::now();
  const Result result = evaluate(about(file_of(right())), where_, observer_);
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  EXPECT_GE(stopped, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(200));
}

TEST_F(IsolationTest, SaysWhenOtherProcessesKeptTheProcessorsBusy) {
  asked_.plan.max_seconds = 0.3;
  asked_.plan.min_samples = 100;
  std::vector<pid_t> spinning;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      volatile unsigned turns = 0;
      for (;;) turns = turns + 1;
    }
    spinning.push_back(child);
  }
  const Result result = run(right());
  for (const pid_t child : spinning) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  EXPECT_TRUE(result.busy);
}

TEST_F(IsolationTest, AJudgeGoesOnWithoutThePrototypeOfItsRunners) {
  expect_right();
  const std::vector<pid_t> before = judges(), prototypes = runners("prototype");
  ASSERT_EQ(prototypes.size(), 1u);
  kill(prototypes.front(), SIGKILL);
  for (int i = 0; i < 3; ++i) expect_right();
  EXPECT_EQ(judges(), before);
  EXPECT_THAT(runners("prototype"), ::testing::IsEmpty());
}

TEST_F(IsolationTest, ARunnerKilledRepeatedlyIsAHarnessError) {
  observer_.on_stage = [&](const char* stage) {
    if (std::string(stage) != "sample") return;
    for (const pid_t runner : runners("candidate")) ::kill(runner, SIGKILL);
  };
  const Result result = evaluate(about(file_of(right())), where_, observer_);
  EXPECT_EQ(name_of(result.verdict), "harness_error") << result.message;
  EXPECT_THAT(result.message, HasSubstr("not by kbench"));
}

TEST_F(IsolationTest, AKilledJudgeCostsNoVerdictAndLeavesNoRunner) {
  std::vector<pid_t> all;
  observer_.on_stage = [&](const char* stage) {
    if (std::string(stage) != "sample" || !all.empty()) return;
    for (const char* role : {"candidate", "eager"}) {
      for (const pid_t runner : runners(role)) all.push_back(runner);
    }
    for (const pid_t judge : judges()) ::kill(judge, SIGKILL);
  };
  const Result result = evaluate(about(file_of(right())), where_, observer_);
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  EXPECT_GE(all.size(), 2u);
  for (const pid_t runner : all) EXPECT_TRUE(dies(runner));
}

TEST_F(IsolationTest, ACandidateHoldsNoneOfTheBaselinesMemory) {
  if (geteuid() != 0) GTEST_SKIP() << "runners may only be looked into by root";
  asked_.plan.min_samples = 200;  // It is still measured when its memory is looked at.
  std::set<SharedMapping> judge, candidate, baseline;
  observer_.on_stage = [&](const char* stage) {
    if (std::string(stage) != "sample") return;
    ASSERT_EQ(judges().size(), 1u);
    ASSERT_EQ(runners("candidate").size(), 1u);
    ASSERT_EQ(runners("eager").size(), 1u);
    judge = shared_mappings(judges()[0]);
    candidate = shared_mappings(runners("candidate")[0]);
    baseline = shared_mappings(runners("eager")[0]);
  };
  // With a temporary: what is given, outputs and temporaries.
  const Result result =
      evaluate(about(file_of(relu("if (i < n) y[i] = max(x[i], 0.0);",
                                  "temps:\n  t: {dtype: f32, shape: [64]}\n", "x, output, t"))),
               where_, observer_);
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  ASSERT_FALSE(judge.empty());
  const auto files_of = [](const std::set<SharedMapping>& mappings, bool writable) {
    std::set<std::string> files;
    for (const auto& each : mappings) {
      if (each.writable == writable) files.insert(each.file);
    }
    return files;
  };
  const auto theirs = files_of(candidate, true), given = files_of(candidate, false);
  EXPECT_EQ(theirs.size(), 2u);
  EXPECT_EQ(given.size(), 1u);
  // The baseline may only read what is given, too, and shares nothing else with the candidate.
  EXPECT_EQ(files_of(baseline, false), given);
  const auto truths = files_of(baseline, true);
  EXPECT_FALSE(truths.empty());
  for (const std::string& file : truths) {
    EXPECT_FALSE(theirs.contains(file) || given.contains(file));
  }
  const auto all = files_of(judge, true);
  EXPECT_EQ(all.size(), theirs.size() + given.size() + truths.size());
}

TEST_F(IsolationTest, AnEvaluatorThatGoesLeavesNoProcess) {
  expect_right();
  std::vector<pid_t> all;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (all.size() < 3 && std::chrono::steady_clock::now() < give_up) {
    all = judges();
    for (const char* role : {"candidate", "eager"}) {
      for (const pid_t runner : runners(role)) all.push_back(runner);
    }
  }
  EXPECT_GE(all.size(), 3u);  // also a runner that is started ahead, once nothing is asked
  end_judge();
  for (const pid_t process : all) EXPECT_TRUE(dies(process));
}

}  // namespace
}  // namespace kbench
