// The repair machine with judges that are functions, real prompts and real extraction.

#include "kbench/episode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.h"
#include "tests/support/function_evaluator.h"

namespace kbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FunctionEvaluator;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string code(const std::string& mark) { return "// " + mark + "\nvoid main() {}\n"; }

Answer candidate(const std::string& mark, const std::string& task = "level1/19",
                 const std::string& step = "{kernel: k, bind: [x, output], groups: [1]}") {
  Answer answer;
  answer.text = "```yaml\nkbench: 1\ntask: " + task +
                "\nkernels:\n  k: {file: k.comp}\ndispatch:\n  - " + step +
                "\n```\n\n```glsl k.comp\n" + code(mark) + "```\n";
  answer.finish = "stop";
  return answer;
}

Answer prose(const std::string& text, const std::string& finish = "stop") {
  Answer answer;
  answer.text = text;
  answer.finish = finish;
  return answer;
}

/// "right 1.5" in a candidate's code passes with that speedup; other verdicts by name; else wrong.
Result judged(const Question& question) {
  const std::string& text = question.candidate.files->at("k.comp");
  Result result;
  result.task = {1, 19};
  result.preset = question.preset;
  result.device = "a fake device";
  result.verdict = Verdict::wrong_values;
  result.message = "wrong at " + result.preset;
  double speedup = 0;
  if (std::sscanf(text.c_str(), "// right %lf", &speedup) == 1) {
    result.verdict = Verdict::passed;
    result.message.clear();
    result.speedup = {speedup - 0.1, speedup, speedup + 0.1};
  }
  if (text.starts_with("// hangs")) result.verdict = Verdict::timeout;
  if (text.starts_with("// harness")) result.verdict = Verdict::harness_error;
  if (text.starts_with("// only small") && question.preset == "smoke") {
    result.verdict = Verdict::passed;
  }
  if (text.starts_with("// only large") && question.preset != "smoke") {
    result.verdict = Verdict::passed;
  }
  return result;
}

class EpisodeTest : public ::testing::Test {
 protected:
  Episode episode(EpisodeOptions options, FunctionEvaluator::Judge judge = judged,
                  FunctionEvaluator::Investigate investigate = {}) {
    if (options.attempts == 1) options.attempts = 4;
    evaluators_.push_back(
        std::make_unique<FunctionEvaluator>(std::move(judge), std::move(investigate)));
    return Episode(find_task({1, 19}), Prompts::shipped(), std::move(options),
                   evaluators_.back().get());
  }
  static std::string all_of(const std::vector<Message>& messages) {
    std::string text;
    for (const Message& message : messages) text += message.text + "\n";
    return text;
  }

  std::vector<std::unique_ptr<FunctionEvaluator>> evaluators_;
};

TEST_F(EpisodeTest, BeginsWithTheFirstPromptAndEndsAtTheGoal) {
  Episode one = episode({});
  EXPECT_EQ(one.observation().back().text,
            Prompts::shipped().first(find_task({1, 19}), {}).back().text);
  const Episode::Step wrong = one.step(candidate("no"));
  EXPECT_EQ(wrong.attempt.attempt, 1);
  EXPECT_EQ(wrong.attempt.parent, 0);
  EXPECT_EQ(wrong.attempt.verdict, Verdict::wrong_values);
  EXPECT_EQ(wrong.reward, 0.0);
  EXPECT_FALSE(one.done());
  // Its own code whole, and what became of it.
  EXPECT_THAT(all_of(one.observation()), HasSubstr(code("no")));
  EXPECT_THAT(all_of(one.observation()), HasSubstr("wrong at smoke"));
  const Episode::Step right = one.step(candidate("right 1.5"));
  EXPECT_EQ(right.attempt.parent, 1);
  EXPECT_DOUBLE_EQ(right.reward.value_or(0), 0.3 + 1.4);
  EXPECT_TRUE(one.done());
  EXPECT_EQ(one.ending(), Episode::Ending::goal);
  EXPECT_THROW(one.step(candidate("x")), Error);
}

TEST_F(EpisodeTest, GoesOnUntilItIsFastEnoughByTheLowerBound) {
  Episode one = episode({.goal = {1.4}});
  EXPECT_EQ(one.step(candidate("right 1.5")).attempt.verdict, Verdict::passed);  // at least 1.4
  EXPECT_FALSE(one.done());
  one.step(candidate("right 1.6"));
  EXPECT_EQ(one.ending(), Episode::Ending::goal);
}

TEST_F(EpisodeTest, EndsWithItsAttempts) {
  Episode one = episode({.attempts = 2});
  one.step(candidate("a"));
  one.step(candidate("b"));
  EXPECT_EQ(one.ending(), Episode::Ending::attempts);
}

TEST_F(EpisodeTest, EveryAnswerIsAnAttemptWithACandidateOrWithout) {
  Episode one = episode({.attempts = 9});
  const auto outcome = [&](const Answer& answer) { return one.step(answer).attempt.outcome; };
  EXPECT_EQ(outcome(prose("Let me think.")), Outcome::no_candidate);
  EXPECT_THAT(all_of(one.observation()), HasSubstr("Let me think."));
  EXPECT_EQ(outcome(prose("<think>and so on", "length")), Outcome::truncated);
  EXPECT_EQ(outcome(prose("", "content_filter")), Outcome::refused);
  EXPECT_EQ(outcome(candidate("right 1", "level1/20")), Outcome::wrong_task);
  EXPECT_EQ(one.next_attempt(), 5);
  EXPECT_FALSE(one.done());
}

TEST_F(EpisodeTest, WhatNeedsNoDeviceIsNotGivenToOne) {
  int asked = 0;
  Episode one = episode({}, [&](const Question& question) {
    ++asked;
    return judged(question);
  });
  const Episode::Step unknown =
      one.step(candidate("right 1", "level1/19", "{kernel: k, bind: [y, output], groups: [1]}"));
  EXPECT_EQ(unknown.attempt.verdict, Verdict::invalid_candidate);
  EXPECT_THAT(unknown.result->message, HasSubstr("candidate.yaml:6"));
  EXPECT_EQ(one.step(prose("nothing")).result->verdict, Verdict::invalid_candidate);
  EXPECT_EQ(asked, 0);
}

Answer model_new(const std::string& mark) {
  Answer answer;
  answer.text = "```python\n# " + mark +
                "\nimport torch\n\nclass ModelNew(torch.nn.Module):\n    pass\n```\n";
  answer.finish = "stop";
  return answer;
}

TEST_F(EpisodeTest, AModuleIsJudgedAndRepairedLikeKernels) {
  EpisodeOptions options{.attempts = 4};
  options.prompt.language = PromptLanguage::torch;
  std::vector<CandidateFiles> seen;
  Episode one = episode(options, [&](const Question& question) {
    seen.push_back(*question.candidate.files);
    Result result;
    result.task = {1, 19};
    result.preset = question.preset;
    const bool right = question.candidate.files->at("model_new.py").starts_with("# right");
    result.verdict = right ? Verdict::passed : Verdict::crashed;
    if (!right) result.message = "its forward fails: NameError: name 'y' (line 4)";
    return result;
  });
  EXPECT_THAT(all_of(one.observation()),
              AllOf(HasSubstr("class `ModelNew`"), Not(HasSubstr("kbench: 1"))));
  const Episode::Step none = one.step(prose("```python\nimport torch\n```\n"));
  EXPECT_EQ(none.attempt.outcome, Outcome::no_candidate);
  EXPECT_EQ(none.result->verdict, Verdict::invalid_candidate);
  EXPECT_THAT(none.feedback.text,
              AllOf(HasSubstr("no ModelNew: no ```python block defines"),
                    HasSubstr("Answer with one fenced python block"), Not(HasSubstr("yaml"))));
  const Episode::Step wrong = one.step(model_new("wrong"));
  EXPECT_EQ(wrong.attempt.verdict, Verdict::crashed);
  EXPECT_THAT(wrong.files.at("candidate.yaml"), HasSubstr("torch: {file: model_new.py}"));
  EXPECT_THAT(wrong.feedback.text,
              HasSubstr("Line 4 of its file:\n    | class ModelNew(torch.nn.Module):\n"));
  const std::vector<Message> asked = one.observation();
  EXPECT_EQ(asked.at(asked.size() - 2).text + "\n", model_new("wrong").text);
  // The manifest is kbench's own, and no matter of the model.
  EXPECT_THAT(all_of(asked), Not(HasSubstr("yaml")));
  EXPECT_EQ(one.step(model_new("right")).attempt.verdict, Verdict::passed);
  EXPECT_EQ(one.ending(), Episode::Ending::goal);
  EXPECT_THAT(seen, SizeIs(2));
}

TEST_F(EpisodeTest, AModuleIsNoWayRoundThePolicyOnOperators) {
  for (const Builtins policy : {Builtins::forbid, Builtins::some, Builtins::any}) {
    EpisodeOptions options;
    options.prompt.builtins = policy;
    const auto judge = [](const Question& question) {
      Result result;
      result.task = {1, 19};
      result.preset = question.preset;
      result.verdict = Verdict::passed;
      return result;
    };
    const Episode::Step step = episode(options, judge).step(model_new("right"));
    if (policy == Builtins::any) {
      EXPECT_EQ(step.attempt.verdict, Verdict::passed);
    } else {
      EXPECT_EQ(step.attempt.verdict, Verdict::invalid_candidate);
      EXPECT_THAT(step.result->message, HasSubstr("a ModelNew may use PyTorch's operators"));
    }
    options.prompt.language = PromptLanguage::torch;
    EXPECT_EQ(episode(options, judge).step(model_new("right")).attempt.verdict, Verdict::passed);
  }
}

TEST_F(EpisodeTest, BuiltInStepsFollowThePolicy) {
  const std::string builtin = "{op: relu, in: [x], out: output}";
  const auto verdict = [&](Builtins policy, const std::string& steps) {
    EpisodeOptions options;
    options.prompt.builtins = policy;
    const Episode::Step step = episode(options).step(candidate("right 1", "level1/19", steps));
    EXPECT_EQ(step.attempt.operator_steps, steps.find("op:") != std::string::npos);
    return *step.attempt.verdict;
  };
  EXPECT_EQ(verdict(Builtins::forbid, builtin), Verdict::invalid_candidate);
  EXPECT_EQ(verdict(Builtins::some, builtin), Verdict::invalid_candidate);
  EXPECT_EQ(verdict(Builtins::some, builtin + "\n  - {kernel: k, bind: [x, output], groups: [1]}"),
            Verdict::passed);
  EpisodeOptions any;
  any.prompt.builtins = Builtins::any;
  const Answer copy =
      prose("```yaml\nkbench: 1\ntask: level1/19\ndispatch:\n  - " + builtin + "\n```\n");
  EXPECT_EQ(episode(any,
                    [](const Question&) {
                      Result result;
                      result.verdict = Verdict::passed;
                      return result;
                    })
                .step(copy)
                .attempt.verdict,
            Verdict::passed);
}

TEST_F(EpisodeTest, AKernelBesideBuiltInStepsHasAPartInTheOutput) {
  const auto refusal = [&](const std::string& steps, const std::string& temps) -> std::string {
    EpisodeOptions options;
    options.prompt.builtins = Builtins::some;
    Answer answer;
    answer.finish = "stop";
    answer.text = "```yaml\nkbench: 1\ntask: level1/19\nkernels:\n  k: {file: k.comp}\n" +
                  (temps.empty() ? "" : "temps: {" + temps + "}\n") + "dispatch:\n  - " + steps +
                  "\n```\n\n```glsl k.comp\n" + code("right 1") + "```\n";
    const Episode::Step step = episode(options).step(answer);
    return step.attempt.verdict == Verdict::passed ? "" : step.result->message;
  };
  const std::string op = "{op: relu, in: [x], out: output}", next = "\n  - ";
  const auto kernel = [](const std::string& bind) {
    return "{kernel: k, bind: [" + bind + "], groups: [1]}";
  };
  const std::string t = "t: {dtype: f32, shape: [batch_size, dim]}", u = ", u" + t.substr(1);
  // What a kernel writes is overwritten, or read by no step.
  for (const auto& [steps, temps] : std::vector<std::pair<std::string, std::string>>{
           {kernel("x, output") + next + op, ""},
           {kernel("output") + next + op, ""},
           {kernel("x, t") + next + op, t},
           {op + next + kernel("x, t"), t},
           {op + next + kernel("output, t") + next +
                "{op: cast, in: x, out: output, attributes: {dtype: f32}}" + next + op,
            t},
           {kernel("x, t") + next + "{op: relu, in: [t], out: u}" + next + op, t + u},
           {"{kernel: k, bind: [x, t], groups: [subgroup_size]}" + next + op, t}}) {
    EXPECT_THAT(refusal(steps, temps), HasSubstr("has a part in the outputs")) << steps;
  }
  // It reaches an output, at once or by way of other steps.
  for (const auto& [steps, temps] : std::vector<std::pair<std::string, std::string>>{
           {op + next + kernel("output"), ""},
           {kernel("x, t") + next + "{op: relu, in: [t], out: output}", t},
           {kernel("x, t") + next + "{op: cast, in: t, out: u, attributes: {dtype: f32}}" + next +
                "{op: relu, in: [u], out: output}",
            t + u},
           {kernel("x, output") + next + "{op: relu, in: [output], out: t}" + next +
                "{op: cast, in: t, out: output, attributes: {dtype: f32}}",
            t}}) {
    EXPECT_EQ(refusal(steps, temps), "") << steps;
  }
}

TEST_F(EpisodeTest, TheSameCandidateIsToldSoOnceAndThenEndsIt) {
  Episode one = episode({.attempts = 9});
  one.step(candidate("same"));
  EXPECT_THAT(one.observation().back().text, Not(HasSubstr("the same candidate as")));
  one.step(candidate("same"));
  EXPECT_THAT(one.observation().back().text, HasSubstr("the same candidate as"));
  EXPECT_FALSE(one.done());
  one.step(candidate("same"));
  EXPECT_EQ(one.ending(), Episode::Ending::repeated);
}

TEST_F(EpisodeTest, AChangeInBetweenBeginsTheCountAgain) {
  Episode one = episode({.attempts = 9});
  for (const char* mark : {"a", "a", "b", "b"}) one.step(candidate(mark));
  EXPECT_FALSE(one.done());
}

TEST_F(EpisodeTest, InfrastructureUsesUpNoAttempt) {
  int asked = 0;
  Episode one = episode({.attempts = 2}, [&](const Question& question) {
    ++asked;
    return judged(question);
  });
  const auto before = all_of(one.observation());
  const Episode::Step step = one.step(candidate("harness"));
  EXPECT_FALSE(step.counted);
  EXPECT_FALSE(step.reward);
  EXPECT_EQ(asked, 1) << "its evaluator has tried again what may be";
  EXPECT_EQ(one.next_attempt(), 1);
  EXPECT_EQ(all_of(one.observation()), before);
}

TEST_F(EpisodeTest, AThrowingJudgeLeavesItAsItWas) {
  bool broken = true;
  Episode one = episode({}, [&](const Question& question) {
    if (broken) throw Error(ErrorCode::kNotFound, "no device");
    return judged(question);
  });
  EXPECT_THROW(one.step(candidate("right 1")), Error);
  EXPECT_EQ(one.next_attempt(), 1);
  broken = false;
  EXPECT_EQ(one.step(candidate("right 1")).attempt.verdict, Verdict::passed);
}

EpisodeOptions at_v0(Smoke smoke) {
  EpisodeOptions options;
  options.smoke = smoke;
  options.prompt.preset = Preset::v0;
  return options;
}

TEST_F(EpisodeTest, WhatFailsAtSmokeIsNotTriedAtTheSizesAskedFor) {
  std::vector<std::string> presets;
  const FunctionEvaluator::Judge noted = [&](const Question& question) {
    presets.emplace_back(question.preset);
    EXPECT_EQ(question.plan.looks(), question.preset == "smoke");
    return judged(question);
  };
  Episode one = episode(at_v0(Smoke::first), noted);
  const Episode::Step hangs = one.step(candidate("hangs"));
  EXPECT_EQ(hangs.attempt.verdict, Verdict::timeout);
  EXPECT_EQ(hangs.attempt.preset, "smoke");
  one.step(candidate("right 2"));
  EXPECT_THAT(presets, ElementsAre("smoke", "smoke", "v0"));
}

TEST_F(EpisodeTest, TheSizesAskedForDecideWhatIsRight) {
  for (const Smoke smoke : {Smoke::first, Smoke::after, Smoke::never}) {
    EXPECT_EQ(episode(at_v0(smoke)).step(candidate("only large")).attempt.verdict, Verdict::passed);
    const Episode::Step small = episode(at_v0(smoke)).step(candidate("only small"));
    EXPECT_EQ(small.attempt.verdict, Verdict::wrong_values);
    EXPECT_FALSE(small.reduced);
  }
}

TEST_F(EpisodeTest, AFailureIsToldFromSmokeWhereItShowsThere) {
  for (const Smoke smoke : {Smoke::first, Smoke::after}) {
    Episode one = episode(at_v0(smoke));
    const Episode::Step both = one.step(candidate("wrong"));
    EXPECT_EQ(both.attempt.preset, "v0");
    ASSERT_TRUE(both.reduced);
    EXPECT_THAT(both.feedback.text, HasSubstr("wrong at smoke"));
    EXPECT_THAT(one.step(candidate("only small")).feedback.text, HasSubstr("wrong at v0"));
  }
}

TEST_F(EpisodeTest, ContextBestShowsTheBestWithItsOwnFeedback) {
  Episode one = episode({.attempts = 9, .goal = {9}, .shown = Shown::best});
  one.step(candidate("right 1.5"));
  const std::string first = all_of(one.observation());
  EXPECT_THAT(first, HasSubstr("right 1.5"));
  one.step(candidate("no better"));
  // The very same prompt would bring the very same answer at temperature 0.
  const std::string second = all_of(one.observation());
  EXPECT_NE(first, second);
  EXPECT_THAT(second, HasSubstr("right 1.5"));
  EXPECT_THAT(second, HasSubstr("no better"));
  EXPECT_EQ(one.parent(), 1);
  one.step(candidate("right 2.5"));
  EXPECT_THAT(all_of(one.observation()), HasSubstr("right 2.5"));
  EXPECT_THAT(all_of(one.observation()), Not(HasSubstr("right 1.5")));
}

TEST_F(EpisodeTest, ContextHistoryDropsTheOldestWhole) {
  EpisodeOptions options{.attempts = 9, .shown = Shown::history};
  const std::string padding(3000, 'p');
  options.history_characters = 9000;
  Episode one = episode(options);
  one.step(candidate("first " + padding));
  one.step(candidate("second " + padding));
  EXPECT_THAT(all_of(one.observation()), HasSubstr("first " + padding));
  one.step(candidate("third " + padding));
  const std::string text = all_of(one.observation());
  EXPECT_THAT(text, Not(HasSubstr("// first")));
  EXPECT_THAT(text, HasSubstr("second " + padding));
  EXPECT_THAT(text, HasSubstr("third " + padding));
}

TEST_F(EpisodeTest, ContextLastShowsOneAttempt) {
  Episode one = episode({.attempts = 9});
  one.step(candidate("one"));
  one.step(candidate("two"));
  EXPECT_THAT(all_of(one.observation()), Not(HasSubstr(code("one"))));
  EXPECT_THAT(all_of(one.observation()), HasSubstr(code("two")));
}

TEST_F(EpisodeTest, ATooLongPromptEndsItUnlessPartsCanBeLeftOut) {
  Episode last = episode({});
  EXPECT_EQ(last.step(prose("", "context_length")).attempt.outcome, Outcome::too_long);
  EXPECT_EQ(last.ending(), Episode::Ending::too_long);
  Episode history = episode({.attempts = 9, .shown = Shown::history});
  history.step(candidate("one"));
  history.step(candidate("two"));
  history.step(prose("", "context_length"));
  EXPECT_FALSE(history.done());
}

TEST_F(EpisodeTest, EvidenceIsGatheredForThoseWhoReadIt) {
  int looked = 0;
  EpisodeOptions options{.attempts = 2};
  Episode one = episode(options, judged, [&](const Question&, const Result& result) {
    ++looked;
    EXPECT_EQ(result.verdict, Verdict::wrong_values);
    Evidence evidence;
    evidence.pattern = "a constant factor of 2";
    return evidence;
  });
  one.step(candidate("a"));
  EXPECT_THAT(one.observation().back().text, HasSubstr("a constant factor of 2"));
  one.step(candidate("b"));
  EXPECT_EQ(looked, 1) << "nobody is told of the last attempt";
}

TEST_F(EpisodeTest, TakenUpAgainItAsksWhatItWouldHaveAsked) {
  for (const Shown shown : {Shown::last, Shown::best, Shown::history}) {
    const EpisodeOptions options{.attempts = 9, .goal = {9}, .shown = shown};
    Episode whole = episode(options), again = episode(options);
    for (const char* mark : {"right 1.5", "wrong", "wrong", "right 1.2"}) {
      const Answer answer = candidate(mark);
      const Episode::Step step = whole.step(answer);
      again.replay(answer, step.attempt, step.feedback.text);
      EXPECT_EQ(again.prompt_hash(), whole.prompt_hash());
      EXPECT_EQ(again.parent(), whole.parent());
    }
  }
}

TEST_F(EpisodeTest, NamesOfGoalsComeBack) {
  EXPECT_EQ(goal_from_name("correct").faster, 0);
  EXPECT_EQ(goal_from_name("faster:1.5").faster, 1.5);
  EXPECT_EQ(to_string(goal_from_name("faster:1.5")), "faster:1.5");
  for (const char* bad : {"", "fast", "faster", "faster:", "faster:x", "faster:0", "faster:-1",
                          "faster:inf", "faster:1x"}) {
    EXPECT_THROW(goal_from_name(bad), Error) << bad;
  }
}

TEST(SolveTest, DrivesAnEpisodeWithAModel) {
  int asked = 0;
  FunctionModel model("m", [&](const Ask& ask, std::stop_token) {
    EXPECT_THAT(ask.purpose, HasSubstr("level1/19 s1 a" + std::to_string(++asked)));
    return candidate(asked == 2 ? "right 1" : "wrong");
  });
  SolveOptions options;
  options.episode.attempts = 5;
  FunctionEvaluator judge(judged);
  const auto attempts = solve(find_task({1, 19}), model, Prompts::shipped(), judge, options);
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(attempts[1].model, "m");
  EXPECT_TRUE(attempts[1].correct());
}

TEST(SolveTest, ALostRequestIsAnUnansweredAttempt) {
  int asked = 0;
  FunctionModel model("m", [&](const Ask&, std::stop_token) -> Answer {
    ++asked;
    throw ModelError(ModelError::Reach::request, "gone");
  });
  FunctionEvaluator judge(judged);
  const auto attempts = solve(find_task({1, 19}), model, Prompts::shipped(), judge, {});
  ASSERT_THAT(attempts, SizeIs(1));
  EXPECT_FALSE(attempts[0].answered());
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace kbench
