// What becomes of a candidate that is right at its preset's sizes and is tried at others.
#include "harness/measure/judge/size_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kbench::judge {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result passed() {
  Result result;
  result.verdict = Verdict::passed;
  result.preset = "smoke";
  result.variables = {{"N", int64_t{48}}, {"M", int64_t{16}}};
  result.samples = 8;
  result.speedup = {1, 2, 3};
  result.candidate_ms = 0.5;
  return result;
}

Result with(Verdict verdict, const std::string& message) {
  Result result;
  result.verdict = verdict;
  result.message = message;
  return result;
}

SizeUse use(const std::string& manifest, const std::string& shader = "") {
  return SizeUse({{"candidate.yaml", manifest}, {"k.comp", shader}});
}

const std::vector<Variables> kSizes = {{{"N", int64_t{67}}, {"M", int64_t{17}}}};
const char* const kReadsBoth = "groups: [\"ceil_div(N, 32)\", M]";

TEST(SizeRule, AFailureThereIsTheResultsAndItsTimesAreGone) {
  Result result = passed();
  look_at_other_sizes(result, kSizes, use(kReadsBoth),
                      [](const Variables&) { return with(Verdict::wrong_values, "3 of 9 wrong"); });
  EXPECT_EQ(result.verdict, Verdict::wrong_values);
  EXPECT_EQ(result.message, "at M=17, N=67: 3 of 9 wrong (right at M=16, N=48)");
  EXPECT_EQ(result.samples, 0);
  EXPECT_EQ(result.speedup.point, 0);
  EXPECT_EQ(result.candidate_ms, 0);
  EXPECT_EQ(std::get<int64_t>(result.variables.at("N")), 48);
}

TEST(SizeRule, SizesAreTakenFromVariablesThatAreNamedAndWhoseValueStandsNowhere) {
  const VariableValue own = int64_t{48};
  EXPECT_TRUE(use("groups: N").takes("N", own));
  EXPECT_TRUE(use("groups: 3", "i < KB_N").takes("N", own));
  EXPECT_FALSE(use("groups: 3").takes("N", own));
  EXPECT_FALSE(use("groups: N", "i < 48u").takes("N", own));
  const std::map<std::string, std::string> module = {{"m.py", "x.relu()"}};
  EXPECT_FALSE(SizeUse(module).takes("N", own));
  EXPECT_TRUE(SizeUse(module, /*module=*/true).takes("N", own));
  EXPECT_FALSE(SizeUse({{"c.yaml", "groups: N"}, {"k.spv", ""}}).takes("N", own));
}

TEST(SizeRule, WhatTakesNoSizeIsTiedToItsOwnAndSaysSo) {
  Result result = passed();
  look_at_other_sizes(result, kSizes, use("groups: 3"),
                      [](const Variables&) { return with(Verdict::wrong_values, "3 wrong"); });
  EXPECT_TRUE(result.correct());
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].severity, "note");
  EXPECT_EQ(result.diagnostics[0].message,
            "tied to its sizes, M=16, N=48: at M=17, N=67 it is wrong_values: 3 wrong");
}

TEST(SizeRule, WhatIsRightThereHasNoNote) {
  Result result = passed();
  look_at_other_sizes(result, kSizes, use("groups: 3"), [](const Variables&) { return passed(); });
  EXPECT_TRUE(result.correct());
  EXPECT_THAT(result.diagnostics, IsEmpty());
}

TEST(SizeRule, WhatDoesNotFitThereIsTiedAndNotWrong) {
  for (const Verdict verdict : {Verdict::invalid_candidate, Verdict::compile_error}) {
    Result result = passed();
    look_at_other_sizes(result, kSizes, use(kReadsBoth),
                        [&](const Variables&) { return with(verdict, "N % 16 != 0"); });
    EXPECT_TRUE(result.correct());
    ASSERT_EQ(result.diagnostics.size(), 1u);
    EXPECT_THAT(result.diagnostics[0].message, HasSubstr("at M=17, N=67 it is"));
    EXPECT_THAT(result.diagnostics[0].message, HasSubstr("N % 16 != 0"));
  }
}

TEST(SizeRule, ANumberThatMayBeASizeIsNotHeldAgainstIt) {
  // 16 may be M's value or a tile: it fails by M alone.
  const SizeUse ambiguous = use(kReadsBoth, "const uint TILE = 16u;");
  Result result = passed();
  look_at_other_sizes(result, kSizes, ambiguous, [](const Variables& sizes) {
    return sizes.contains("M") ? with(Verdict::wrong_values, "wrong") : passed();
  });
  EXPECT_TRUE(result.correct());
  EXPECT_EQ(result.diagnostics.size(), 1u);
  // It fails by N too, whose value stands nowhere.
  result = passed();
  look_at_other_sizes(result, kSizes, ambiguous,
                      [](const Variables&) { return with(Verdict::wrong_values, "wrong"); });
  EXPECT_EQ(result.verdict, Verdict::wrong_values);
  EXPECT_EQ(result.message, "at N=67: wrong (right at N=48)");
}

TEST(SizeRule, AFaultOfTheHarnessSaysNothing) {
  Result result = passed();
  look_at_other_sizes(result, kSizes, use(kReadsBoth),
                      [](const Variables&) { return with(Verdict::harness_error, "lost"); });
  EXPECT_TRUE(result.correct());
  EXPECT_THAT(result.diagnostics, IsEmpty());
}

const std::vector<Variables> kDrawn = {
    {{"N", int64_t{7}}}, {{"N", int64_t{66}}}, {{"N", int64_t{3}}}, {{"N", int64_t{12}}}};

Result right_in_fours(const Variables& sizes) {
  return std::get<int64_t>(sizes.at("N")) % 4 == 0 ? passed()
                                                   : with(Verdict::out_of_bounds, "past its end");
}

TEST(DrawnSizes, AreCountedAndTheFirstThatIsWrongIsKept) {
  const auto holds_at = try_drawn_sizes(kDrawn, right_in_fours, [] { return false; });
  ASSERT_TRUE(holds_at);
  EXPECT_EQ(holds_at->tried, 4);
  EXPECT_EQ(holds_at->right, 1);
  ASSERT_TRUE(holds_at->first_wrong);
  EXPECT_EQ(holds_at->first_wrong->sizes, kDrawn[0]);
  EXPECT_EQ(holds_at->first_wrong->verdict, Verdict::out_of_bounds);
  EXPECT_FALSE(holds_at->everywhere());
}

TEST(DrawnSizes, WhatIsNoFaultOfTheCandidatesIsNotTried) {
  const auto fails = [](const Variables&) { return with(Verdict::harness_error, "killed"); };
  EXPECT_FALSE(try_drawn_sizes(kDrawn, fails, [] { return false; }));
  EXPECT_FALSE(try_drawn_sizes({}, right_in_fours, [] { return false; }));
}

TEST(DrawnSizes, EndWhenItGetsLate) {
  int asked = 0;
  const auto holds_at = try_drawn_sizes(kDrawn, right_in_fours, [&] { return ++asked > 2; });
  ASSERT_TRUE(holds_at);
  EXPECT_EQ(holds_at->tried, 2);
}

TEST(DrawnSizes, MakeAFailureWhereBeingGeneralCounts) {
  Result result = passed();
  result.holds_at = try_drawn_sizes(kDrawn, right_in_fours, [] { return false; });
  require_general(result);
  EXPECT_EQ(result.verdict, Verdict::not_general);
  EXPECT_EQ(result.message,
            "right at 1 of 4 further sizes; at N=7 it is out_of_bounds: past its end");
  EXPECT_EQ(result.samples, 0);
  EXPECT_EQ(result.candidate_ms, 0);
  Result everywhere = passed();
  everywhere.holds_at = HoldsAt{4, 4, std::nullopt};
  require_general(everywhere);
  EXPECT_TRUE(everywhere.correct());
  Result untried = passed();
  require_general(untried);
  EXPECT_TRUE(untried.correct());
}

Result as_fast(double speedup) {
  Result result = passed();
  result.speedup = {speedup / 1.1, speedup, speedup * 1.1};
  return result;
}

TEST(Workloads, HaveEachSizesSpeedupTheirMeanAndTheLeast) {
  Result result = passed();
  time_at_sizes(
      kDrawn, use(kReadsBoth),
      [](const Variables& sizes) {
        return as_fast(std::get<int64_t>(sizes.at("N")) % 4 == 0 ? 8 : 0.5);
      },
      result);
  EXPECT_TRUE(result.correct());
  EXPECT_EQ(result.speedup.point, 2) << "its own stays";
  ASSERT_TRUE(result.workloads);
  ASSERT_EQ(result.workloads->each.size(), 4u);
  EXPECT_EQ(result.workloads->each[3].sizes, kDrawn[3]);
  EXPECT_EQ(result.workloads->each[3].speedup.point, 8);
  EXPECT_EQ(result.workloads->each[3].candidate_ms, 0.5);
  EXPECT_NEAR(result.workloads->geomean.point, 1, 1e-12);
  EXPECT_NEAR(result.workloads->geomean.low, 1 / std::sqrt(1.1), 1e-12);
  EXPECT_EQ(result.workloads->least.point, 0.5);
}

TEST(Workloads, OfACandidateThatIsWrongAtOneSizeAreNotGeneral) {
  Result result = passed();
  time_at_sizes(kDrawn, use(kReadsBoth), right_in_fours, result);
  EXPECT_EQ(result.verdict, Verdict::not_general);
  EXPECT_EQ(result.message, "at N=7 it is out_of_bounds: past its end");
  EXPECT_FALSE(result.workloads);
  EXPECT_EQ(result.samples, 0);
}

TEST(Workloads, AreNotRunOfFilesThatNameNoSize) {
  int runs = 0;
  const auto counted = [&](const Variables&) {
    ++runs;
    return passed();
  };
  Result result = passed();
  time_at_sizes(kDrawn, use("groups: 3"), counted, result);
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(result.verdict, Verdict::not_general);
  EXPECT_THAT(result.message, HasSubstr("name no size of the task"));
  for (const char* const learns : {"op: relu", "groups: N"}) {
    result = passed();
    time_at_sizes(kDrawn, use(learns), counted, result);
    EXPECT_TRUE(result.correct()) << learns;
  }
  result = passed();
  time_at_sizes(kDrawn, use("groups: 3", "uint n = x.length();"), counted, result);
  EXPECT_TRUE(result.correct());
  EXPECT_EQ(runs, 12);
}

TEST(Workloads, LeaveOutASizeWhereTheHarnessFailedAndSaySo) {
  Result result = passed();
  time_at_sizes(
      kDrawn, use(kReadsBoth),
      [](const Variables& sizes) {
        return std::get<int64_t>(sizes.at("N")) == 3 ? with(Verdict::harness_error, "memory")
                                                     : as_fast(2);
      },
      result);
  EXPECT_TRUE(result.correct());
  ASSERT_TRUE(result.workloads);
  EXPECT_EQ(result.workloads->each.size(), 3u);
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].message, "not timed at N=3: harness_error: memory");
  Result untimed = passed();
  time_at_sizes(
      kDrawn, use(kReadsBoth),
      [](const Variables&) { return with(Verdict::harness_error, "memory"); }, untimed);
  EXPECT_FALSE(untimed.workloads);
}

}  // namespace
}  // namespace kbench::judge
