// kbench baseline.

#include "kbench/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/run_program.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace kbench::testing;

/// A baseline of five tasks as a device might have given it; no sizes, so that any will do.
Baseline by_hand() {
  Baseline baseline;
  baseline.device = "GPU <A> & co";
  baseline.preset = "smoke";
  baseline.date = "2025-01-31T12:00:00Z";
  baseline.roofline = {4e12, 6e13};
  const auto add = [&](TaskId task, const std::string& name, double ms) {
    BaselineEntry& entry = baseline.tasks.emplace_back();
    entry.task = task;
    entry.name = name;
    entry.times = summarize_passes(std::vector<double>{ms});
    entry.least_ms = ms / 4;
    entry.eager_least_ms = ms / 2;
  };
  add({1, 1}, "Square_matrix_multiplication", 2);
  add({1, 19}, "ReLU", 10);
  add({2, 1}, "Conv2D_ReLU_BiasAdd", 0.5);
  add({3, 1}, "MLP", 4);
  BaselineEntry& failed = baseline.tasks.emplace_back();
  failed.task = {3, 5};
  failed.name = "AlexNet";
  failed.error = "needs 17 GB";
  return baseline;
}

constexpr const char* kTheirs = R"({"device": "GPU B", "tasks": {
    "1/1": {"eager_ms": 4, "strict_ms": 2}, "1/19": {"eager_ms": 2.5, "strict_ms": 10},
    "2/1": {"eager_ms": 4, "strict_ms": 0.5}, "3/5": {"eager_ms": 1, "strict_ms": 1}}})";

class BaselineFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    write_baseline(ours_, by_hand());
    write_file(theirs_, kTheirs);
  }

  ScratchFolder folder_;
  const std::string ours_ = folder_ / "ours.json", theirs_ = folder_ / "theirs.json";
};

TEST_F(BaselineFiles, TwoFilesAreComparedWithoutMeasuring) {
  const Said said = run_program({"baseline", ours_, "--against", theirs_ + ":eager_ms"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Against theirs.json (eager_ms), recorded on GPU B"));
  EXPECT_THAT(said.out, HasSubstr("warning: theirs.json was recorded on GPU B, not on GPU <A>"));
  EXPECT_THAT(said.out, HasSubstr("does not say at what sizes"));
  // Ratios 2, 0.25, 8: level 1 sqrt(0.5), all the cube root of 4.
  EXPECT_THAT(said.out, ::testing::ContainsRegex("level1/1 .* 4 +2 +2 +25% +50%"));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("level 1 +2 +0.707"));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("level 2 +1 +8"));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("all +3 +1.59"));
  EXPECT_THAT(said.out, HasSubstr("Below 0.5: 1\n"));
  EXPECT_THAT(said.out, HasSubstr("No time in theirs.json: level3/1\n"));
  EXPECT_THAT(said.out, HasSubstr("level3/5_AlexNet: needs 17 GB"));
}

TEST_F(BaselineFiles, TheComparisonIsInTheDocument) {
  const Said said = run_program({"baseline", ours_, "--against", theirs_ + ":eager_ms", "--json"});
  ASSERT_EQ(said.code, 0) << said.err;
  const json document = json::parse(said.out);
  EXPECT_EQ(document["tasks"].size(), 5u);
  const json& comparison = document["comparison"];
  EXPECT_NEAR(comparison["geomean"], std::cbrt(4.0), 1e-12);
  EXPECT_NEAR(comparison["geomean_by_level"]["1"], std::sqrt(0.5), 1e-12);
  EXPECT_EQ(comparison["tasks"][1]["ratio"], 0.25);
  EXPECT_EQ(comparison["not_theirs"], json({"level3/1"}));
  EXPECT_EQ(comparison["not_ours"], json({"level3/5"}));
}

TEST_F(BaselineFiles, TasksNarrowWhatIsRead) {
  const Said said =
      run_program({"baseline", ours_, "--level", "1", "--against", theirs_ + ":strict_ms"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, Not(HasSubstr("level2/1")));
  EXPECT_THAT(said.out, Not(HasSubstr("AlexNet")));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("all +2 +1\n"));
}

TEST_F(BaselineFiles, KernelBenchsFormatIsWrittenAndReadBack) {
  const std::string file = folder_ / "kernelbench.json";
  write_kernelbench_baseline(file, by_hand());
  EXPECT_TRUE(json::parse(read_file(file))["level3"]["5_AlexNet.py"].is_null());
  const Said said = run_program({"baseline", ours_, "--against", file});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("Against kernelbench.json (mean), recorded on GPU <A> & co"));
  EXPECT_THAT(said.out, ::testing::ContainsRegex("all +4 +1\n"));
}

TEST_F(BaselineFiles, TimesInAnotherDtypeAreNotCompared) {
  Baseline halves = by_hand();
  halves.dtype = DType::f16;
  const std::string file = folder_ / "half.json";
  write_baseline(file, halves);
  EXPECT_THAT(run_program({"baseline", file}).out, HasSubstr("preset smoke in f16\n"));
  const Said refused = run_program({"baseline", file, "--against", ours_});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("ours.json are of tasks in f32, not in f16"));
}

TEST_F(BaselineFiles, MistakesAreOneLineEach) {
  write_file(folder_ / "bad.json", R"({"tasks": {"1/1": {"ms": "fast"}}})");
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{ours_, "--against", theirs_}, "choose a column"},
      {{ours_, "--against", theirs_ + ":x"}, "it has eager_ms, strict_ms"},
      {{ours_, "--against", folder_ / "bad.json"}, "bad.json: tasks holds no times"},
      {{theirs_}, "no baseline of kbench's"},
      {{folder_ / "none.json"}, "none.json"},
      {{ours_, "--task", "1/2"}, "none of the tasks asked for"},
  };
  for (const auto& [arguments, message] : mistakes) {
    std::vector<std::string> all = {"baseline"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Said said = run_program(all);
    EXPECT_EQ(said.code, 2) << message;
    EXPECT_EQ(count_lines(said.err), 1u) << said.err;
    EXPECT_THAT(said.err, HasSubstr(message));
  }
}

}  // namespace
}  // namespace kbench
