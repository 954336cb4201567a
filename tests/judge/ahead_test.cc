// What is made ready while samples are taken, on a device where nothing is measured by it.
#include "harness/measure/judge/ahead.h"

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

class AheadTest : public vulkan::DeviceTest {
 protected:
  void SetUp() override {
    vulkan::DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    runners_.program = KBENCH_PROGRAM;
    runners_.host_bytes = Limits{}.host_bytes;
    runners_.device = vulkan::to_string(device().snapshot().device_uuid);
    opponent_ = new_opponent();
    ahead_ = std::make_unique<Ahead>(
        runners_, [this] { return new_opponent(); }, dismissed_);
    ahead_->use(device(), /*while_measuring=*/true);
  }
  std::unique_ptr<Opponent> new_opponent() { return std::make_unique<Opponent>(runners_); }

  CandidateSource candidate(const std::string& name, const std::string& task) {
    folder_.write(name, relu_of(task));
    CandidateSource source;
    source.path = folder_.path(name);
    return source;
  }
  static client::Request request_of(const CandidateSource& candidate) {
    client::Request request;
    request.candidate = candidate;
    request.options.preset = "smoke";
    request.more = true;
    return request;
  }
  /// Ready once what a candidacy asks for has been done.
  static TaskAt key_of(Candidacy& candidacy) {
    runner::Refused refused;
    EXPECT_TRUE(candidacy.loaded(refused)) << refused.message;
    return candidacy.key();
  }

  testing_support::ScratchFolder folder_;
  RunnerProcess::Options runners_;
  std::unique_ptr<Opponent> opponent_;
  Dismissed dismissed_;
  std::unique_ptr<Ahead> ahead_;
};

TEST_F(AheadTest, TheNextCandidatesAndTheNextTasksBenchAreThereWhenTheyAreAskedFor) {
  const CandidateSource now = candidate("now.yaml", "level1/19"),
                        same = candidate("same.yaml", "level1/19"),
                        other = candidate("other.yaml", "level1/20");
  client::Request measured = request_of(now);
  measured.next_files = {same, other};
  auto candidacy = ahead_->candidacy_of(measured);
  EXPECT_FALSE(candidacy->well());  // Nobody knew of it.
  const TaskAt key = key_of(*candidacy);
  opponent_->runner().wait_open(runners_.device);
  Bench bench(device(), *opponent_, key, 1, nullptr);
  bench.finish(device(), *opponent_);

  TaskAt next_key = key;
  next_key.task = parse_task_id("level1/20");
  std::optional<ReadyBench> ready;
  for (int i = 0; i < 600 && !ready; ++i) {
    ahead_->at_runs(measured, bench);
    ahead_->at_samples();
    std::this_thread::sleep_for(milliseconds(100));
    ready = ahead_->bench_of(next_key);
  }
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->bench->key(), next_key);
  ready->bench->finish(device(), *ready->opponent);

  const auto of_same = ahead_->candidacy_of(request_of(same));
  EXPECT_TRUE(of_same->well());  // Before it is asked anything.
  EXPECT_TRUE(of_same->attached_to(bench));
  const auto of_other = ahead_->candidacy_of(request_of(other));
  EXPECT_TRUE(of_other->well());
  EXPECT_EQ(of_other->key(), next_key);
  runner::Built built;
  runner::Refused refused;
  EXPECT_TRUE(of_other->built(built, refused)) << refused.message;

  // Memory that is left is given back, and a bench for another task than is asked for.
  const uint64_t before = device().allocated_bytes();
  ahead_->leave(*std::move(ready));
  ahead_->make_room();
  EXPECT_LT(device().allocated_bytes(), before);
}

TEST_F(AheadTest, TheBenchesOfTwoTasksAreThereAtATime) {
  const uint64_t before = device().allocated_bytes();
  client::Request measured = request_of(candidate("now.yaml", "level1/19"));
  measured.next_files = {candidate("next.yaml", "level1/20"), candidate("last.yaml", "level1/21")};
  auto candidacy = ahead_->candidacy_of(measured);
  TaskAt key = key_of(*candidacy);
  opponent_->runner().wait_open(runners_.device);
  Bench bench(device(), *opponent_, key, 1, nullptr);
  bench.finish(device(), *opponent_);

  const uint64_t with_both = before + 3 * bench.bytes();  // They are as large as this one.
  ahead_->pause();
  for (int i = 0; i < 600 && device().allocated_bytes() < with_both; ++i) {
    ahead_->at_runs(measured, bench);
    ahead_->at_samples();
    std::this_thread::sleep_for(milliseconds(100));
    ahead_->pause();
  }
  for (const char* task : {"level1/20", "level1/21"}) {
    key.task = parse_task_id(task);
    std::optional<ReadyBench> ready = ahead_->bench_of(key);
    ASSERT_TRUE(ready) << task;
    ready->bench->finish(device(), *ready->opponent);
    ahead_->leave(*std::move(ready));
  }
}

TEST_F(AheadTest, AnOpponentKeepsWhatItHasImportedWhereItFits) {
  auto candidacy = ahead_->candidacy_of(request_of(candidate("now.yaml", "level1/19")));
  TaskAt key = key_of(*candidacy);
  opponent_->runner().wait_open(runners_.device);
  auto bench = std::make_unique<Bench>(device(), *opponent_, key, 1, nullptr);
  bench->finish(device(), *opponent_);
  const uint64_t given = bench->given().memory(), truth = bench->truth().memory();
  const std::vector<uint64_t> imported = opponent_->attachment().memories();
  EXPECT_EQ(std::set(imported.begin(), imported.end()), (std::set{given, truth}));

  key.task = parse_task_id("level1/20");
  bench = std::make_unique<Bench>(device(), *opponent_, key, 2, std::move(bench));
  bench->finish(device(), *opponent_);
  EXPECT_EQ(bench->given().memory(), given);
  EXPECT_EQ(bench->truth().memory(), truth);
  EXPECT_EQ(opponent_->attachment().memories(), imported);

  key.task = parse_task_id("level1/6");  // Larger inputs.
  bench = std::make_unique<Bench>(device(), *opponent_, key, 3, std::move(bench));
  bench->finish(device(), *opponent_);
  EXPECT_NE(bench->given().memory(), given);
  EXPECT_EQ(bench->truth().memory(), truth);
  opponent_->let_go();
  EXPECT_TRUE(opponent_->attachment().memories().empty());
}

TEST_F(AheadTest, ADismissedRunnerEndsWhenItIsTold) {
  EXPECT_TRUE(dismissed_.all_ended());
  dismissed_.hold(std::make_unique<RunnerProcess>(Role::candidate, runners_));
  dismissed_.hold(std::make_unique<RunnerProcess>(Role::candidate, runners_));  // Ends the first.
  dismissed_.wait();
  EXPECT_TRUE(dismissed_.all_ended());
  dismissed_.end_held();
  dismissed_.wait();
  EXPECT_TRUE(dismissed_.all_ended());
}

TEST_F(AheadTest, SomethingElseThanWasSaidIsBegunAnew) {
  client::Request measured = request_of(candidate("now.yaml", "level1/19"));
  measured.next_files = {candidate("next.yaml", "level1/20")};
  auto candidacy = ahead_->candidacy_of(measured);
  opponent_->runner().wait_open(runners_.device);
  Bench bench(device(), *opponent_, key_of(*candidacy), 1, nullptr);
  bench.finish(device(), *opponent_);
  ahead_->at_runs(measured, bench);
  const auto another = ahead_->candidacy_of(request_of(candidate("another.yaml", "level1/21")));
  EXPECT_FALSE(another->well());
  EXPECT_EQ(key_of(*another).task, parse_task_id("level1/21"));
  ahead_->quiet();
  EXPECT_FALSE(ahead_->bench_of(bench.key()));
}

}  // namespace
}  // namespace kbench::judge
