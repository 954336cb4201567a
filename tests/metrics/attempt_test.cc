#include "kbench/attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.h"
#include "libkbench/scoring/attempt_json.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;

Attempt example_attempt() {
  Attempt a;
  a.model = "coder \"7b\"";
  a.task = {2, 17};
  a.sample = 3;
  a.attempt = 2;
  a.parent = 1;
  a.outcome = Outcome::candidate;
  a.leniencies = {"unclosed_fence", "joined_name"};
  a.candidate = "candidates/coder/level2_017/s03/a2";
  a.candidate_hash = "ab12";
  a.verdict = Verdict::passed;
  a.preset = "v0";
  a.device = "llvmpipe";
  a.speedup = {0.1 + 0.2, 1.0 / 3, std::numeric_limits<double>::infinity()};
  a.feedback_hash = "f0";
  a.prompt_hash = "e1";
  a.usage = {1200, std::nullopt, 300, 0};
  a.cost = 0.25;
  a.seconds = 12.5;
  a.operator_steps = true;
  return a;
}

std::string refusal(const std::string& from, const std::string& to) {
  std::string line = to_json(example_attempt());
  const size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << line;
  line.replace(at, from.size(), to);
  try {
    attempt_from_json(line);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kParse);
    return e.message();
  }
  return "accepted";
}

TEST(AttemptJson, RoundTripsEveryFieldExactly) {
  const Attempt a = example_attempt();
  const std::string line = to_json(a);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const Attempt back = attempt_from_json(line);
  EXPECT_EQ(to_json(back), line);
  EXPECT_EQ(back.model, a.model);
  EXPECT_EQ(back.task, a.task);
  EXPECT_EQ(back.leniencies, a.leniencies);
  EXPECT_EQ(back.verdict, a.verdict);
  EXPECT_EQ(back.speedup.low, a.speedup.low);
  EXPECT_EQ(back.speedup.high, a.speedup.high);
  EXPECT_EQ(back.usage.input, 1200);
  EXPECT_EQ(back.usage.reasoning, 0);
  EXPECT_TRUE(back.operator_steps);
}

TEST(AttemptJson, KeepsUnknownApartFromZero) {
  Attempt a = example_attempt();
  a.cost.reset();
  a.verdict.reset();
  const Attempt back = attempt_from_json(to_json(a));
  EXPECT_FALSE(back.cost);
  EXPECT_FALSE(back.verdict);
  EXPECT_FALSE(back.usage.cached);
  EXPECT_EQ(back.usage.reasoning, 0);
}

TEST(AttemptJson, SurvivesTextThatIsNotUtf8) {
  Attempt a = example_attempt();
  a.model = "bad \xff byte";
  EXPECT_EQ(attempt_from_json(to_json(a)).model, "bad \xef\xbf\xbd byte");
}

TEST(PlainReading, TakesPairsOfSurrogatesAndNoHalfOfOne) {
  Attempt a = example_attempt();
  a.model = "a\U000e0001b";
  const std::string line = to_json(a);
  ASSERT_THAT(line, HasSubstr("\\udb40\\udc01"));
  Attempt back;
  ASSERT_TRUE(read_plain_attempt(line, back));
  EXPECT_EQ(back.model, a.model);
  for (const char* half :
       {"\\udb40", "\\uDC01", "\\udb40x\\udc01", "\\\\\\udc01", "\\\\udb40\\udc01"}) {
    std::string other = line;
    other.replace(other.find("\\udb40"), 12, half);
    EXPECT_FALSE(read_plain_attempt(other, back)) << half;
  }
}

TEST(AttemptJson, IgnoresFieldsOfLaterVersions) {
  std::string line = to_json(example_attempt());
  line.insert(1, "\"later\":{\"a\":[1]},");
  EXPECT_EQ(to_json(attempt_from_json(line)), to_json(example_attempt()));
}

TEST(AttemptJson, NamesTheFieldThatIsWrong) {
  EXPECT_THAT(refusal("\"sample\":3", "\"sample\":0"),
              HasSubstr("attempt.sample must be at least 1"));
  EXPECT_THAT(refusal("\"sample\":3", "\"sample\":\"3\""), HasSubstr("attempt.sample must be an"));
  EXPECT_THAT(refusal("\"parent\":1", "\"patent\":1"), HasSubstr("lacks field 'parent'"));
  EXPECT_THAT(refusal("\"candidate\",\"len", "\"candidates\",\"len"), HasSubstr("'candidates'"));
  EXPECT_THAT(refusal("\"passed\"", "\"past\""), HasSubstr("'past'"));
  EXPECT_THAT(refusal("level2/17", "level2"), HasSubstr("attempt.task"));
  EXPECT_THAT(refusal("\"input\":1200", "\"input\":-1"),
              HasSubstr("usage.input must not be negative"));
  EXPECT_THAT(refusal("\"cost\":0.25", "\"cost\":-0.25"), HasSubstr("attempt.cost must not"));
  EXPECT_THAT(refusal("\"joined_name\"", "7"), HasSubstr("leniencies[1] must be a string"));
  EXPECT_THAT(refusal("\"low\":", "\"lo\":"), HasSubstr("lacks field 'low'"));
  EXPECT_THAT(refusal("{\"model\"", "\"model\""), HasSubstr("is not JSON at character"));
}

TEST(AttemptJson, RefusesWhatContradictsItself) {
  const auto refusal_of = [](auto change) -> std::string {
    Attempt a = example_attempt();
    change(a);
    try {
      attempt_from_json(to_json(a));
    } catch (const Error& e) {
      return e.message();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal_of([](Attempt&) {}), "accepted");
  EXPECT_THAT(refusal_of([](Attempt& a) {
                a.speedup = {2, 1, 3};
              }),
              HasSubstr("attempt.speedup must be in order"));
  EXPECT_THAT(refusal_of([](Attempt& a) { a.speedup = {}; }),
              HasSubstr("attempt.verdict is passed"));
  EXPECT_THAT(refusal_of([](Attempt& a) { a.outcome = Outcome::refused; }),
              HasSubstr("attempt.verdict is passed"));
}

TEST(PlainReading, TakesWrittenLinesAndKeepsNothingOfAnEarlierOne) {
  Attempt used = example_attempt();
  Attempt bare;
  bare.task = {1, 1};
  ASSERT_TRUE(read_plain_attempt(to_json(bare), used));
  EXPECT_EQ(to_json(used), to_json(bare));
  ASSERT_TRUE(read_plain_attempt(to_json(example_attempt()), used));
  EXPECT_EQ(to_json(used), to_json(example_attempt()));
}

TEST(PlainReading, LeavesWhatIsUnusualToTheOtherWay) {
  const std::string line = to_json(example_attempt());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = line;
    const size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  const auto read = [](const std::string& text) {
    Attempt attempt;
    return read_plain_attempt(text, attempt);
  };
  EXPECT_TRUE(read(with("\"parent\":1,", "\"later\":[{\"sample\":9}],\"parent\":1,")));
  EXPECT_EQ(to_json(attempt_from_json(with("\"parent\":1,", "\"x\":{\"task\":9},\"parent\":1,"))),
            line);
  // Valid, if odd: the last of two counts, and true is 1.
  for (const std::string& odd : {with("\"parent\":1,", "\"parent\":7,\"parent\":1,"),
                                 with("\"parent\":1,", "\"parent\":true,")}) {
    EXPECT_FALSE(read(odd)) << odd;
    EXPECT_EQ(to_json(attempt_from_json(odd)), line);
  }
  for (const std::string& bad :
       {std::string(), std::string("7"), std::string("[]"), line + "x", line.substr(0, 50),
        with("\"parent\":1,", ""), with("\"parent\":1", "\"parent\":-1"),
        with("\"leniencies\":[", "\"leniencies\":[[],"),
        with("\"usage\":{", "\"usage\":[],\"u\":{"), with("\"low\":", "\"low\":{},\"lo\":"),
        with("\"passed\"", "\"past\"")}) {
    EXPECT_FALSE(read(bad)) << bad;
    EXPECT_THROW(attempt_from_json(bad), Error) << bad;
  }
}

TEST(Outcomes, HaveNamesThatReadBack) {
  for (const Outcome outcome :
       {Outcome::candidate, Outcome::no_candidate, Outcome::wrong_task, Outcome::truncated,
        Outcome::refused, Outcome::too_long, Outcome::unanswered}) {
    EXPECT_EQ(outcome_from_name(name_of(outcome)), outcome);
  }
  EXPECT_THROW(outcome_from_name("Candidate"), Error);
}

}  // namespace
}  // namespace kbench
