// What is made ready while samples are taken, on a device where nothing is measured by it.
#include "harness/measure/judge/prefetcher.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/candidate/support.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::judge {
namespace {

using std::chrono::milliseconds;

std::string relu_of(const std::string& task) {
  return "kbench: 1\ntask: " + task +
         "\nkernels:\n  k:\n    source: |\n"
         "      #version 450\n      layout(local_size_x = 64) in;\n"
         "      layout(binding = 0) readonly buffer X { float x[]; };\n"
         "      layout(binding = 1) writeonly buffer Y { float y[]; };\n"
         "      void main() { y[gl_GlobalInvocationID.x] = max(x[gl_GlobalInvocationID.x], 0); }\n"
         "dispatch:\n  - {kernel: k, bind: [x, output], groups: 1}\n";
}

class PrefetcherTest : public vulkan::DeviceTest {
 protected:
  void SetUp() override {
    vulkan::DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    runners_.program = KBENCH_PROGRAM;
    runners_.host_bytes = Limits{}.host_bytes;
    runners_.device = vulkan::to_string(device().snapshot().device_uuid);
    baseline_ = new_baseline();
    prefetcher_ = std::make_unique<Prefetcher>(
        runners_, [this] { return new_baseline(); }, retiring_);
    prefetcher_->use(device(), /*while_measuring=*/true);
  }
  std::unique_ptr<BaselineProcess> new_baseline() {
    return std::make_unique<BaselineProcess>(runners_);
  }

  CandidateSource candidate(const std::string& name, const std::string& task) {
    folder_.write(name, relu_of(task));
    CandidateSource source;
    source.path = folder_.path(name);
    return source;
  }
  static client::EvaluateRequest request_of(const CandidateSource& candidate) {
    client::EvaluateRequest request;
    request.candidate = candidate;
    request.options.preset = "smoke";
    request.more = true;
    return request;
  }
  /// Ready once what a build asks for has been done.
  static TaskAt key_of(CandidateBuild& build) {
    runner::Refused refused;
    EXPECT_TRUE(build.loaded(refused)) << refused.message;
    return build.key();
  }

  testing_support::ScratchFolder folder_;
  RunnerProcess::Options runners_;
  std::unique_ptr<BaselineProcess> baseline_;
  RetiringRunners retiring_;
  std::unique_ptr<Prefetcher> prefetcher_;
};

TEST_F(PrefetcherTest, NextCandidatesAndTaskMemoryAreReady) {
  const CandidateSource now = candidate("now.yaml", "level1/19"),
                        same = candidate("same.yaml", "level1/19"),
                        other = candidate("other.yaml", "level1/20");
  client::EvaluateRequest measured = request_of(now);
  measured.next_files = {same, other};
  auto build = prefetcher_->take_build(measured);
  EXPECT_FALSE(build->well());  // It was not announced.
  const TaskAt key = key_of(*build);
  baseline_->runner().wait_open(runners_.device);
  TaskMemory task_memory(device(), *baseline_, key, 1, nullptr);
  task_memory.finish(device(), *baseline_);

  TaskAt next_key = key;
  next_key.task = parse_task_id("level1/20");
  std::optional<ReadyTask> ready;
  for (int i = 0; i < 600 && !ready; ++i) {
    prefetcher_->at_runs(measured, task_memory);
    prefetcher_->at_samples();
    std::this_thread::sleep_for(milliseconds(100));
    ready = prefetcher_->take_memory(next_key);
  }
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->memory->key(), next_key);
  ready->memory->finish(device(), *ready->baseline);

  const auto of_same = prefetcher_->take_build(request_of(same));
  EXPECT_TRUE(of_same->well());  // Before it is asked anything.
  EXPECT_TRUE(of_same->attached_to(task_memory));
  const auto of_other = prefetcher_->take_build(request_of(other));
  EXPECT_TRUE(of_other->well());
  EXPECT_EQ(of_other->key(), next_key);
  runner::Built built;
  runner::Refused refused;
  EXPECT_TRUE(of_other->built(built, refused)) << refused.message;

  // Memory that is left is given back, and a task memory for another task than is asked for.
  const uint64_t before = device().allocated_bytes();
  prefetcher_->leave(*std::move(ready));
  prefetcher_->make_room();
  EXPECT_LT(device().allocated_bytes(), before);
}

TEST_F(PrefetcherTest, TwoTasksMemoriesAreReadyAtATime) {
  const uint64_t before = device().allocated_bytes();
  client::EvaluateRequest measured = request_of(candidate("now.yaml", "level1/19"));
  measured.next_files = {candidate("next.yaml", "level1/20"), candidate("last.yaml", "level1/21")};
  auto build = prefetcher_->take_build(measured);
  TaskAt key = key_of(*build);
  baseline_->runner().wait_open(runners_.device);
  TaskMemory task_memory(device(), *baseline_, key, 1, nullptr);
  task_memory.finish(device(), *baseline_);

  const uint64_t with_both = before + 3 * task_memory.bytes();  // They are as large as this one.
  prefetcher_->pause();
  for (int i = 0; i < 600 && device().allocated_bytes() < with_both; ++i) {
    prefetcher_->at_runs(measured, task_memory);
    prefetcher_->at_samples();
    std::this_thread::sleep_for(milliseconds(100));
    prefetcher_->pause();
  }
  for (const char* task : {"level1/20", "level1/21"}) {
    key.task = parse_task_id(task);
    std::optional<ReadyTask> ready = prefetcher_->take_memory(key);
    ASSERT_TRUE(ready) << task;
    ready->memory->finish(device(), *ready->baseline);
    prefetcher_->leave(*std::move(ready));
  }
}

TEST_F(PrefetcherTest, ABaselineKeepsItsImportsWhereTheyFit) {
  auto build = prefetcher_->take_build(request_of(candidate("now.yaml", "level1/19")));
  TaskAt key = key_of(*build);
  baseline_->runner().wait_open(runners_.device);
  auto task_memory = std::make_unique<TaskMemory>(device(), *baseline_, key, 1, nullptr);
  task_memory->finish(device(), *baseline_);
  const uint64_t given = task_memory->given().memory(), truth = task_memory->truth().memory();
  const std::vector<uint64_t> imported = baseline_->attachment().memories();
  EXPECT_EQ(std::set(imported.begin(), imported.end()), (std::set{given, truth}));

  key.task = parse_task_id("level1/20");
  task_memory = std::make_unique<TaskMemory>(device(), *baseline_, key, 2, std::move(task_memory));
  task_memory->finish(device(), *baseline_);
  EXPECT_EQ(task_memory->given().memory(), given);
  EXPECT_EQ(task_memory->truth().memory(), truth);
  EXPECT_EQ(baseline_->attachment().memories(), imported);

  key.task = parse_task_id("level1/6");  // Larger inputs.
  task_memory = std::make_unique<TaskMemory>(device(), *baseline_, key, 3, std::move(task_memory));
  task_memory->finish(device(), *baseline_);
  EXPECT_NE(task_memory->given().memory(), given);
  EXPECT_EQ(task_memory->truth().memory(), truth);
  baseline_->release_memory();
  EXPECT_TRUE(baseline_->attachment().memories().empty());
}

TEST_F(PrefetcherTest, ARetiringRunnerEndsWhenItIsTold) {
  EXPECT_TRUE(retiring_.all_ended());
  retiring_.hold(std::make_unique<RunnerProcess>(Role::candidate, runners_));
  retiring_.hold(std::make_unique<RunnerProcess>(Role::candidate, runners_));  // Ends the first.
  retiring_.wait();
  EXPECT_TRUE(retiring_.all_ended());
  retiring_.end_held();
  retiring_.wait();
  EXPECT_TRUE(retiring_.all_ended());
}

TEST_F(PrefetcherTest, AnUnannouncedRequestIsBegunAnew) {
  client::EvaluateRequest measured = request_of(candidate("now.yaml", "level1/19"));
  measured.next_files = {candidate("next.yaml", "level1/20")};
  auto build = prefetcher_->take_build(measured);
  baseline_->runner().wait_open(runners_.device);
  TaskMemory task_memory(device(), *baseline_, key_of(*build), 1, nullptr);
  task_memory.finish(device(), *baseline_);
  prefetcher_->at_runs(measured, task_memory);
  const auto another = prefetcher_->take_build(request_of(candidate("another.yaml", "level1/21")));
  EXPECT_FALSE(another->well());
  EXPECT_EQ(key_of(*another).task, parse_task_id("level1/21"));
  prefetcher_->quiet();
  EXPECT_FALSE(prefetcher_->take_memory(task_memory.key()));
}

}  // namespace
}  // namespace kbench::judge
