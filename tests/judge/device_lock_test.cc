// One measurement at a time on a device, whoever takes it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "harness/evaluate/client/device_list.h"
#include "harness/measure/process/host_lock.h"
#include "harness/measure/vulkan/plan.h"
#include "tests/error_of.h"
#include "tests/judge/evaluator_fixture.h"
#include "tests/judge/processes.h"

namespace kbench {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using Clock = std::chrono::steady_clock;

class DeviceLock : public testing::EvaluatorTest {
 protected:
  void SetUp() override {
    EvaluatorTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    // A folder of the test's own: others measure on this device, too.
    folder_.write("locks/here", "");
    setenv("KBENCH_LOCK_FOLDER", folder_.path("locks").c_str(), 1);
    const auto all = client::list_snapshots(KBENCH_PROGRAM);
    name_ = process::device_lock_name(
        vulkan::to_string(vulkan::choose_device(all, where_.device).device_uuid));
    observer_.on_stage = [this](const char* stage) {
      const std::lock_guard hold(mutex_);
      stages_.emplace_back(stage);
    };
  }
  void TearDown() override { unsetenv("KBENCH_LOCK_FOLDER"); }

  std::vector<std::string> stages() {
    const std::lock_guard hold(mutex_);
    return stages_;
  }
  void wait_for_stage(const std::string& stage) {
    const auto limit = Clock::now() + std::chrono::seconds(60);
    while (!::testing::Value(stages(), Contains(stage)) && Clock::now() < limit) {
      std::this_thread::sleep_for(milliseconds(2));
    }
  }

  std::string name_;

 private:
  std::mutex mutex_;
  std::vector<std::string> stages_;
};

TEST_F(DeviceLock, HeldByAnotherIsWaitedForOutsideOfLimits) {
  expect_right();  // The judge is warm.
  // Less than the wait; a trial itself takes tenths of a second, on a busy machine seconds.
  asked_.limits.total_seconds = 10;
  const size_t before = stages().size();
  process::HostLock lock(name_);
  lock.take();
  Result result;
  const auto start = Clock::now();
  std::jthread evaluating([&] { result = run(right()); });
  wait_for_stage("queue");
  std::this_thread::sleep_for(milliseconds(10500));
  EXPECT_EQ(stages().back(), "queue");
  lock.release();
  evaluating.join();
  const std::chrono::duration<double> took = Clock::now() - start;
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  const auto now = stages();
  EXPECT_THAT(std::vector(now.begin() + static_cast<ptrdiff_t>(before), now.end()),
              ElementsAre("load", "compile", "warm-up", "queue", "warm-up", "sample"));
  EXPECT_GE(result.stage_s["queue"], 10.4);
  EXPECT_LE(result.wall_s, took.count() - 10.4);
}

TEST_F(DeviceLock, IsNotWaitedForOnceCancelled) {
  expect_right();
  const std::vector<pid_t> judges = testing::judges();
  process::HostLock lock(name_);
  lock.take();
  std::stop_source enough;
  std::jthread canceller([&] {
    wait_for_stage("queue");
    enough.request_stop();
  });
  EXPECT_THROW(ask(file_of(right()), enough.get_token()), Cancelled);
  lock.release();
  expect_right();
  EXPECT_EQ(testing::judges(), judges);
}

TEST_F(DeviceLock, IsNotNeededForChecking) {
  process::HostLock lock(name_);
  lock.take();
  EXPECT_EQ(name_of(check(file_of(right())).verdict), "compiles");
}

TEST_F(DeviceLock, IsHeldByOneJudgeAtATimeAndOnlyInTrials) {
  observer_.on_stage = {};
  const std::string file = file_of(right());
  const Question question = about(file);
  JudgeProcess first(where_), second(where_);
  first.evaluate(question), second.evaluate(question);  // Both are warm.
  double on_device[2] = {};
  const auto start = Clock::now();
  const auto work = [&](JudgeProcess& judge, double& seconds) {
    for (int i = 0; i < 4; ++i) {
      Result result = judge.evaluate(question);
      EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
      seconds += result.stage_s["warm_up"] + result.stage_s["wait"] + result.stage_s["sample"];
    }
  };
  {
    std::jthread one([&] { work(first, on_device[0]); });
    std::jthread other([&] { work(second, on_device[1]); });
  }
  const std::chrono::duration<double> took = Clock::now() - start;
  EXPECT_GT(on_device[0], 0);
  EXPECT_GT(on_device[1], 0);
  EXPECT_LE(on_device[0] + on_device[1], took.count());
  process::HostLock lock(name_);
  int waits = 0;
  lock.take([&] { ++waits; });
  EXPECT_EQ(waits, 0);
}

TEST_F(DeviceLock, WithoutAPlaceForItIsAnError) {
  setenv("KBENCH_LOCK_FOLDER", folder_.path("nowhere").c_str(), 1);
  const Error e = error_of([&] { run(right()); });
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_THAT(e.what(), ::testing::HasSubstr("nowhere"));
}

}  // namespace
}  // namespace kbench
