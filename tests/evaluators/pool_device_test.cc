// Tests of a Pool with two judge processes on one device of this machine.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "kbench/pool.h"
#include "tests/judge/evaluator_fixture.h"
#include "tests/judge/processes.h"

namespace kbench::evaluators {
namespace {

class PoolOnDevice : public kbench::testing::EvaluatorTest {
 protected:
  /// Two judges on the one device.
  Pool& pool() {
    if (pool_) return *pool_;
    std::vector<std::unique_ptr<Evaluator>> judges;
    for (int i = 0; i < 2; ++i) judges.push_back(std::make_unique<JudgeProcess>(where_));
    return pool_.emplace(std::move(judges));
  }
  uint64_t add(int number, const std::string& yaml) {
    Pool::Job job;
    job.question = about(std::map<std::string, std::string>{{"candidate.yaml", yaml}});
    job.observer.on_stage = [this, number](const char* stage) {
      const std::lock_guard lock(mutex_);
      stages_[number] = stage;
    };
    job.on_outcome = [this, number](Pool::Outcome outcome) {
      const std::lock_guard lock(mutex_);
      EXPECT_TRUE(outcomes_.emplace(number, std::move(outcome)).second) << number;
    };
    return pool().add(std::move(job));
  }
  void wait_for_stage(int number, const std::string& stage) {
    for (int i = 0; i < 12000; ++i) {
      {
        const std::lock_guard lock(mutex_);
        if (stage == "any" ? stages_.contains(number) : stages_[number] == stage) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << number << " never came to " << stage;
  }
  void expect_all_passed(size_t count) {
    pool().wait();
    EXPECT_EQ(outcomes_.size(), count);
    for (const auto& [number, outcome] : outcomes_) {
      ASSERT_TRUE(outcome.result) << number;
      EXPECT_EQ(name_of(outcome.result->verdict), "passed") << outcome.result->message;
    }
  }

  std::mutex mutex_;
  std::map<int, std::string> stages_;
  std::map<int, Pool::Outcome> outcomes_;
  std::optional<Pool> pool_;
};

TEST_F(PoolOnDevice, JudgesAllWithTwoJudgesOneMeasurementAtATime) {
  for (int i = 0; i < 8; ++i) add(i, right());
  expect_all_passed(8);
}

TEST_F(PoolOnDevice, LosesNothingWhenAJudgeIsKilled) {
  for (int i = 0; i < 8; ++i) add(i, right());
  wait_for_stage(0, "any");
  const auto judges = kbench::testing::judges();
  ASSERT_FALSE(judges.empty());
  ::kill(judges.front(), SIGKILL);  // Once: what is killed twice is nobody's fault, and ends so.
  expect_all_passed(8);
}

TEST_F(PoolOnDevice, AJudgeOutlivesWhatIsCancelled) {
  asked_.limits.device_seconds = 60;
  constexpr int kTries = 5;  // It has a second to let go, which a busy machine may not give it.
  bool outlived = false;
  for (int i = 0; i < kTries && !outlived; ++i) {
    const uint64_t hangs = add(i, hanging());
    wait_for_stage(i, "warm-up");
    const auto judges = kbench::testing::judges();
    ASSERT_FALSE(judges.empty());
    EXPECT_TRUE(pool().cancel(hangs));
    pool().wait();
    EXPECT_TRUE(outcomes_.at(i).cancelled());
    add(kTries + i, right());
    pool().wait();
    ASSERT_TRUE(outcomes_.at(kTries + i).result);
    EXPECT_EQ(name_of(outcomes_.at(kTries + i).result->verdict), "passed");
    outlived = std::ranges::all_of(judges, kbench::testing::alive);
  }
  EXPECT_TRUE(outlived);
}

}  // namespace
}  // namespace kbench::evaluators
