#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kbench/error.h"
#include "kbench/score.h"

namespace kbench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Result merged_result(const std::string& set, TaskId task, double speedup,
                     Verdict verdict = Verdict::passed) {
  Result result;
  result.set = set;
  result.task = task;
  result.candidate_hash = "hash of " + set + to_string(task);
  result.preset = "smoke";
  result.device = "llvmpipe";
  result.settings = "tolerance=kbench precision=0.02";
  result.version = "0.1.0";
  result.verdict = verdict;
  result.speedup = {speedup * 0.9, speedup, speedup * 1.1};
  return result;
}

Result missing(const std::string& set, TaskId task) {
  Result result = merged_result(set, task, 0, Verdict::missing);
  result.candidate_hash.clear();
  return result;
}

/// Files that are called a, b, ...
std::vector<ResultLine> files(const std::vector<std::vector<Result>>& contents) {
  std::vector<ResultLine> lines;
  char name = 'a';
  for (const auto& content : contents) {
    int number = 0;
    for (const Result& result : content) {
      lines.push_back({result, std::string(1, name), ++number});
    }
    ++name;
  }
  return lines;
}

std::vector<std::string> outcomes(const std::vector<Result>& results) {
  std::vector<std::string> texts;
  for (const Result& result : results) {
    texts.push_back(result.set + " " + to_string(result.task) + " " +
                    std::string(name_of(result.verdict)));
  }
  return texts;
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
    return e.what();
  }
  return "nothing was thrown";
}

std::string refusal(const std::vector<std::vector<Result>>& contents) {
  return message_of([&] { merge_results(files(contents)); });
}

const TaskId kRelu{1, 19}, kTanh{1, 22}, kConv{2, 1};

TEST(MergeResults, TakesAllFilesInTheirOrder) {
  const auto merged = merge_results(files(
      {{merged_result("x", kTanh, 2)}, {}, {merged_result("x", kRelu, 1), missing("y", kRelu)}}));
  EXPECT_THAT(outcomes(merged),
              ElementsAre("x level1/22 passed", "x level1/19 passed", "y level1/19 missing"));
}

TEST(MergeResults, CountsEqualResultsOnce) {
  Result slower_check = merged_result("x", kTanh, 0, Verdict::wrong_values);
  Result again = slower_check;
  again.wall_s = 3;
  again.message = "other inputs, other elements";
  const std::vector<Result> one = {merged_result("x", kRelu, 2), slower_check, missing("x", kConv)};
  const std::vector<Result> two = {merged_result("x", kRelu, 2), again, missing("x", kConv)};
  EXPECT_EQ(merge_results(files({one, two, one})).size(), 3u);
}

TEST(MergeResults, RefusesTwoVerdictsForOneExperimentNamingPlaces) {
  const Result passed = merged_result("x", kRelu, 2);
  const Result wrong = merged_result("x", kRelu, 0, Verdict::wrong_values);
  EXPECT_THAT(refusal({{missing("x", kTanh), passed}, {wrong}}),
              AllOf(HasSubstr("x level1/19"), HasSubstr("passed 2x in a:2"),
                    HasSubstr("wrong_values in b:1")));
  EXPECT_THAT(refusal({{wrong, passed}}), HasSubstr("wrong_values in a:1 and passed 2x in a:2"));
}

TEST(MergeResults, RefusesOtherTimesOfOneExperimentInAnotherFile) {
  const Result once = merged_result("x", kRelu, 2), twice = merged_result("x", kRelu, 2.5);
  EXPECT_THAT(refusal({{once}, {twice}}), HasSubstr("passed 2x in a:1 and passed 2.5x in b:1"));
  const auto again = merge_results(files({{once, twice}}));
  ASSERT_EQ(again.size(), 1u) << "measured again, into the same file";
  EXPECT_EQ(again[0].speedup.point, 2.5);
}

TEST(MergeResults, CountsAllContradictionsAndNamesSome) {
  std::vector<Result> good, bad;
  for (int number = 1; number <= 9; ++number) {
    good.push_back(merged_result("x", {1, number}, 2));
    bad.push_back(merged_result("x", {1, number}, 0, Verdict::crashed));
  }
  const std::string said = refusal({good, bad});
  EXPECT_THAT(said, AllOf(HasSubstr("9 contradictions"), HasSubstr("level1/3")));
  EXPECT_EQ(said.find("level1/4"), said.npos);
}

TEST(MergeResults, AFailureOfKbenchGivesWayWhereverItStands) {
  const Result fault = merged_result("x", kRelu, 0, Verdict::harness_error);
  const Result passed = merged_result("x", kRelu, 2);
  EXPECT_THAT(outcomes(merge_results(files({{fault, passed}}))), ElementsAre("x level1/19 passed"));
  EXPECT_THAT(outcomes(merge_results(files({{passed}, {fault}}))),
              ElementsAre("x level1/19 passed"));
  EXPECT_THAT(outcomes(merge_results(files({{fault}, {fault}}))),
              ElementsAre("x level1/19 harness_error"));
}

TEST(MergeResults, OfTwoExperimentsForATaskTheLaterInAFileCounts) {
  Result edited = merged_result("x", kRelu, 3);
  edited.candidate_hash = "edited";
  const auto merged = merge_results(files({{merged_result("x", kRelu, 2), edited}}));
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged[0].candidate_hash, "edited");
}

TEST(MergeResults, RefusesTwoExperimentsForATaskNamingDifferences) {
  Result other = merged_result("x", kRelu, 3);
  other.preset = "v0.1";
  other.variables = {{"dim", int64_t{5}}};
  other.driver = "550.54";
  EXPECT_THAT(refusal({{merged_result("x", kRelu, 2)}, {other}}),
              AllOf(HasSubstr("x level1/19 is two experiments, in a:1 and b:1"),
                    HasSubstr("preset (smoke, v0.1) and driver (, 550.54)")));
}

TEST(MergeResults, OneCandidateInTwoDtypesIsTwoExperiments) {
  Result halves = merged_result("x", kRelu, 2);
  halves.dtype = DType::f16;
  EXPECT_THAT(refusal({{merged_result("x", kRelu, 2)}, {halves}}),
              AllOf(HasSubstr("x level1/19 is two experiments, in a:1 and b:1"),
                    HasSubstr("dtype (f32, f16)")));
}

TEST(MergeResults, AMissingCandidateGivesWayToOneInAnotherFile) {
  const std::vector<Result> first = {merged_result("x", kRelu, 2), missing("x", kTanh)};
  const std::vector<Result> second = {missing("x", kRelu), merged_result("x", kTanh, 3)};
  EXPECT_THAT(outcomes(merge_results(files({first, second}))),
              ElementsAre("x level1/19 passed", "x level1/22 passed"));
}

TEST(MergeResults, NamesAreShownWithoutTheirControlCharacters) {
  const std::string said = refusal({{merged_result("x\x1b[1m", kRelu, 2)},
                                    {merged_result("x\x1b[1m", kRelu, 0, Verdict::crashed)}});
  EXPECT_EQ(said.find('\x1b'), said.npos) << said;
}

TEST(DeviceKinds, AreNamesOfDevicesThatJudged) {
  std::vector<Result> results = {merged_result("x", kRelu, 2), merged_result("x", kTanh, 2)};
  results.push_back(missing("x", kConv));
  results.back().device = "NVIDIA H100";
  EXPECT_THAT(device_kinds(results), ElementsAre(Pair("llvmpipe", 2)));
  EXPECT_NO_THROW(require_one_device_kind(results));
  EXPECT_NO_THROW(require_one_device_kind({}));
  results.push_back(merged_result("y", kConv, 2));
  results.back().device = "NVIDIA H200";
  EXPECT_THAT(message_of([&] { require_one_device_kind(results); }),
              AllOf(HasSubstr("2 kinds of device"), HasSubstr("NVIDIA H200 (1), llvmpipe (2)")));
}

TEST(OneQuestion, IsOnePresetOneToleranceOneBaseline) {
  const Result first = merged_result("x", kRelu, 2);
  const auto refusal_of = [&](const Result& second) {
    const Result both[] = {first, second};
    return message_of([&] { require_one_question(both); });
  };
  Result other = first;
  other.settings = "tolerance=kbench precision=0.5";
  EXPECT_EQ(refusal_of(other), "nothing was thrown");
  other.preset = "v0";
  EXPECT_THAT(refusal_of(other), HasSubstr("2 presets: smoke (1), v0 (1)"));
  other = first;
  other.dtype = DType::bf16;
  EXPECT_THAT(refusal_of(other), HasSubstr("2 dtypes: bf16 (1), f32 (1)"));
  other = first;
  other.settings = "tolerance=kernelbench precision=0.02";
  EXPECT_THAT(refusal_of(other), HasSubstr("tolerance=kernelbench (1)"));
  other = first;
  other.baseline = "2.5 ms, torch.json (eager_ms), recorded on NVIDIA H200";
  EXPECT_THAT(refusal_of(other), HasSubstr("2 baselines: eager (1), torch.json"));
  Result third = other;
  third.baseline = "3.5 ms, torch.json (eager_ms), recorded on NVIDIA H200";
  const Result recorded[] = {other, third};
  EXPECT_NO_THROW(require_one_question(recorded)) << "each task has its own number";
}

}  // namespace
}  // namespace kbench
