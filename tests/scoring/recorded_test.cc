#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/baseline.h"
#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/scoring/temporary_file.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::TemporaryFile;

constexpr const char* kTable = R"({
  "device": "NVIDIA H200", "preset": "smoke",
  "tasks": {"1/1": {"eager_ms": 2, "eager_strict_ms": 3, "note": "text"},
            "level2/1": {"eager_ms": 5, "eager_strict_ms": null},
            "3/1": {"eager_ms": 7}}})";

constexpr const char* kKernelBench = R"({
  "level1": {
    "1_Square_matrix_multiplication_.py":
      {"mean": 2.5, "std": 0.1, "min": 2, "max": 3, "num_trials": 100, "hardware": "NVIDIA H100",
       "device": "cuda:0"},
    "19_ReLU": {"mean": 4, "std": 0, "min": 4, "max": 4, "num_trials": 100},
    "20_LeakyReLU.py": null},
  "level2": {"1_Conv2D_ReLU_BiasAdd.py": {"mean": 8, "min": 7, "max": 9}},
  "level4": {}, "note": "text"})";

class Recorded : public ::testing::Test {
 protected:
  RecordedTimes read(const std::string& text, const std::string& column = "") {
    file_.write(text);
    return read_recorded_times(file_.path(), column);
  }
  /// The message of the error that reading throws.
  std::string complaint(const std::string& text, const std::string& column = "",
                        ErrorCode code = ErrorCode::kParse) {
    const Error error = error_of([&] { read(text, column); });
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(file_.path()));
    return error.message();
  }

  TemporaryFile file_{"times.json"};
};

TEST_F(Recorded, ATableTakesTheStrictColumnUnlessToldOtherwise) {
  const RecordedTimes strict = read(kTable);
  EXPECT_EQ(strict.column, "eager_strict_ms");
  EXPECT_THAT(strict.ms, ElementsAre(Pair(TaskId{1, 1}, 3)));  // null and absent: no time
  EXPECT_EQ(strict.label(), "times.json (eager_strict_ms), recorded on NVIDIA H200");
  const RecordedTimes eager = read(kTable, "eager_ms");
  EXPECT_THAT(eager.ms,
              ElementsAre(Pair(TaskId{1, 1}, 2), Pair(TaskId{2, 1}, 5), Pair(TaskId{3, 1}, 7)));
}

TEST_F(Recorded, ATablesOnlyColumnNeedsNoName) {
  const RecordedTimes times = read(R"({"tasks": {"1/1": {"ms": 2}}})");
  EXPECT_EQ(times.column, "ms");
  EXPECT_EQ(times.label(), "times.json (ms), recorded on an unnamed device");
}

TEST_F(Recorded, ColumnsThereAreNotAreNamedWithThoseThereAre) {
  EXPECT_THAT(complaint(kTable, "compile_ms", ErrorCode::kInvalidArgument),
              HasSubstr("no column 'compile_ms'; it has eager_ms, eager_strict_ms"));
  EXPECT_THAT(complaint(R"({"tasks": {"1/1": {"a": 2, "b": 3}}})", "", ErrorCode::kInvalidArgument),
              HasSubstr("it has a, b"));
  EXPECT_THAT(complaint(kKernelBench, "median", ErrorCode::kInvalidArgument),
              HasSubstr("it has mean, min, max"));
}

TEST_F(Recorded, ReadsKernelBenchsFormatWithAndWithoutSuffix) {
  const RecordedTimes times = read(kKernelBench);
  EXPECT_THAT(times.ms,
              ElementsAre(Pair(TaskId{1, 1}, 2.5), Pair(TaskId{1, 19}, 4), Pair(TaskId{2, 1}, 8)));
  EXPECT_EQ(times.column, "mean");
  EXPECT_EQ(times.device, "NVIDIA H100");
  EXPECT_EQ(times.preset, "");
  EXPECT_EQ(read(kKernelBench, "min").ms.at({2, 1}), 7);
}

TEST_F(Recorded, ReadsKbenchsOwnFormat) {
  Baseline baseline;
  baseline.device = "A";
  baseline.preset = "smoke";
  BaselineEntry entry;
  entry.task = {1, 1};
  entry.variables = {{"N", int64_t{48}}};
  entry.times = summarize_passes(std::vector<double>{1, 2, 6});
  baseline.tasks.push_back(entry);
  entry.task = {1, 2};
  entry.error = "failed";
  baseline.tasks.push_back(entry);
  EXPECT_THAT(read(to_json(baseline)).ms, ElementsAre(Pair(TaskId{1, 1}, 2)));
  EXPECT_THAT(read(to_json(baseline), "mean_ms").ms, ElementsAre(Pair(TaskId{1, 1}, 3)));
  EXPECT_THAT(read(to_json(baseline), "max_ms").ms, ElementsAre(Pair(TaskId{1, 1}, 6)));
}

TEST_F(Recorded, WhatKbenchWritesForKernelBenchReadsBack) {
  Baseline baseline;
  baseline.device = "A";
  for (const Task& task : tasks()) {
    BaselineEntry& entry = baseline.tasks.emplace_back();
    entry.task = task.id;
    entry.name = task.name;
    entry.times = summarize_passes(std::vector<double>{1.0 * task.id.number});
  }
  const RecordedTimes times = read(to_kernelbench_json(baseline));
  EXPECT_EQ(times.ms.size(), tasks().size());
  EXPECT_EQ(times.ms.at({3, 50}), 50);
}

TEST_F(Recorded, MalformedFilesAreRefusedWithThePlace) {
  EXPECT_THAT(complaint("no json"), HasSubstr("is not JSON"));
  EXPECT_EQ(complaint(R"({"tasks": {"1/1": {"ms": 1e999}}})"), "holds a number out of range");
  EXPECT_THAT(complaint("[1]"), HasSubstr("the file must be an object"));
  EXPECT_THAT(complaint("{}"), HasSubstr("holds no times"));
  EXPECT_EQ(complaint(R"({"tasks": []})"), "tasks must be an object");
  EXPECT_EQ(complaint(R"({"tasks": {"1/1": {}}})"), "tasks holds no times");
  EXPECT_EQ(complaint(R"({"tasks": {"1/1": {"ms": -2}}})"), "tasks.1/1.ms must be above zero");
  EXPECT_THAT(complaint(R"({"tasks": {"relu": {"ms": 2}}})"), HasSubstr("tasks.relu"));
  EXPECT_THAT(complaint(R"({"preset": "huge", "tasks": {"1/1": {"ms": 2}}})"), HasSubstr("preset"));
  EXPECT_EQ(complaint(R"({"level1": {"19_ReLU.py": {"min": 1}}})"),
            "level1.19_ReLU.py lacks field 'mean'");
  EXPECT_THAT(complaint(R"({"level1": {"ReLU.py": null}})"), HasSubstr("NUMBER_NAME.py"));
  EXPECT_EQ(complaint(R"({"level1": {"19_GELU.py": null}})"),
            "level1.19_GELU.py is not level1/19, which is ReLU");
}

TEST_F(Recorded, AFileThatIsNotThereIsAnError) {
  const Error error = error_of([&] { read_recorded_times("/nowhere/times.json"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_STREQ(error.what(), "cannot read /nowhere/times.json: No such file or directory");
}

TEST_F(Recorded, ATimeIsOfTheSizesItWasTakenAt) {
  const TaskAt smoke = {{1, 1}, "smoke", {}}, v0 = {{1, 1}, "v0", {}};
  const RecordedTimes by_preset = read(kTable);
  EXPECT_EQ(by_preset.time_of(smoke), 3);
  EXPECT_EQ(by_preset.time_of({{1, 1}, "", variables_of(smoke)}), 3);
  EXPECT_FALSE(by_preset.same_sizes(v0));
  EXPECT_THROW(by_preset.time_of(v0), Error);
  EXPECT_THROW(by_preset.time_of({{1, 1}, "", variables_of(v0)}), Error);
  const RecordedTimes unsaid = read(kKernelBench);
  EXPECT_EQ(unsaid.time_of(v0), 2.5);

  RecordedTimes own;
  own.ms = {{{1, 1}, 1.0}};
  own.variables = {{{1, 1}, {{"N", int64_t{48}}}}};
  EXPECT_TRUE(own.same_sizes({{1, 1}, "", {{"N", int64_t{48}}}}));
  EXPECT_FALSE(own.same_sizes({{1, 1}, "", {{"N", int64_t{49}}}}));
  const Error error = error_of([&] { own.time_of({{1, 2}, "smoke", {}}); });
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("level1/2"));
}

TEST_F(Recorded, ATimeIsOfTheDtypeItWasTakenIn) {
  const TaskAt f32 = {{1, 1}, "smoke", {}}, f16 = {{1, 1}, "smoke", {}, DType::f16};
  const RecordedTimes before = read(kTable);
  EXPECT_EQ(before.dtype, DType::f32) << "files of before do not say so";
  EXPECT_EQ(before.time_of(f32), 3);
  const RecordedTimes halves =
      read(R"({"dtype": "f16", "device": "A", "tasks": {"1/1": {"ms": 2}}})");
  EXPECT_EQ(halves.time_of(f16), 2);
  EXPECT_EQ(halves.label(), "times.json (ms), recorded in f16 on A");
  const Error error = error_of([&] { halves.time_of(f32); });
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  EXPECT_STREQ(error.what(), "the times in times.json are of tasks in f16, not in f32");
  EXPECT_THAT(complaint(R"({"dtype": "half", "tasks": {"1/1": {"ms": 2}}})"),
              HasSubstr("f32, f16, bf16"));
}

TEST_F(Recorded, KbenchsOwnFormatsKeepTheDtype) {
  Baseline baseline;
  baseline.dtype = DType::bf16;
  for (const TaskId& task : {TaskId{1, 1}, TaskId{1, 19}}) {
    BaselineEntry& entry = baseline.tasks.emplace_back();
    entry.task = task;
    entry.times = summarize_passes(std::vector<double>{2});
  }
  baseline.preset = "smoke";
  EXPECT_EQ(read(to_json(baseline)).dtype, DType::bf16);
  const std::string theirs = to_kernelbench_json(baseline);
  EXPECT_EQ(read(theirs).dtype, DType::bf16);
  std::string mixed = theirs;
  mixed.replace(mixed.rfind("bf16"), 4, "f16");
  EXPECT_THAT(complaint(mixed), HasSubstr("is in bf16, and the entries before it are in f16"));
}

BaselineEntry entry_of(TaskId task, double ms) {
  BaselineEntry entry;
  entry.task = task;
  if (ms > 0) {
    entry.times = summarize_passes(std::vector<double>{ms});
  } else {
    entry.error = "failed";
  }
  return entry;
}

TEST(Comparison, GivesRatiosAndGeometricMeans) {
  Baseline ours;
  ours.tasks = {entry_of({1, 1}, 2), entry_of({1, 2}, 10), entry_of({1, 3}, 0), entry_of({1, 4}, 1),
                entry_of({2, 1}, 0.5)};
  RecordedTimes theirs;
  theirs.ms = {{{1, 1}, 4}, {{1, 2}, 5}, {{1, 3}, 1}, {{2, 1}, 4}, {{3, 1}, 1}};
  const BaselineComparison comparison = compare_baselines(ours, theirs);
  ASSERT_EQ(comparison.tasks.size(), 3u);
  EXPECT_DOUBLE_EQ(comparison.tasks[0].ratio, 2);
  EXPECT_DOUBLE_EQ(comparison.tasks[1].ratio, 0.5);
  EXPECT_DOUBLE_EQ(comparison.tasks[2].ratio, 8);
  EXPECT_DOUBLE_EQ(comparison.geomean_by_level.at(1), 1);  // sqrt(2 * 0.5)
  EXPECT_DOUBLE_EQ(comparison.geomean_by_level.at(2), 8);
  EXPECT_DOUBLE_EQ(comparison.geomean, 2);  // cube root of 2 * 0.5 * 8
  EXPECT_THAT(comparison.not_ours, ElementsAre(TaskId{1, 3}));
  EXPECT_THAT(comparison.not_theirs, ElementsAre(TaskId{1, 4}));
  EXPECT_TRUE(comparison.below(0.5).empty());
  ASSERT_EQ(comparison.below(1).size(), 1u);
  EXPECT_EQ(comparison.below(1)[0].task, (TaskId{1, 2}));
  ASSERT_EQ(comparison.worst(2).size(), 2u);
  EXPECT_EQ(comparison.worst(2)[1].task, (TaskId{1, 1}));
  EXPECT_EQ(comparison.worst(10).size(), 3u);
}

TEST(Comparison, OfAnotherDtypeIsRefused) {
  Baseline ours;
  ours.dtype = DType::f16;
  ours.tasks = {entry_of({1, 1}, 2)};
  RecordedTimes theirs;
  theirs.file = "f32.json";
  theirs.ms = {{{1, 1}, 4}};
  const Error error = error_of([&] { compare_baselines(ours, theirs); });
  EXPECT_STREQ(error.what(), "the times in f32.json are of tasks in f32, not in f16");
}

TEST(Comparison, OfOtherSizesIsRefused) {
  Baseline ours;
  ours.tasks = {entry_of({1, 1}, 2)};
  ours.tasks[0].variables = {{"N", int64_t{64}}};
  RecordedTimes theirs;
  theirs.ms = {{{1, 1}, 4}};
  theirs.variables = {{{1, 1}, {{"N", int64_t{48}}}}};
  EXPECT_THROW(compare_baselines(ours, theirs), Error);
}

TEST(RecordedTimes, OfATaskOfOnesOwnAreOfItsMeaning) {
  RecordedTimes times;
  times.ms[{0, 0, "my/mlp", 7}] = 2;
  times.ms[{0, 0, "my/other", 0}] = 3;  // of a file that does not say
  ASSERT_NE(times.find({0, 0, "my/mlp", 7}), nullptr);
  EXPECT_EQ(*times.find({0, 0, "my/mlp", 7}), 2);
  EXPECT_EQ(times.find({0, 0, "my/mlp", 8}), nullptr);
  ASSERT_NE(times.find({0, 0, "my/other", 8}), nullptr);
  EXPECT_EQ(*times.find({0, 0, "my/other", 8}), 3);
  EXPECT_EQ(times.find({1, 1}), nullptr);
}

}  // namespace
}  // namespace kbench
