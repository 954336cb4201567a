// What is made ready next, in situation after situation.
#include "harness/measure/judge/supply_policy.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace kbench::judge {
namespace {

using runner::RunnerKind;
using StepKind = Step::What;
using enum WaitingRunner::State;

std::string text_of(const Step& step) {
  static constexpr const char* kNames[] = {
      "nothing",         "look_again",    "end_runner", "start_runner",     "start_baseline",
      "begin_candidate", "make_baseline", "make_task",  "attach_candidate", "wait_for_device"};
  std::string text = kNames[static_cast<int>(step.what)];
  if (step.what == StepKind::start_runner && step.kind != RunnerKind::vulkan) {
    text += " for " + std::string(name_of(step.kind));
  }
  if (step.what == StepKind::begin_candidate) {
    text += " " + std::to_string(step.candidate) + " in " + std::to_string(step.runner);
  }
  return text;
}

/// A trial takes samples; two candidates follow, and nothing is there for them.
SupplyState sampling() {
  SupplyState state;
  state.phase = Phase::sampling;
  state.memory_may_be_made = true;
  state.more = true;
  state.coming = {{}, {}};
  state.needs_baseline = true;
  state.most_fresh = 6;
  state.most_begun = 12;
  return state;
}

struct Case {
  const char* name;
  std::function<void(SupplyState&)> with;
  const char* step;
};

class SupplyPolicy : public ::testing::TestWithParam<Case> {};

TEST_P(SupplyPolicy, Step) {
  SupplyState state = sampling();
  GetParam().with(state);
  EXPECT_EQ(text_of(next_step(state)), GetParam().step);
}

/// As many runners of author a as one may have: one is measured, the others compile.
void give_all_runners(SupplyState& s) { s.working["a"] = kRunnersAnAuthor; }

const Case kCases[] = {
    {"ARunnerIsStartedFirst", [](auto&) {}, "start_runner"},
    {"TheStoppedRunnerEndsBeforeAnything", [](auto& s) { s.runner_to_end = true; }, "end_runner"},
    {"ButNotWhileTheCandidateFirstRuns",
     [](auto& s) {
       s.runner_to_end = true;
       s.phase = Phase::running;
     },
     "start_runner"},
    {"OneStartedRunnerIsNotOpen", [](auto& s) { s.waiting = {{started}}; }, "start_runner"},
    {"OneForEachCandidateThatFollows", [](auto& s) { s.waiting = {{opening}}; }, "start_runner"},
    {"NoMoreThanFollow",
     [](auto& s) {
       s.waiting = {{opening}, {opening}};
     },
     "start_baseline"},
    {"NoMoreThanTheLimit",
     [](auto& s) {
       s.most_fresh = 1;
       s.waiting = {{opening}};
     },
     "start_baseline"},
    {"NoneWhereNothingFollows",
     [](auto& s) {
       s.more = false;
       s.coming.clear();
     },
     "nothing"},
    {"ForTorchIfTheNextNeedsIt", [](auto& s) { s.coming[0].kind = RunnerKind::torch; },
     "start_runner for torch"},
    {"ARunnerForOthersDoesNotServeTorch",
     [](auto& s) {
       s.coming = {{.kind = RunnerKind::torch}};
       s.waiting = {{open}};
     },
     "start_runner for torch"},
    {"UnknownOnesAreTakenToBeAlike",
     [](auto& s) {
       s.coming.clear();
       s.now.kind = RunnerKind::torch;
     },
     "start_runner for torch"},
    {"ABaselineBeforeACandidateIsBegun",
     [](auto& s) {
       s.waiting = {{open}, {open}};
     },
     "start_baseline"},
    {"NoBaselineForAMereCheck",
     [](auto& s) {
       s.needs_baseline = false;
       s.waiting = {{open}, {open}};
     },
     "begin_candidate 0 in 0"},
    {"TheFirstCandidateInARunnerThatIsOpen",
     [](auto& s) {
       s.waiting = {{opening}, {open}};
       s.baselines_opening = 1;
     },
     "begin_candidate 0 in 1"},
    {"TheNextAfterIt",
     [](auto& s) {
       s.coming[0].begun = true;
       s.waiting = {{open}};
       s.baselines_opening = 1;
     },
     "begin_candidate 1 in 0"},
    {"NoMoreCandidatesThanTheLimit",
     [](auto& s) {
       s.begun = s.most_begun;
       s.waiting = {{open}, {open}};
       s.baselines_open = 1;
     },
     "nothing"},
    {"AnAuthorsRunnersComeBack",
     [](auto& s) {
       s.coming = {{.author = "a"}, {.author = "a"}};
       give_all_runners(s);
     },
     "start_baseline"},
    {"AnAuthorWithFewerGetsOneMore",
     [](auto& s) {
       s.coming = {{.author = "a"}, {.author = "a"}};
       s.working["a"] = kRunnersAnAuthor - 1;
     },
     "start_runner"},
    {"TheAuthorsOwnRunnerBeforeAFreshOne",
     [](auto& s) {
       s.coming = {{.author = "a"}, {.author = "b"}};
       s.waiting = {{open}, {.state = open, .author = "b"}, {.state = open, .author = "a"}};
       s.baselines_open = 1;
     },
     "begin_candidate 0 in 2"},
    {"NeverAnotherAuthorsRunner",
     [](auto& s) {
       s.coming = {{.author = "a"}};
       s.waiting = {{.state = open, .author = "b"}};
     },
     "start_runner"},
    {"AndNeverForACandidateOfNobody",
     [](auto& s) {
       s.coming = {{}};
       s.waiting = {{.state = open, .author = "b"}};
     },
     "start_runner"},
    {"AFreshOneStaysForOthersWhereAnAuthorHasAll",
     [](auto& s) {
       s.coming = {{.author = "a"}};
       give_all_runners(s);
       s.waiting = {{open}};
       s.baselines_open = 1;
     },
     "nothing"},
    {"TheNextTasksBaseline",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.tasks_without_baseline = 1;
       s.baselines_open = 1;
     },
     "make_baseline"},
    {"AlsoWhileTheCandidateRuns",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.tasks_without_baseline = 1;
       s.baselines_open = 1;
       s.memory_may_be_made = false;
     },
     "make_baseline"},
    {"ThenItsMemory",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.task_lacks_memory = true;
       s.baselines_made = 1;
     },
     "make_task"},
    {"NotWhileTheCandidateRuns",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.task_lacks_memory = true;
       s.baselines_made = 1;
       s.memory_may_be_made = false;
     },
     "look_again"},
    {"NotWhileARunnerEnds",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.task_lacks_memory = true;
       s.baselines_made = 1;
       s.runner_ending = true;
     },
     "look_again"},
    {"AnotherBaselineWhereTheLastOneHasATask",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.tasks_without_baseline = 1;
       s.tasks_ready = 1;
     },
     "start_baseline"},
    {"SeveralWhereTasksWaitForThem",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.tasks_without_baseline = 2;
       s.baselines_opening = 1;
     },
     "start_baseline"},
    {"UntilSoManyAreMade",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.tasks_without_baseline = 1;
       s.baselines_made = s.most_baselines;
       s.tasks_ready = s.most_tasks;
     },
     "nothing"},
    {"NoMoreMemoryThanTheLimit",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.task_lacks_memory = true;
       s.baselines_made = 1;
       s.tasks_ready = s.most_tasks;
     },
     "nothing"},
    {"ACandidateIsAttachedToItsTask",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{open}};
       s.baselines_open = 1;
       s.candidate_lacks_memory = true;
     },
     "attach_candidate"},
    {"WaitsForWhatOpens",
     [](auto& s) {
       s.coming = {{.begun = true}};
       s.waiting = {{opening}};
       s.baselines_open = 1;
     },
     "wait_for_device"},
};

INSTANTIATE_TEST_SUITE_P(Case, SupplyPolicy, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(ChooseRunner, PrefersTheAuthorsThenTheKindThenTheOpenOne) {
  const std::vector<WaitingRunner> waiting = {{started},
                                              {opening},
                                              {.state = open, .kind = RunnerKind::torch},
                                              {open},
                                              {.state = open, .author = "a"},
                                              {.state = open, .author = "b"}};
  EXPECT_EQ(choose_runner(waiting, {.author = "a"}, false), 4u);
  EXPECT_EQ(choose_runner(waiting, {.author = "c"}, false), 3u);
  EXPECT_EQ(choose_runner(waiting, {}, false), 3u);
  EXPECT_EQ(choose_runner(waiting, {.kind = RunnerKind::torch}, false), 2u);
  EXPECT_EQ(choose_runner({waiting[0], waiting[1]}, {}, false), 1u);
  EXPECT_EQ(choose_runner({waiting[0], waiting[1]}, {}, true), std::nullopt);
  EXPECT_EQ(choose_runner({waiting[2]}, {}, true), std::nullopt);
  EXPECT_EQ(choose_runner({waiting[5]}, {.author = "a"}, false), std::nullopt);
  EXPECT_EQ(choose_runner({waiting[5]}, {}, false), std::nullopt);
}

}  // namespace
}  // namespace kbench::judge
