#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kbench/score.h"
#include "tests/error_of.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr double kThresholds[] = {0, 0.5, 1, 2};

Result result_of(const std::string& set, TaskId task, double speedup,
                 Verdict verdict = Verdict::passed) {
  Result result;
  result.set = set;
  result.task = task;
  result.verdict = verdict;
  result.speedup = {speedup * 0.9, speedup, speedup * 1.1};
  return result;
}

const std::vector<TaskId> kTasks = {{1, 1}, {1, 2}, {2, 1}, {3, 4}};

std::vector<Result> two_sets() {
  return {result_of("direct", {1, 1}, 1.05),
          result_of("direct", {1, 2}, 0.8),
          result_of("direct", {2, 1}, 0, Verdict::wrong_values),
          result_of("direct", {3, 4}, 0, Verdict::does_not_fit),
          result_of("fused", {1, 1}, 4),
          result_of("fused", {1, 2}, 2),
          result_of("fused", {2, 1}, 1)};
}

TEST(Leaderboard, IsOfOnePresetAmongTheTasksAskedFor) {
  std::vector<Result> results = two_sets();
  for (Result& result : results) result.preset = "v0";
  results.push_back(result_of("fused", {4, 1}, 1));
  results.back().preset = "train";
  EXPECT_EQ(leaderboard(results, kTasks, kThresholds).size(), 2u);
  results.back().task = {3, 4};
  EXPECT_THAT(error_of([&] { leaderboard(results, kTasks, kThresholds); }).what(),
              HasSubstr("results are of 2 presets: train (1), v0 (7)"));
}

TEST(Leaderboard, HasNoMeanWhereNothingIsRight) {
  const Result wrong = result_of("none", {1, 1}, 0, Verdict::wrong_values);
  const std::string text = format_leaderboard(leaderboard({{wrong}}, kTasks, kThresholds));
  EXPECT_THAT(text, HasSubstr("-        -\n"));
  EXPECT_THAT(text, Not(HasSubstr("0.00x")));
}

TEST(Leaderboard, CountsEverySetOverTheTasksAskedFor) {
  const auto rows = leaderboard(two_sets(), kTasks, kThresholds);
  ASSERT_EQ(rows.size(), 2u);
  const LeaderboardRow& fused = rows[0];
  EXPECT_EQ(fused.set, "fused");
  EXPECT_EQ(fused.tasks, 4);
  EXPECT_EQ(fused.correct, 3);
  EXPECT_EQ(fused.median_speedup, 2);
  EXPECT_DOUBLE_EQ(fused.geomean_speedup, 2);
  ASSERT_EQ(fused.overall.size(), 4u);
  EXPECT_EQ(fused.overall[2].p, 1);
  EXPECT_EQ(fused.overall[2].at_point, 2) << "1 is not above 1";
  EXPECT_EQ(fused.overall[3].at_point, 1);
  EXPECT_DOUBLE_EQ(fused.overall[2].point(), 0.5);
  EXPECT_EQ(fused.by_level.at(1)[2].at_point, 2);
  EXPECT_EQ(fused.by_level.at(1)[2].tasks, 2);
  EXPECT_EQ(fused.by_level.at(3)[0].at_point, 0);
  EXPECT_EQ(fused.correct_in_level(1), 2);
  EXPECT_EQ(fused.correct_in_level(3), 0);
  EXPECT_THAT(fused.not_passed, ElementsAre(Pair(TaskId{3, 4}, Verdict::missing)));

  const LeaderboardRow& direct = rows[1];
  EXPECT_EQ(direct.correct, 2);
  EXPECT_EQ(direct.overall[2].at_point, 1);
  EXPECT_EQ(direct.overall[2].at_low, 0) << "1.05 is not above 1 beyond doubt";
  EXPECT_THAT(direct.not_passed, ElementsAre(Pair(TaskId{2, 1}, Verdict::wrong_values),
                                             Pair(TaskId{3, 4}, Verdict::does_not_fit)));
}

TEST(Leaderboard, LastOfTwoResultsForATaskCounts) {
  auto results = two_sets();
  results.push_back(result_of("direct", {2, 1}, 3));
  results.push_back(result_of("fused", {1, 1}, 0, Verdict::crashed));
  const auto rows = leaderboard(results, kTasks, kThresholds);
  EXPECT_EQ(rows[0].set, "direct");
  EXPECT_EQ(rows[0].correct, 3);
  EXPECT_EQ(rows[1].correct, 2);
  EXPECT_EQ(rows[1].not_passed.front().second, Verdict::crashed);
}

TEST(Leaderboard, LeavesOutTasksNotAskedFor) {
  const std::vector<TaskId> one = {{2, 1}};
  const auto rows = leaderboard(two_sets(), one, kThresholds);
  EXPECT_EQ(rows[0].tasks, 1);
  EXPECT_EQ(rows[0].by_level.size(), 1u);
  const std::vector<TaskId> other = {{1, 99}};
  EXPECT_TRUE(leaderboard(two_sets(), other, kThresholds).empty());
}

TEST(Leaderboard, SortsByThresholdThenGeometricMean) {
  const std::vector<TaskId> tasks = {{1, 1}, {1, 2}};
  const std::vector<Result> results = {
      result_of("a", {1, 1}, 0.9),  result_of("a", {1, 2}, 0.9),   // correct, never fast
      result_of("b", {1, 1}, 1.1),  result_of("b", {1, 2}, 0.01),  // fast once
      result_of("c", {1, 1}, 1.01), result_of("c", {1, 2}, 0.5)};
  const auto names = [&](std::vector<double> thresholds) {
    std::string text;
    for (const auto& row : leaderboard(results, tasks, thresholds)) text += row.set;
    return text;
  };
  EXPECT_EQ(names({0, 0.5, 1, 2}), "cba");
  EXPECT_EQ(names({1}), "cba");
  EXPECT_EQ(names({0.2, 0.6}), "acb") << "no threshold from 1: the last decides";
  EXPECT_EQ(names({}), "acb") << "correct everywhere alike: the geometric mean decides";
}

/// A mean of tasks that collapse and others would say nothing of either.
TEST(Leaderboard, KeepsTasksThatCollapseApart) {
  const std::vector<TaskId> collapsing = {{1, 1}, {3, 4}};
  const auto rows = leaderboard(two_sets(), kTasks, kThresholds, {}, collapsing);
  const LeaderboardRow& fused = rows[0];
  EXPECT_EQ(fused.collapsing_tasks, 2);
  EXPECT_EQ(fused.collapsing_correct, 1);
  EXPECT_EQ(fused.overall[2].at_point, 2);
  EXPECT_EQ(fused.collapsing[2].at_point, 1);
  EXPECT_EQ(fused.collapsing[2].tasks, 2);
  EXPECT_EQ(fused.not_collapsing[2].at_point, 1);
  EXPECT_EQ(fused.not_collapsing[2].tasks, 2);
  EXPECT_DOUBLE_EQ(fused.geomean_speedup, std::sqrt(2.0)) << "of 2 and 1, without 4";
  EXPECT_DOUBLE_EQ(fused.collapsing_geomean, 4);
  const std::string text = format_leaderboard(rows);
  EXPECT_THAT(text, HasSubstr("not collapsing"));
  EXPECT_THAT(text, HasSubstr("4.00x"));
  const auto json = nlohmann::json::parse(leaderboard_json(rows))[0];
  EXPECT_EQ(json["collapsing"]["tasks"], 2);
  EXPECT_EQ(json["not_collapsing"]["fast_p"][2]["at_point"], 1);
  EXPECT_THAT(format_leaderboard(leaderboard(two_sets(), kTasks, kThresholds)),
              Not(HasSubstr("collapsing")));
}

TEST(Leaderboard, CountsWhatHoldsAtOtherSizes) {
  auto results = two_sets();
  results[0].holds_at = HoldsAt{6, 6, std::nullopt};
  results[1].holds_at = HoldsAt{6, 5, WrongAt{}};
  results[2].holds_at = HoldsAt{6, 6, std::nullopt};  // It is wrong, and does not count.
  const auto rows = leaderboard(results, kTasks, kThresholds);
  EXPECT_EQ(rows[1].set, "direct");
  EXPECT_EQ(rows[1].tried_at_sizes, 2);
  EXPECT_EQ(rows[1].general, 1);
  EXPECT_THAT(format_leaderboard(rows), HasSubstr("general"));
  EXPECT_THAT(format_leaderboard(leaderboard(two_sets(), kTasks, kThresholds)),
              Not(HasSubstr("general")));
  EXPECT_EQ(nlohmann::json::parse(leaderboard_json(rows))[1]["general"], 1);
}

TEST(Leaderboard, IsByTheSpeedupThatWasChosen) {
  auto results = two_sets();
  for (Result& result : results) {
    if (!result.correct()) continue;
    result.settings += " workloads=4";
    result.workloads = Workloads{{}, {0.4, 0.5, 0.6}, {0.1, 0.2, 0.3}};
  }
  results[0].workloads.reset();  // its sizes cannot be moved
  EXPECT_EQ(with_speedup_of(SpeedupOf::own, results)[1].speedup.point, results[1].speedup.point);
  EXPECT_EQ(code_of([] { speedup_of_from_name("most"); }), ErrorCode::kInvalidArgument);
  const auto geomean = with_speedup_of(SpeedupOf::geomean, results);
  EXPECT_EQ(geomean[0].speedup.point, results[0].speedup.point);
  EXPECT_EQ(geomean[1].speedup.point, 0.5);
  EXPECT_EQ(with_speedup_of(SpeedupOf::least, results)[1].speedup.point, 0.2);
  results[0].settings.clear();
  EXPECT_THAT(error_of([&] { with_speedup_of(SpeedupOf::least, results); }).message(),
              HasSubstr("was timed at its own sizes alone: judge it with --workloads N"));
}

TEST(FormatLeaderboard, FitsATerminalAndAligns) {
  const auto rows = leaderboard(two_sets(), kTasks, kThresholds);
  const std::string text = format_leaderboard(rows);
  EXPECT_THAT(text, HasSubstr("fast_0 (low)"));
  EXPECT_THAT(text, HasSubstr("fast_0.5 (low)"));
  EXPECT_THAT(text, HasSubstr("fast_1 (low)"));
  EXPECT_THAT(text, HasSubstr("fused       3/4"));
  EXPECT_THAT(text, HasSubstr("  L1        2/2"));
  EXPECT_THAT(text, HasSubstr("0.250 (0.000)"));
  EXPECT_THAT(text, HasSubstr("2.00x"));
  std::istringstream lines(text);
  std::string line;
  size_t table_width = 0;
  for (int i = 0; std::getline(lines, line) && i < 9; ++i) {
    EXPECT_LE(line.size(), 120u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
    if (line.starts_with("set") || line.starts_with("fused ") || line.starts_with("direct ")) {
      if (table_width == 0) table_width = line.size();
      EXPECT_EQ(line.size(), table_width) << line;
    }
  }
  EXPECT_GT(table_width, 0u);
}

TEST(FormatLeaderboard, ShowsNamesOfSetsInOneLine) {
  const std::vector<Result> results = {result_of("a\nb  4/4\x1b[1m", {1, 1}, 2)};
  const auto rows = leaderboard(results, kTasks, kThresholds);
  for (const std::string& text : {format_leaderboard(rows), format_leaderboard_notes(rows)}) {
    EXPECT_THAT(text, Not(HasSubstr("a\nb")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(FormatLeaderboard, ListsWhatDidNotPassWithItsVerdict) {
  const std::string text = format_leaderboard_notes(leaderboard(two_sets(), kTasks, kThresholds));
  EXPECT_THAT(text, HasSubstr("direct: 2 not passed: wrong_values level2/1; "
                              "does_not_fit level3/4 (not the candidate's fault)\n"));
  EXPECT_THAT(text, HasSubstr("fused: 1 not passed: missing level3/4\n"));
}

TEST(FormatLeaderboard, SaysWhatSpeedupsRestOn) {
  auto results = two_sets();
  const auto notes = [&] {
    return format_leaderboard_notes(leaderboard(results, kTasks, kThresholds));
  };
  for (Result& result : results) result.certificate = "none";
  EXPECT_THAT(notes(), Not(HasSubstr("busy")));
  EXPECT_THAT(notes(), Not(HasSubstr("certificate")));
  EXPECT_THAT(notes(), Not(HasSubstr("software")));
  for (Result& result : results) {
    result.software_device = true;
    result.busy = result.set == "fused";
    result.certificate = result.set == "fused" ? "untried" : "values";
  }
  EXPECT_THAT(notes(), HasSubstr("software device"));
  EXPECT_THAT(notes(), HasSubstr("3 of 5 speedups were measured while other processes kept the "
                                 "processors busy"));
  EXPECT_THAT(notes(), HasSubstr("3 of 5 that passed did so at sizes without a certificate"));
  const auto json =
      nlohmann::json::parse(leaderboard_json(leaderboard(results, kTasks, kThresholds)));
  for (const char* count : {"busy", "untried"}) {
    EXPECT_EQ(json[0][count], 3);
    EXPECT_EQ(json[1][count], 0);
  }
}

TEST(FormatLeaderboard, SaysWhenThereIsNothing) {
  EXPECT_EQ(format_leaderboard({}), "no results\n");
}

TEST(LeaderboardJson, HoldsTheTable) {
  const auto rows = leaderboard(two_sets(), kTasks, kThresholds);
  const auto json = nlohmann::json::parse(leaderboard_json(rows));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["set"], "fused");
  EXPECT_EQ(json[0]["correct"], 3);
  EXPECT_EQ(json[0]["fast_p"][2]["p"], 1.0);
  EXPECT_EQ(json[0]["fast_p"][2]["point"], 0.5);
  EXPECT_EQ(json[0]["levels"]["1"]["tasks"], 2);
  EXPECT_EQ(json[0]["levels"]["1"]["fast_p"][3]["at_point"], 1);
  EXPECT_EQ(json[1]["not_passed"][1]["verdict"], "does_not_fit");
  EXPECT_EQ(json[1]["not_passed"][1]["task"], "level3/4");
}

}  // namespace
}  // namespace kbench
