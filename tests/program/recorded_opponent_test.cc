// Candidates against recorded times: --baseline FILE.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kbench/result.h"
#include "tests/program/run_program.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using namespace kbench::testing;

class RecordedOpponent : public ::testing::Test {
 protected:
  void SetUp() override { KBENCH_NEED_SOFTWARE_DEVICE(); }

  /// The main job on one candidate of built-in operators, against recorded times.
  Said evaluate(const std::string& baseline, const std::vector<std::string>& more = {}) {
    const Said shown = run_program({"show", "1/19", "--candidate"});
    write_file(folder_ / "mine/1_19.yaml", shown.out);
    std::vector<std::string> arguments = {
        "--candidates", folder_ / "mine", "--device",      "cpu",           "--measure-seconds",
        "0.02",         "--task",         "1/19",          "--min-samples", "12",
        "--baseline",   baseline,         "--other-sizes", "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  /// The path of a table that gives the task's time.
  std::string table(const std::string& name, double ms) {
    write_file(folder_ / name,
               R"({"device": "GPU B", "preset": "smoke", "tasks": {"1/19": {"ms": )" +
                   std::to_string(ms) + "}}}");
    return folder_ / name;
  }

  ScratchFolder folder_;
};

TEST_F(RecordedOpponent, SpeedupIsRecordedTimeOverTheCandidates) {
  const std::string output = folder_ / "results.jsonl";
  const Said said = evaluate(table("slow.json", 1000), {"--output", output});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("speedups are against slow.json (ms), recorded on GPU B"));
  EXPECT_THAT(said.out, HasSubstr("warning: slow.json was recorded on GPU B, not on "));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("mine +1/1 +1.000 \\(1.000\\)"));
  const std::vector<Result> results = read_results(output);
  ASSERT_EQ(results.size(), 1u);
  const Result& result = results[0];
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
  EXPECT_EQ(result.baseline, "1000 ms, slow.json (ms), recorded on GPU B");
  EXPECT_EQ(result.baseline_ms, 1000);
  EXPECT_NEAR(result.speedup.point, 1000 / result.candidate_ms, 1e-6 * result.speedup.point);
  EXPECT_LE(result.speedup.low, result.speedup.point);
  EXPECT_GE(result.speedup.high, result.speedup.point);
  EXPECT_GT(result.speedup.low, 0);
}

TEST_F(RecordedOpponent, ANewTimeIsANewExperiment) {
  const std::string output = folder_ / "results.jsonl";
  evaluate(table("a.json", 1000), {"--output", output});
  EXPECT_THAT(evaluate(table("a.json", 1000), {"--output", output}).out,
              HasSubstr("1 already done"));
  evaluate(table("a.json", 0.001), {"--output", output});
  evaluate("eager", {"--output", output});
  const std::vector<Result> results = read_results(output);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_LT(results[1].speedup.high, 1);
  EXPECT_EQ(results[2].baseline, "eager");
}

TEST_F(RecordedOpponent, AWrongResultStaysWrong) {
  write_file(folder_ / "wrong/1_19.yaml",
             "kbench: 1\ntask: level1/19\ndispatch:\n  - {op: gelu, in: [x], out: output}\n");
  const Said said = run_program({"run", folder_ / "wrong/1_19.yaml", "--device", "cpu",
                                 "--measure-seconds", "0.02", "--baseline", table("a.json", 1000)});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("wrong_values"));
  EXPECT_THAT(said.err, HasSubstr("warning: a.json was recorded on GPU B"));
}

TEST_F(RecordedOpponent, JsonNamesIt) {
  const Said said = evaluate(table("slow.json", 1000), {"--json"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(json::parse(said.out)["baseline"], "slow.json (ms), recorded on GPU B");
}

TEST_F(RecordedOpponent, MistakesAreFoundBeforeAnythingRuns) {
  write_file(folder_ / "other.json", R"({"tasks": {"1/1": {"ms": 1}}})");
  write_file(folder_ / "v0.json", R"({"preset": "v0", "tasks": {"1/19": {"ms": 1}}})");
  write_file(folder_ / "half.json", R"({"dtype": "f16", "tasks": {"1/19": {"ms": 1}}})");
  for (const auto& [baseline, message] : std::vector<std::pair<std::string, std::string>>{
           {folder_ / "other.json", "other.json has no ms for level1/19"},
           {folder_ / "v0.json", "taken at other sizes (preset v0)"},
           {folder_ / "half.json", "the times in half.json are of tasks in f16, not in f32"},
           {folder_ / "none.json", "none.json"}}) {
    const Said said = evaluate(baseline);
    EXPECT_EQ(said.code, 2) << message;
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    EXPECT_THAT(said.err, HasSubstr(message));
  }
  const Said timed = evaluate(table("slow.json", 1000), {"--workloads", "4"});
  EXPECT_EQ(timed.code, 2);
  EXPECT_THAT(timed.err, HasSubstr("--baseline FILE has none of them"));
  const Said said = evaluate(table("slow.json", 1000) + ":us");
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr("has no column 'us'; it has ms"));
  const Said both = evaluate(table("slow.json", 1000), {"--opponent", "torch"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("exclude each other"));
}

}  // namespace
}  // namespace kbench
