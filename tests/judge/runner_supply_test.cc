// What is made ready while samples are taken, on a device where nothing is measured by it.
#include "harness/measure/judge/runner_supply.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

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

class RunnerSupplyTest : public vulkan::DeviceTest {
 protected:
  void SetUp() override {
    vulkan::DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    options_.program = KBENCH_PROGRAM;
    options_.host_bytes = Limits{}.host_bytes;
    options_.device = vulkan::to_string(device().snapshot().device_uuid);
    store_ = std::make_unique<SlabStore>(device());
    supply_ = std::make_unique<RunnerSupply>(options_, notes_);
    supply_->use(device(), *store_, {.while_measuring = true, .hands_on = true});
  }

  CandidateSource candidate(const std::string& name, const std::string& task,
                            const std::string& author = "") {
    folder_.write(name, relu_of(task));
    CandidateSource source;
    source.path = folder_.path(name);
    source.author = author;
    return source;
  }
  static judge::EvaluateRequest request_of(const CandidateSource& candidate) {
    judge::EvaluateRequest request;
    request.question.candidate = candidate;
    request.question.preset = "smoke";
    request.more = true;
    return request;
  }
  /// Takes it and makes its task the present one, as a trial does.
  std::unique_ptr<CandidateBuild> begin_trial(const judge::EvaluateRequest& request) {
    auto build = supply_->take(request);
    runner::Refused refused;
    EXPECT_TRUE(build->loaded(refused)) << refused.message;
    supply_->ready_baseline();
    if (supply_->task() == nullptr || supply_->task()->key() != build->key()) {
      if (!supply_->take_task(*build)) supply_->make_task(*build);
    }
    supply_->task()->finish(device(), &supply_->baseline());
    runner::Built built;
    EXPECT_TRUE(build->built(built, refused)) << refused.message;
    build->attach(*supply_->task());
    build->runner().attach(Attachment::second_part(build->runner().imported()));
    build->runner().receive<runner::Attached>(kAttachSeconds);
    return build;
  }
  pid_t judge(const CandidateSource& which, bool clean, int served) {
    auto build = begin_trial(request_of(which));
    const pid_t runner = build->runner().id();
    EXPECT_EQ(build->runner().served(), served) << which.path;
    build->runner().has_run();
    supply_->put_back(std::move(build), clean);
    return runner;
  }

  testing_support::ScratchFolder folder_;
  RunnerProcess::Options options_;
  VerifiedNotes notes_;
  std::unique_ptr<SlabStore> store_;
  std::unique_ptr<RunnerSupply> supply_;
};

TEST_F(RunnerSupplyTest, NextCandidatesAndTasksAreReady) {
  const CandidateSource same = candidate("same.yaml", "level1/19"),
                        other = candidate("other.yaml", "level1/20");
  judge::EvaluateRequest measured = request_of(candidate("now.yaml", "level1/19"));
  measured.next_files = {same, other};
  judge::EvaluateRequest next = request_of(same);
  next.next_files = {other};
  auto build = begin_trial(measured);
  const TaskMemory& present = *supply_->task();
  const uint64_t given = present.given().memory(), allocated = device().allocated_bytes();
  std::unique_ptr<CandidateBuild> of_same, of_other;
  bool made_ahead = false;
  for (int i = 0; i < 8 && !made_ahead; ++i) {
    supply_->enter(Phase::running, measured);
    supply_->enter(Phase::sampling, measured);
    std::this_thread::sleep_for(milliseconds(500 * (i + 1)));
    of_same = supply_->take(next);
    if (!of_same->well() || !of_same->attached_to(present)) continue;
    of_other = supply_->take(request_of(other));
    made_ahead = of_other->well() && supply_->take_task(*of_other);
  }
  ASSERT_TRUE(made_ahead);
  runner::Built built;
  runner::Refused refused;
  EXPECT_TRUE(of_other->built(built, refused)) << refused.message;
  supply_->task()->finish(device(), &supply_->baseline());
  EXPECT_EQ(supply_->task()->key().task, parse_task_id("level1/20"));
  // Both tasks lie in the same memory.
  EXPECT_EQ(supply_->task()->given().memory(), given);
  EXPECT_EQ(device().allocated_bytes(), allocated);
}

TEST_F(RunnerSupplyTest, WhatIsAskedFirstIsBegunAndWhatWasAnnouncedIsKept) {
  const CandidateSource other = candidate("other.yaml", "level1/20");
  judge::EvaluateRequest measured = request_of(candidate("now.yaml", "level1/19"));
  measured.next_files = {other};
  auto build = begin_trial(measured);
  std::vector<judge::EvaluateRequest> sizes(2, request_of(measured.question.candidate));
  sizes[0].question.overrides["dim"] = int64_t{64};
  sizes[1].question.overrides["dim"] = int64_t{65};
  supply_->ask_first(sizes);
  bool begun = false;
  for (int i = 0; i < 8 && !begun; ++i) {
    auto first = supply_->take(sizes[0]);
    supply_->enter(Phase::running, sizes[0]);
    supply_->enter(Phase::sampling, sizes[0]);
    std::this_thread::sleep_for(milliseconds(500 * (i + 1)));
    auto second = supply_->take(sizes[1]);
    begun = second->well() && second->key().variables.contains("dim");
  }
  EXPECT_TRUE(begun);
  bool kept = false;
  for (int i = 0; i < 8 && !kept; ++i) {
    supply_->take(measured);  // It announces the other one.
    auto last = supply_->take(sizes[1]);
    supply_->enter(Phase::running, sizes[1]);
    supply_->enter(Phase::sampling, sizes[1]);
    std::this_thread::sleep_for(milliseconds(500 * (i + 1)));
    kept = supply_->take(request_of(other))->well();
  }
  EXPECT_TRUE(kept);
  supply_->ask_first({});
}

TEST_F(RunnerSupplyTest, ARunnerIsHandedOnWithinOneAuthor) {
  const CandidateSource first = candidate("a1.yaml", "level1/19", "a"),
                        second = candidate("a2.yaml", "level1/20", "a");
  const pid_t runner = judge(first, true, 0);
  EXPECT_EQ(judge(second, true, 1), runner);
  // Another author, nobody's candidates, and one that asks for it have a fresh one.
  EXPECT_NE(judge(candidate("b.yaml", "level1/19", "b"), true, 0), runner);
  EXPECT_NE(judge(candidate("c.yaml", "level1/19"), true, 0), runner);
  judge::EvaluateRequest fresh = request_of(first);
  fresh.question.rule.fresh_runners = true;
  auto build = begin_trial(fresh);
  EXPECT_NE(build->runner().id(), runner);
  EXPECT_EQ(build->runner().served(), 0);
  supply_->put_back(std::move(build), true);
  EXPECT_EQ(judge(first, false, 2), runner);
  // After anything but a clean end it is not handed on.
  EXPECT_NE(judge(second, true, 0), runner);
}

TEST_F(RunnerSupplyTest, ARunnerThatIsHandedOnKeepsTheMemoryItHasImported) {
  judge(candidate("a1.yaml", "level1/19", "a"), true, 0);
  auto build = begin_trial(request_of(candidate("a2.yaml", "level1/20", "a")));
  EXPECT_EQ(build->runner().served(), 1);
  const std::vector<uint64_t> imported = build->runner().imported();
  EXPECT_EQ(imported.size(), 2u) << "inputs and outputs, once";
  const pid_t runner = build->runner().id();
  supply_->put_back(std::move(build), true);
  supply_->make_room();
  EXPECT_EQ(judge(candidate("a3.yaml", "level1/19", "a"), true, 2), runner)
      << "it gives memory back, and goes on";
}

TEST_F(RunnerSupplyTest, RoomIsMadeOfWhatCandidatesToComeHaveImported) {
  judge::EvaluateRequest measured = request_of(candidate("now.yaml", "level1/19"));
  const CandidateSource next = candidate("next.yaml", "level1/19");
  measured.next_files = {next};
  supply_->put_back(begin_trial(measured), false);
  const auto next_after = [&](milliseconds wait, std::optional<uint64_t> make_room) {
    supply_->enter(Phase::preparing, measured);
    supply_->enter(Phase::running, measured);
    supply_->enter(Phase::sampling, measured);
    std::this_thread::sleep_for(wait);
    if (make_room) supply_->make_room(*make_room);
    const auto begun = supply_->take(request_of(next));
    return begun->well() && !begun->runner().imported().empty();
  };
  milliseconds wait(500);
  bool ready = false;
  for (int i = 0; i < 6 && !ready; ++i) {
    wait *= 2;
    ready = next_after(wait, std::nullopt);
  }
  ASSERT_TRUE(ready);
  EXPECT_TRUE(next_after(2 * wait, 1)) << "what it holds is the present task's";
  supply_->drop_baseline();
  EXPECT_FALSE(next_after(2 * wait, kAllBytes)) << "it still holds memory";
}

/// What it gave back without being waited for is not taken for what it is given next.
TEST_F(RunnerSupplyTest, ABaselineComputesInItsOwnMemoryAfterItGaveSomeBack) {
  BaselineProcess baseline(options_);
  baseline.runner().wait_open(vulkan::to_string(device().snapshot().device_uuid));
  const TaskAt relu = task_at({1, 19}, Preset::smoke), product = task_at({1, 1}, Preset::smoke);
  const auto memory_of = [&](const TaskAt& key) {
    auto memory = std::make_unique<TaskMemory>(device(), *store_, baseline, key, 1);
    memory->finish(device(), &baseline);
    return memory;
  };
  memory_of(product).reset();
  store_->drop_unused(1);
  baseline.runner().begin_release(*store_);
  store_->drop_unused();
  const auto memory = memory_of(relu);
  const vulkan::Region in = memory->given(0), out = memory->truth().tensor(0);
  std::vector<float> values(in.size / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? -1.0f : static_cast<float>(i);
  device().upload(*in.buffer, in.offset, std::as_bytes(std::span(values)));
  baseline.runner().send(runner::Run{.seconds = 10});
  baseline.runner().receive<runner::Ran>(20);
  std::vector<float> computed(values.size());
  device().download(*out.buffer, out.offset, std::as_writable_bytes(std::span(computed)));
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(computed[i], std::max(values[i], 0.0f)) << i;
}

/// All memory that a process has mapped it has to unmap before that is free.
TEST_F(RunnerSupplyTest, FewBaselineProcessesMapMemoryWhereOneFindsWhatAnotherHasCompiled) {
  notes_ = VerifiedNotes(process::OwnFolder(folder_.path("cache")), "build device driver");
  supply_->use(device(), *store_,
               {.while_measuring = true, .hands_on = true, .shares_pipelines = true});
  std::vector<CandidateSource> all;
  for (const char* task : {"level1/19", "level1/20", "level1/21", "level1/22", "level1/25"}) {
    all.push_back(candidate(std::to_string(all.size()) + ".yaml", task));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    judge::EvaluateRequest request = request_of(all[i]);
    request.next_files.assign(all.begin() + static_cast<ptrdiff_t>(i) + 1, all.end());
    auto build = begin_trial(request_of(all[i]));
    // Baselines are made, and no memory: the trial that needs it makes it.
    supply_->enter(Phase::running, request);
    std::this_thread::sleep_for(milliseconds(300));
    supply_->put_back(std::move(build), false);
    EXPECT_EQ(supply_->mapping_memory(), 1u) << i;
  }
}

TEST_F(RunnerSupplyTest, ASourceThatIsAskedForAgainIsItsAuthors) {
  const auto build = begin_trial(request_of(candidate("a.yaml", "level1/19", "a")));
  EXPECT_EQ(build->read_source().author, "a");
}

TEST_F(RunnerSupplyTest, WithoutHandingOnEveryRunnerIsFresh) {
  supply_->use(device(), *store_, RunnerSupply::rules_of(device().snapshot()));
  const CandidateSource source = candidate("a.yaml", "level1/19", "a");
  EXPECT_NE(judge(source, true, 0), judge(source, true, 0));
}

TEST_F(RunnerSupplyTest, AnUnannouncedRequestIsBegunAnew) {
  judge::EvaluateRequest measured = request_of(candidate("now.yaml", "level1/19"));
  measured.next_files = {candidate("next.yaml", "level1/20")};
  const auto build = begin_trial(measured);
  supply_->enter(Phase::running, measured);
  const auto another = supply_->take(request_of(candidate("another.yaml", "level1/21")));
  EXPECT_FALSE(another->well());
  runner::Refused refused;
  EXPECT_TRUE(another->loaded(refused)) << refused.message;
  EXPECT_EQ(another->key().task, parse_task_id("level1/21"));
  supply_->quiet();
  EXPECT_FALSE(supply_->take_task(*another));
}

TEST_F(RunnerSupplyTest, ALostBaselineIsMadeAnewWithItsTask) {
  const judge::EvaluateRequest request = request_of(candidate("now.yaml", "level1/19"));
  supply_->put_back(begin_trial(request), false);
  const pid_t before = supply_->baseline().runner().id();
  supply_->drop_baseline();
  EXPECT_EQ(supply_->task(), nullptr);
  const auto build = begin_trial(request);
  EXPECT_NE(supply_->baseline().runner().id(), before);
}

}  // namespace
}  // namespace kbench::judge
