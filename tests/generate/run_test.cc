// A run as a whole, with models and devices that are functions: what is asked, what is on disk, and
// that going on asks for nothing twice.

#include <atomic>
#include <set>

#include "tests/error_of.h"
#include "tests/generate/support.h"

namespace kbench::testing {
namespace {
using generate::RunOptions;
using generate::RunOutcome;
using generate::Scheduler;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::shared_ptr<ScriptedModel> model(const std::string& name, ScriptedModel::Script script) {
  return std::make_shared<ScriptedModel>(name, std::move(script));
}

/// Wrong at first, right from the second attempt on.
std::shared_ptr<ScriptedModel> learner(const std::string& name = "learner") {
  return model(name, [](const Asked& asked) {
    return answer_with(asked.attempt == 1 ? "wrong" : "right 1.5",
                       std::to_string(asked.sample) + "." + std::to_string(asked.attempt),
                       asked.task);
  });
}

TEST_F(RunTest, AsksJudgesAndRepairsUntilTheGoalIsReached) {
  const auto one = learner();
  const RunOutcome outcome = run(options(plan({"learner"}, 3), {one}, 5));
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(outcome.stop, Scheduler::Stop::none);
  EXPECT_EQ(outcome.status.attempts, 6);
  EXPECT_EQ(outcome.status.passed, 3);
  EXPECT_EQ(outcome.status.requests, 6);
  EXPECT_EQ(outcome.status.spent.input, 600);
  const std::vector<Attempt> all = attempts();
  ASSERT_THAT(all, SizeIs(6));
  for (const Attempt& attempt : all) {
    EXPECT_EQ(attempt.model, "learner");
    EXPECT_EQ(attempt.parent, attempt.attempt - 1);
    EXPECT_EQ(attempt.correct(), attempt.attempt == 2);
    EXPECT_EQ(attempt.candidate, "candidates/learner/level1_019/s0" +
                                     std::to_string(attempt.sample) + "/a" +
                                     std::to_string(attempt.attempt) + "/candidate.yaml");
    EXPECT_EQ(load_candidate(folder() + "/" + attempt.candidate).hash, attempt.candidate_hash);
    EXPECT_TRUE(std::filesystem::exists(generate::RunFolder(folder()).prompt(attempt.prompt_hash)));
  }
  EXPECT_THAT(results(), SizeIs(6));
  EXPECT_EQ(results().at(0).set, "learner");
  EXPECT_THAT(one->prompts().at("level1/19 s2 a2").back().text, HasSubstr("Verdict: wrong_values"));
}

TEST_F(RunTest, IsDoneWhenItIsDone) {
  run(options(plan({"learner"}, 2), {learner()}, 3));
  const auto again = learner();
  const RunOutcome outcome = run(options(plan({"learner"}, 2), {again}, 3));
  EXPECT_TRUE(outcome.complete());
  EXPECT_THAT(again->requests(), SizeIs(0));
  EXPECT_EQ(outcome.status.attempts, 4);
  EXPECT_EQ(outcome.status.spent.input, 400);
  EXPECT_THAT(attempts(), SizeIs(4));
}

TEST_F(RunTest, AsksForMoreSamplesTasksAndModelsOnly) {
  run(options(plan({"learner"}, 1), {learner()}, 2));
  const auto first = learner(), second = learner("second");
  run(options(plan({"learner", "second"}, 2, "1/19,1/20"), {first, second}, 2));
  EXPECT_THAT(first->requests(), SizeIs(6));
  EXPECT_THAT(first->requests(), ::testing::Not(::testing::Contains(Pair("level1/19 s1 a1", 1))));
  EXPECT_THAT(second->requests(), SizeIs(8));
}

TEST_F(RunTest, GoesOnWithChainsWhereMoreAttemptsAreAskedFor) {
  const auto never = [](const Asked& asked) {
    return answer_with("wrong " + std::to_string(asked.attempt), std::to_string(asked.sample));
  };
  RunOptions few = options(plan({"m"}, 2), {model("m", never)}, 2);
  few.episode.shown = Shown::history;
  run(std::move(few));
  const auto more = model("m", never);
  RunOptions many = options(plan({"m"}, 2), {more}, 4);
  many.episode.shown = Shown::history;
  run(std::move(many));
  EXPECT_THAT(more->requests(),
              UnorderedElementsAre(Pair("level1/19 s1 a3", 1), Pair("level1/19 s1 a4", 1),
                                   Pair("level1/19 s2 a3", 1), Pair("level1/19 s2 a4", 1)));
  // Both earlier attempts with their own feedback, though another process heard it.
  const std::vector<Message> prompt = more->prompts().at("level1/19 s1 a3");
  ASSERT_THAT(prompt, SizeIs(6));
  EXPECT_THAT(prompt[3].text, HasSubstr("wrong 1"));
  EXPECT_THAT(prompt[5].text, HasSubstr("wrong 2"));
}

TEST_F(RunTest, JudgesIdenticalCandidatesOnceAndCountsEach) {
  RunOptions all = options(plan({"a", "b"}, 4),
                           {model("a", [](const Asked&) { return answer_with("right 2"); }),
                            model("b", [](const Asked&) { return answer_with("right 2"); })});
  for (auto& member : all.members) member.connections = 3;
  const RunOutcome outcome = run(std::move(all));
  EXPECT_EQ(outcome.status.judged, 1);
  EXPECT_EQ(outcome.status.reused, 7);
  EXPECT_EQ(outcome.status.passed, 8);
  std::set<std::string> places;
  for (const Result& result : results()) places.insert(result.set + "/" + result.candidate);
  EXPECT_THAT(places, SizeIs(8));
}

/// Right with these speedups, a sample each.
std::shared_ptr<ScriptedModel> racer(std::vector<std::string> speedups) {
  return model("racer", [speedups = std::move(speedups)](const Asked& asked) {
    return answer_with("right " + speedups.at(size_t(asked.sample) - 1),
                       std::to_string(asked.sample));
  });
}

TEST_F(RunTest, MeasuresAWinnerAgainThatWasChosenAmongSeveral) {
  const auto confirmed = [&] { return read_results(folder() + "/confirmed.jsonl"); };
  const std::vector<std::string> speedups = {"1.2", "1.5", "1.1", "1.9"};
  run(options(plan({"racer"}, 1), {racer(speedups)}));
  EXPECT_THAT(confirmed(), SizeIs(0)) << "of one there is no choice";

  RunOptions three = options(plan({"racer"}, 3), {racer(speedups)});
  std::vector<std::string> authors, told;
  evaluator_->on_judge = [&](const Question& question, const Turn&, Result&) {
    authors.push_back(question.candidate.author);
  };
  three.on_confirmed = [&](const Result& result, size_t done, size_t all) {
    told.push_back(result.set + " " + std::to_string(done) + "/" + std::to_string(all));
  };
  EXPECT_EQ(run(std::move(three)).status.confirmed, 1);
  ASSERT_THAT(confirmed(), SizeIs(1));
  EXPECT_EQ(confirmed()[0].set, "racer");
  EXPECT_EQ(confirmed()[0].candidate, "level1_019/s02/a1/candidate.yaml");
  EXPECT_EQ(confirmed()[0].candidate_hash, attempts().at(1).candidate_hash);
  EXPECT_TRUE(confirmed()[0].correct());
  EXPECT_THAT(authors, ElementsAre("racer", "racer", "")) << "in a process of its own";
  EXPECT_THAT(told, ElementsAre("racer 1/1"));

  EXPECT_EQ(run(options(plan({"racer"}, 3), {racer(speedups)})).status.confirmed, 0);
  EXPECT_EQ(run(options(plan({"racer"}, 4), {racer(speedups)})).status.confirmed, 1);
  ASSERT_THAT(confirmed(), SizeIs(2));
  EXPECT_EQ(confirmed()[1].candidate, "level1_019/s04/a1/candidate.yaml");
}

TEST_F(RunTest, MeasuresAWinnerAgainOnceMoreWhereThatFailedThroughNoFaultOfIts) {
  RunOptions first = options(plan({"racer"}, 2), {racer({"1.2", "1.5"})});
  evaluator_->on_judge = [&](const Question& question, const Turn&, Result& result) {
    if (question.candidate.author.empty()) result.verdict = Verdict::harness_error;
  };
  EXPECT_TRUE(run(std::move(first)).complete());
  run(options(plan({"racer"}, 2), {racer({"1.2", "1.5"})}));
  const std::vector<Result> confirmed = read_results(folder() + "/confirmed.jsonl");
  ASSERT_THAT(confirmed, SizeIs(2));
  EXPECT_EQ(confirmed[0].verdict, Verdict::harness_error);
  EXPECT_TRUE(confirmed[1].correct());
}

TEST_F(RunTest, MeasuresNoWinnerAgainOnceItIsInterrupted) {
  std::stop_source interrupt;
  RunOptions one = options(plan({"racer"}, 2), {racer({"1.2", "1.5"})});
  one.interrupt = interrupt.get_token();
  evaluator_->on_judge = [&](const Question&, const Turn&, Result& result) {
    if (result.speedup.point == 1.5) interrupt.request_stop();
  };
  EXPECT_EQ(run(std::move(one)).status.confirmed, 0);
  EXPECT_THAT(read_results(folder() + "/confirmed.jsonl"), SizeIs(0));
}

TEST_F(RunTest, CountsAnswersWithoutACandidate) {
  const auto one = model("m", [](const Asked& asked) {
    return asked.attempt == 1 ? "I would rather not." : answer_with("right 1");
  });
  EXPECT_TRUE(run(options(plan({"m"}, 1), {one}, 3)).complete());
  const std::vector<Attempt> all = attempts();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].outcome, Outcome::no_candidate);
  EXPECT_FALSE(all[0].verdict);
  EXPECT_EQ(all[0].candidate, "");
  EXPECT_EQ(results().at(0).verdict, Verdict::invalid_candidate);
  EXPECT_EQ(results().at(0).candidate_hash, "");
  EXPECT_EQ(text_of("candidates/m/level1_019/s01/a1/answer.md"), "I would rather not.");
}

/// The most tokens that a first request with answers of 50 tokens is taken to use.
int64_t most_tokens() {
  size_t characters = 0;
  for (const Message& message : Prompts::shipped().first(find_task({1, 19}), {})) {
    characters += message.text.size();
  }
  return static_cast<int64_t>(characters / 2 + 64 + 50);
}

TEST_F(RunTest, StopsAtTheTokenBudgetAndGoesOnWithALargerOne) {
  const auto script = [](const Asked& asked) {
    return answer_with("wrong", std::to_string(asked.sample));
  };
  RunOptions small = options(plan({"m"}, 10), {model("m", script)});
  const int64_t limit = most_tokens() + 800;
  small.limits.tokens = limit;
  small.members[0].sampling.max_tokens = 50;
  const RunOutcome outcome = run(std::move(small));
  EXPECT_EQ(outcome.stop, Scheduler::Stop::budget);
  EXPECT_EQ(outcome.reason, "--max-tokens " + std::to_string(limit));
  EXPECT_LE(outcome.status.spent.input + outcome.status.spent.output, limit);
  EXPECT_EQ(outcome.status.attempts, 6);  // 150 tokens each
  const auto rest = model("m", script);
  const auto before = static_cast<size_t>(outcome.status.attempts);
  EXPECT_TRUE(run(options(plan({"m"}, 10), {rest})).complete());
  EXPECT_THAT(rest->requests(), SizeIs(10 - before));
}

TEST_F(RunTest, StopsBeforeItCostsMore) {
  RunOptions small = options(plan({"m"}, 10), {learner("m")});
  small.members[0].price = ModelPrice{.input = 1000, .output = 1000};  // 0.15 an answer
  const double limit = double(most_tokens()) / 1000 + 0.7;
  small.limits.cost = limit;
  small.members[0].sampling.max_tokens = 50;
  small.members[0].connections = 4;
  const RunOutcome outcome = run(std::move(small));
  EXPECT_EQ(outcome.stop, Scheduler::Stop::budget);
  EXPECT_THAT(outcome.reason, HasSubstr("--max-cost"));
  EXPECT_LE(outcome.status.spent.cost, limit);
  EXPECT_GE(outcome.status.spent.cost, 0.3);
  EXPECT_DOUBLE_EQ(attempts().at(0).cost.value_or(0), 0.15);
}

TEST_F(RunTest, StopsWhenTheTimeIsUp) {
  std::atomic<int> clock{0};
  const auto slow = model("m", [&](const Asked& asked) {
    clock += 10;
    return answer_with("wrong", std::to_string(asked.sample));
  });
  RunOptions timed = options(plan({"m"}, 10), {slow});
  timed.limits.seconds = 35;
  timed.now = [&] { return double(clock); };
  const RunOutcome outcome = run(std::move(timed));
  EXPECT_EQ(outcome.stop, Scheduler::Stop::budget);
  EXPECT_EQ(outcome.reason, "--max-seconds 35");
  EXPECT_EQ(outcome.status.attempts, 4);
}

TEST_F(RunTest, DoesNotAskAheadOfTheDevice) {
  RunOptions fast = options(plan({"m"}, 12), {learner("m")}, 1, /*judge_seconds=*/0.1);
  fast.members[0].connections = 3;
  const RunOutcome outcome = run(std::move(fast));
  EXPECT_TRUE(outcome.complete());
  EXPECT_LE(outcome.status.most_waiting, 2u + 3u);
  EXPECT_GE(outcome.status.most_waiting, 2u);
  // The device has work all the time.
  EXPECT_GT(outcome.status.device_seconds, 0.7 * outcome.status.seconds);
}

TEST_F(RunTest, LeavesARequestWithoutAnAnswerOpen) {
  const auto shaky = model("m", [](const Asked& asked) -> std::string {
    if (asked.sample == 2) throw ModelError(ModelError::Reach::request, "no answer");
    return answer_with("right 1");
  });
  RunOptions first = options(plan({"m"}, 3), {shaky});
  std::vector<std::string> warnings;
  first.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  const RunOutcome outcome = run(std::move(first));
  EXPECT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.status.lost, 1u);
  EXPECT_THAT(warnings, ElementsAre("level1/19 s2 a1 of m stays unanswered: no answer"));
  const auto sound = model("m", [](const Asked&) { return answer_with("right 1"); });
  EXPECT_TRUE(run(options(plan({"m"}, 3), {sound})).complete());
  EXPECT_THAT(sound->requests(), ElementsAre(Pair("level1/19 s2 a1", 1)));
}

TEST_F(RunTest, AChainWhoseFilesCannotBeWrittenIsLostAlone) {
  const auto one = [] {
    return model("m", [](const Asked& asked) {
      return answer_with("right 1", std::to_string(asked.sample));
    });
  };
  // A file where the second sample's folder has to be.
  scratch_.write("run/candidates/m/level1_019/s02", "");
  for (int times = 0; times < 2; ++times) {  // The same when it goes on.
    RunOptions blocked = options(plan({"m"}, 3), {one()});
    std::vector<std::string> warnings;
    blocked.on_warning = [&](const std::string& text) { warnings.push_back(text); };
    const RunOutcome outcome = run(std::move(blocked));
    EXPECT_EQ(outcome.stop, Scheduler::Stop::none);
    EXPECT_EQ(outcome.status.done, 2u);
    EXPECT_EQ(outcome.status.lost, 1u);
    ASSERT_THAT(warnings, SizeIs(1));
    EXPECT_THAT(warnings[0], HasSubstr("level1/19 s2 a1 of m goes no further: cannot make"));
  }
  std::filesystem::remove(folder() + "/candidates/m/level1_019/s02");
  const auto rest = one();
  EXPECT_TRUE(run(options(plan({"m"}, 3), {rest})).complete());
  EXPECT_THAT(rest->requests(), SizeIs(0)) << "the answer was there";
}

TEST_F(RunTest, FeedbackThatCannotBeWrittenLosesItsChainAlone) {
  const auto one = learner("m");
  std::filesystem::create_directories(folder() + "/candidates/m/level1_019/s01/a1/feedback.txt/x");
  const RunOutcome outcome = run(options(plan({"m"}, 2), {one}, 3));
  EXPECT_EQ(outcome.status.lost, 1u);
  EXPECT_EQ(outcome.status.done, 1u);
  std::filesystem::remove_all(folder() + "/candidates/m/level1_019/s01/a1/feedback.txt");
  EXPECT_TRUE(run(options(plan({"m"}, 2), {one}, 3)).complete());
  EXPECT_THAT(attempts(), SizeIs(4));
}

TEST_F(RunTest, AnAnswerThatIsSpoiledOnDiskLosesItsChainAlone) {
  run(options(plan({"m"}, 2), {model("m", [](const Asked&) { return answer_with("harness"); })}));
  const std::string transcript = generate::RunFolder(folder()).transcript("m", {1, 19});
  std::string text = text_of("transcripts/m/level1_019.jsonl");
  text.replace(text.find("\"answer\":"), 9, "\"answer\"=");
  std::ofstream(transcript) << text;
  RunOptions again =
      options(plan({"m"}, 2), {model("m", [](const Asked&) { return answer_with("right 1"); })});
  std::vector<std::string> warnings;
  again.on_warning = [&](const std::string& warning) { warnings.push_back(warning); };
  const RunOutcome outcome = run(std::move(again));
  EXPECT_EQ(outcome.status.judged, 1) << "the other one's";
  EXPECT_THAT(warnings,
              ::testing::Contains(HasSubstr("goes no further: " + transcript + ":1: is not JSON")));
}

TEST_F(RunTest, AFullDiskStopsTheRunWhichGoesOnWhenThereIsRoom) {
  const auto one = learner("m");
  const std::string transcript = generate::RunFolder(folder()).transcript("m", {1, 19});
  generate::make_folder(std::filesystem::path(transcript).parent_path().string());
  std::filesystem::create_symlink("/dev/full", transcript);
  const RunOutcome outcome = run(options(plan({"m"}, 5), {one}, 2));
  EXPECT_EQ(outcome.stop, Scheduler::Stop::disk_full);
  EXPECT_THAT(outcome.reason, HasSubstr("No space left on device"));
  EXPECT_FALSE(outcome.complete());
  EXPECT_THAT(one->requests(), SizeIs(1)) << "no further request";
  EXPECT_EQ(outcome.status.lost, 1u);
  std::filesystem::remove(transcript);
  const auto rest = learner("m");
  EXPECT_TRUE(run(options(plan({"m"}, 5), {rest}, 2)).complete());
  EXPECT_THAT(rest->requests(), SizeIs(10));
}

TEST_F(RunTest, NamesThatClashAreRefusedAndTheModelIsTold) {
  const auto one = model("m", [](const Asked& asked) {
    const std::string clash = "```glsl k.comp/x.comp\nvoid main() {}\n```\n";
    return answer_with("right 1") + (asked.attempt == 1 ? clash : "");
  });
  EXPECT_TRUE(run(options(plan({"m"}, 1), {one}, 2)).complete());
  EXPECT_EQ(attempts().at(0).outcome, Outcome::no_candidate);
  EXPECT_TRUE(attempts().at(1).correct());
  EXPECT_THAT(one->prompts().at("level1/19 s1 a2").back().text,
              HasSubstr("'k.comp' is a file, and cannot be the folder of 'k.comp/x.comp' too"));
}

TEST_F(RunTest, AsksAModelThatIsGoneNoFurther) {
  const auto gone = model("gone", [](const Asked&) -> std::string {
    throw ModelError(ModelError::Reach::model, "401: no such key");
  });
  generate::RunOptions asked = options(plan({"gone", "m"}, 5), {gone, learner("m")}, 2);
  asked.members.front().connections = 3;
  std::vector<std::string> warnings;
  asked.on_warning = [&](const std::string& text) { warnings.push_back(text); };
  const RunOutcome outcome = run(std::move(asked));
  EXPECT_LE(gone->requests().size(), 3u);
  EXPECT_THAT(warnings, ElementsAre("model gone is not asked any more: 401: no such key"));
  EXPECT_EQ(outcome.status.done, 5u);
  EXPECT_EQ(outcome.status.lost, 5u);
  EXPECT_FALSE(outcome.complete());
  // The same command asks again.
  const RunOutcome next = run(options(plan({"gone", "m"}, 5), {learner("gone"), learner("m")}, 2));
  EXPECT_TRUE(next.complete());
}

TEST_F(RunTest, GivesAServerUpThatAnswersNothing) {
  const auto dead = model("m", [](const Asked&) -> std::string {
    throw ModelError(ModelError::Reach::request, "connection refused");
  });
  run(options(plan({"m"}, 500), {dead}));
  EXPECT_THAT(dead->requests(), SizeIs(10));
}

TEST_F(RunTest, JudgesAgainWhatFailedThroughNoFaultOfTheCandidate) {
  const auto one = model("m", [](const Asked&) { return answer_with("harness"); });
  const RunOutcome outcome = run(options(plan({"m"}, 1), {one}, 3));
  EXPECT_EQ(outcome.status.judged, 1);
  EXPECT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.status.attempts, 0);
  EXPECT_EQ(attempts().at(0).verdict, Verdict::harness_error);
  const auto again = model("m", [](const Asked&) { return answer_with("right 1"); });
  const RunOutcome next = run(options(plan({"m"}, 1), {again}, 3));
  EXPECT_THAT(again->requests(), SizeIs(0)) << "the answer was there";
  EXPECT_EQ(next.status.judged, 1);
  EXPECT_EQ(next.status.spent.input, 100);
}

TEST_F(RunTest, KeepsCandidatesUnjudgedAndJudgesThemLater) {
  const auto one = model("m", [](const Asked& asked) {
    return asked.sample == 1 ? answer_with("right 1") : "nothing";
  });
  RunOptions unjudged = options(plan({"m"}, 2), {one});
  unjudged.judging = false;
  unjudged.evaluators.clear();
  EXPECT_TRUE(run(std::move(unjudged)).complete());
  EXPECT_THAT(attempts(), SizeIs(2));
  const auto silent = model("m", [](const Asked&) { return ""; });
  const RunOutcome outcome = run(options(plan({"m"}, 2), {silent}));
  EXPECT_TRUE(outcome.complete());
  EXPECT_THAT(silent->requests(), SizeIs(0));
  EXPECT_EQ(outcome.status.passed, 1);
}

TEST_F(RunTest, AnInterruptedRunAsksNothingMoreAndLosesNothing) {
  std::stop_source interrupt;
  const auto one = model("m", [&](const Asked& asked) {
    if (asked.sample == 3) interrupt.request_stop();
    return answer_with("wrong", std::to_string(asked.sample));
  });
  RunOptions first = options(plan({"m"}, 10), {one});
  first.interrupt = interrupt.get_token();
  const RunOutcome outcome = run(std::move(first));
  EXPECT_EQ(outcome.stop, Scheduler::Stop::interrupted);
  EXPECT_THAT(one->requests(), SizeIs(3));
  const auto rest = model(
      "m", [](const Asked& asked) { return answer_with("wrong", std::to_string(asked.sample)); });
  EXPECT_TRUE(run(options(plan({"m"}, 10), {rest})).complete());
  EXPECT_THAT(rest->requests(), SizeIs(7));
  EXPECT_THAT(attempts(), SizeIs(10));
}

TEST_F(RunTest, AnInterruptLeavesWaitingAnswersUnjudged) {
  std::stop_source interrupt;
  std::atomic<int> answered = 0;
  const auto one = model("m", [&](const Asked& asked) {
    ++answered;
    return answer_with("right 1", std::to_string(asked.sample));
  });
  RunOptions first = options(plan({"m"}, 3), {one});
  first.members[0].connections = 3;
  first.interrupt = interrupt.get_token();
  evaluator_->on_judge = [&](const auto&, const Turn&, Result&) {
    while (answered < 3) std::this_thread::yield();
    interrupt.request_stop();
  };
  const RunOutcome outcome = run(std::move(first));
  EXPECT_EQ(outcome.stop, Scheduler::Stop::interrupted);
  EXPECT_EQ(outcome.status.judged, 1) << "what was at the device is judged to its end";
  EXPECT_EQ(outcome.status.lost, 0u);
  EXPECT_THAT(attempts(), SizeIs(1));
  const auto silent = model("m", [](const Asked&) { return ""; });
  const RunOutcome next = run(options(plan({"m"}, 3), {silent}));
  EXPECT_TRUE(next.complete());
  EXPECT_THAT(silent->requests(), SizeIs(0)) << "the answers were there";
  EXPECT_EQ(next.status.judged, 2);
}

TEST_F(RunTest, ADeviceGetsToKnowWhichCandidatesFollow) {
  RunOptions fast = options(plan({"m"}, 12), {learner("m")}, 1, /*judge_seconds=*/0.05);
  fast.members[0].connections = 3;
  std::vector<CandidateSource> judged;
  std::vector<std::vector<CandidateSource>> next;
  evaluator_->on_judge = [&](const Question& question, const Turn& turn, Result&) {
    EXPECT_EQ(question.candidate.author, "m");
    EXPECT_TRUE(turn.more);
    judged.push_back(question.candidate);
    next.push_back(turn.next);
  };
  EXPECT_TRUE(run(std::move(fast)).complete());
  ASSERT_THAT(judged, SizeIs(12));
  size_t told = 0;
  for (size_t i = 0; i + 1 < judged.size(); ++i) {
    if (next[i].empty()) continue;
    ++told;
    EXPECT_TRUE(next[i].front() == judged[i + 1]) << i;
  }
  EXPECT_GT(told, 0u);
  EXPECT_THAT(next.back(), SizeIs(0));
}

class LostDevice : public RunTest {
 protected:
  /// Two samples on two devices, of which the first gives its one this verdict and is gone.
  RunOutcome lose_by(Verdict verdict) {
    const auto one = model("m", [](const Asked& asked) {
      return answer_with("right 1", std::to_string(asked.sample));
    });
    RunOptions two = options(plan({"m"}, 2), {one});
    two.members[0].connections = 2;
    FakeEvaluator& lost = *evaluator_;
    lost.on_judge = [&](const auto&, const Turn&, Result& result) {
      result.verdict = verdict;
      lost.lost = true;
    };
    auto sound = std::make_unique<FakeEvaluator>();
    sound->on_judge = [&](const auto&, const Turn&, Result&) {
      while (!lost.lost) std::this_thread::yield();
    };
    two.evaluators.push_back(std::move(sound));
    two.on_warning = [&](const std::string& text) { warnings_.push_back(text); };
    return run(std::move(two));
  }
  std::vector<std::string> warnings_;
};

TEST_F(LostDevice, LeavesItsCandidateToAnother) {
  const RunOutcome outcome = lose_by(Verdict::harness_error);
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(outcome.status.passed, 2);
  EXPECT_THAT(attempts(), SizeIs(2));
  EXPECT_THAT(warnings_, ElementsAre("device 1 of the run was lost: it fell off the bus"));
}

TEST_F(LostDevice, IsTheVerdictWhereTheCandidateLostIt) {
  const RunOutcome outcome = lose_by(Verdict::device_lost);
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(outcome.status.judged, 2) << "the other device is not put at risk";
  std::multiset<Verdict> verdicts;
  for (const Attempt& attempt : attempts()) verdicts.insert(attempt.verdict.value());
  EXPECT_EQ(verdicts, (std::multiset<Verdict>{Verdict::device_lost, Verdict::passed}));
}

TEST_F(LostDevice, EndsTheRunWhereItIsTheLastAndAnswersAreKept) {
  RunOptions first = options(plan({"m"}, 20), {learner("m")});
  evaluator_->lost = true;
  const Error error = error_of([&] { run(std::move(first)); });
  EXPECT_EQ(error.code(), ErrorCode::kDeviceLost);
  EXPECT_THAT(error.message(), HasSubstr("no device is left: it fell off the bus"));
  EXPECT_THAT(attempts(), SizeIs(0));
  const auto rest = learner("m");
  EXPECT_TRUE(run(options(plan({"m"}, 20), {rest}, 2)).complete());
  EXPECT_EQ(rest->requests().count("level1/19 s1 a1"), 0u) << "the answer was there";
}

TEST_F(RunTest, RefusesASecondProcess) {
  generate::make_folder(folder());
  const generate::RunFolder run(folder());
  const generate::RunLock lock(run);
  const Error error = error_of([&] { const generate::RunLock second(run); });
  EXPECT_EQ(error.message(),
            folder() + " is in use: process " + std::to_string(getpid()) + " is working on it");
}

TEST_F(RunTest, EndsWithWhatABenchThrowsAndKeepsTheAnswer) {
  const auto one = model("m", [](const Asked&) { return answer_with("right 1"); });
  RunOptions broken = options(plan({"m"}, 1), {one});
  evaluator_->on_judge = [](const auto&, const Turn&, Result&) {
    throw Error(ErrorCode::kNotFound, "no such device");
  };
  EXPECT_THROW(run(std::move(broken)), Error);
  const auto silent = model("m", [](const Asked&) { return ""; });
  EXPECT_TRUE(run(options(plan({"m"}, 1), {silent})).complete());
  EXPECT_THAT(silent->requests(), SizeIs(0));
}

TEST_F(RunTest, BuiltInStepsAreRefusedUnlessAllowed) {
  const std::string builtin =
      "```yaml\nkbench: 1\ntask: level1/19\ndispatch:\n  - {op: relu, in: [x], out: output}\n```\n";
  const auto one = model("m", [&](const Asked&) { return builtin; });
  run(options(plan({"m"}, 1), {one}));
  const Attempt attempt = attempts().at(0);
  EXPECT_EQ(attempt.verdict, Verdict::invalid_candidate);
  EXPECT_TRUE(attempt.operator_steps);
  EXPECT_THAT(results().at(0).message, HasSubstr("built-in operators"));
}

}  // namespace
}  // namespace kbench::testing
