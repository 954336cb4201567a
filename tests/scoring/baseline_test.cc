#include "kbench/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/scoring/temporary_file.h"

namespace kbench {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::TemporaryFile;

BaselineEntry timed(TaskId task, const std::string& name, double ms) {
  BaselineEntry entry;
  entry.task = task;
  entry.name = name;
  entry.variables = {{"N", int64_t{48}}, {"p", 0.5}, {"shape", std::vector<int64_t>{2, 3}}};
  entry.times = summarize_passes(std::vector<double>{ms, ms, 4 * ms});
  entry.flops = 1e6;
  entry.least_bytes = 2e3;
  entry.eager_bytes = 3e3;
  entry.least_ms = ms / 2;
  entry.eager_least_ms = ms / 4 * 3;
  entry.launches = 5;
  return entry;
}

Baseline example_baseline() {
  Baseline baseline;
  baseline.version = "0.1.0";
  baseline.device = "NVIDIA \"H200\"";
  baseline.driver = "580";
  baseline.preset = "smoke";
  baseline.date = "2025-01-31T12:00:00Z";
  baseline.method = "by hand";
  baseline.roofline = {4e12, 6e13};
  baseline.tasks.push_back(timed({1, 1}, "Square_matrix_multiplication", 0.1 + 0.2));
  baseline.tasks.push_back(timed({2, 1}, "Conv2D_ReLU_BiasAdd", 2));
  BaselineEntry failed;
  failed.task = {3, 5};
  failed.name = "AlexNet";
  failed.error = "needs 17 GB of device memory";
  baseline.tasks.push_back(failed);
  return baseline;
}

TEST(PassTimes, AreThoseOfAllPasses) {
  const PassTimes times = summarize_passes(std::vector<double>{4, 1, 3, 2, 10});
  EXPECT_EQ(times.passes, 5);
  EXPECT_DOUBLE_EQ(times.median_ms, 3);
  EXPECT_DOUBLE_EQ(times.mean_ms, 4);
  EXPECT_DOUBLE_EQ(times.min_ms, 1);
  EXPECT_DOUBLE_EQ(times.max_ms, 10);
  EXPECT_DOUBLE_EQ(times.std_ms, std::sqrt(10));  // (9 + 4 + 1 + 0 + 36) / 5
  EXPECT_EQ(summarize_passes({}).passes, 0);
}

TEST(Roofline, IsTheLargerOfArithmeticAndTraffic) {
  const Roofline roofline{2e12, 50e12};
  EXPECT_DOUBLE_EQ(roofline.least_ms(1e12, 2e9), 20);  // 20 ms of arithmetic, 1 ms of traffic
  EXPECT_DOUBLE_EQ(roofline.least_ms(1e9, 4e9), 2);
  EXPECT_EQ(Roofline{}.least_ms(1e12, 1e9), 0);
}

TEST(Roofline, SharesAreOfTheMedian) {
  const BaselineEntry entry = timed({1, 1}, "a", 2);
  EXPECT_DOUBLE_EQ(entry.roofline_share(), 0.5);
  EXPECT_DOUBLE_EQ(entry.eager_share(), 0.75);
  EXPECT_EQ(BaselineEntry{}.roofline_share(), 0);
}

TEST(BaselineFile, ReadsBackWhatWasWritten) {
  const TemporaryFile file("baseline.json");
  write_baseline(file.path(), example_baseline());
  const Baseline read = read_baseline(file.path());
  EXPECT_EQ(to_json(read), to_json(example_baseline()));
  ASSERT_EQ(read.tasks.size(), 3u);
  EXPECT_EQ(read.tasks[0].times.median_ms, 0.1 + 0.2);
  EXPECT_EQ(read.tasks[0].variables, example_baseline().tasks[0].variables);
  EXPECT_FALSE(read.tasks[2].timed());
  EXPECT_EQ(read.tasks[2].error, "needs 17 GB of device memory");
}

TEST(BaselineFile, SaysTheDtypeOfHalvesOnly) {
  const TemporaryFile file("baseline.json");
  Baseline baseline = example_baseline();
  EXPECT_THAT(to_json(baseline), Not(HasSubstr("dtype")));
  EXPECT_THAT(to_kernelbench_json(baseline), Not(HasSubstr("dtype")));
  baseline.dtype = DType::bf16;
  write_baseline(file.path(), baseline);
  EXPECT_EQ(read_baseline(file.path()).dtype, DType::bf16);
  json document = json::parse(to_json(baseline));
  EXPECT_EQ(document["dtype"], "bf16");
  EXPECT_EQ(json::parse(to_kernelbench_json(
                baseline))["level1"]["1_Square_matrix_multiplication_.py"]["dtype"],
            "bf16");
  document["dtype"] = "f64";
  file.write(document.dump());
  const Error error = error_of([&] { read_baseline(file.path()); });
  EXPECT_THAT(error.what(), HasSubstr("dtype"));
  EXPECT_THAT(error.what(), HasSubstr("f32, f16, bf16"));
}

TEST(BaselineFile, ASecondWriteReplacesTheFirst) {
  const TemporaryFile file("baseline.json");
  Baseline baseline = example_baseline();
  write_baseline(file.path(), baseline);
  baseline.tasks.resize(1);
  write_baseline(file.path(), baseline);
  EXPECT_EQ(read_baseline(file.path()).tasks.size(), 1u);
}

TEST(BaselineFile, AnUnwritablePathIsAnError) {
  const Error error =
      error_of([&] { write_baseline("/nowhere/baseline.json", example_baseline()); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/baseline.json"));
}

TEST(BaselineFile, LeavesNothingBesideItAndFollowsALink) {
  const TemporaryFile file("baseline.json");
  const std::filesystem::path folder = std::filesystem::path(file.path()).parent_path();
  const std::string link = folder / "link.json";
  std::filesystem::create_symlink("baseline.json", link);
  file.write("old");
  std::filesystem::permissions(
      file.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  write_baseline(link, example_baseline());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_baseline(file.path()).tasks.size(), 3u);
  EXPECT_EQ(std::filesystem::status(file.path()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files += entry.exists();
  EXPECT_EQ(files, 2u);
}

TEST(BaselineFile, ErrorsNameFileAndPlace) {
  const TemporaryFile file("baseline.json");
  const auto complaint = [&](const std::string& text) -> std::string {
    file.write(text);
    const Error error = error_of([&] { read_baseline(file.path()); });
    EXPECT_EQ(error.code(), ErrorCode::kParse);
    EXPECT_THAT(error.what(), HasSubstr(file.path()));
    return error.message();
  };
  EXPECT_THAT(complaint("{"), HasSubstr("is not JSON"));
  EXPECT_EQ(complaint("{\n \"flops\": 1e999}"), "holds a number out of range");
  EXPECT_THAT(complaint(std::string(100000, '[')), HasSubstr("is not JSON"));
  EXPECT_THAT(complaint("{}"), HasSubstr("no baseline of kbench's"));
  EXPECT_THAT(complaint("[]"), HasSubstr("no baseline of kbench's"));
  const auto with = [](const std::function<void(json&)>& change) {
    json document = json::parse(to_json(example_baseline()));
    change(document);
    return document.dump();
  };
  EXPECT_EQ(complaint(with([](json& d) { d["kbench_baseline"] = 2; })),
            "kbench_baseline must be 1");
  EXPECT_EQ(complaint(with([](json& d) { d["device"] = 3; })), "device must be a string");
  EXPECT_EQ(complaint(with([](json& d) { d["tasks"][1].erase("median_ms"); })),
            "tasks[1] lacks field 'median_ms'");
  EXPECT_EQ(complaint(with([](json& d) { d["tasks"][1]["median_ms"] = 0; })),
            "tasks[1].median_ms must be above zero");
  EXPECT_EQ(complaint(with([](json& d) { d["tasks"][0]["mean_ms"] = nullptr; })),
            "tasks[0].mean_ms must be a number");
  EXPECT_EQ(complaint(with([](json& d) { d["tasks"][1]["passes"] = int64_t{1} << 32; })),
            "tasks[1].passes is out of range");
  EXPECT_THAT(complaint(with([](json& d) { d["tasks"][0]["task"] = "relu"; })),
              HasSubstr("tasks[0].task"));
}

TEST(KernelBenchFile, HasItsSchemaAndNullForWhatFailed) {
  const json document = json::parse(to_kernelbench_json(example_baseline()));
  const json& first = document["level1"]["1_Square_matrix_multiplication_.py"];
  EXPECT_DOUBLE_EQ(first["mean"], 0.6);
  EXPECT_DOUBLE_EQ(first["min"], 0.3);
  EXPECT_DOUBLE_EQ(first["max"], 1.2);
  EXPECT_DOUBLE_EQ(first["std"], 0.3 * std::sqrt(2));
  EXPECT_EQ(first["num_trials"], 3);
  EXPECT_EQ(first["hardware"], "NVIDIA \"H200\"");
  EXPECT_TRUE(first.contains("device"));
  EXPECT_TRUE(document["level2"]["1_Conv2D_ReLU_BiasAdd.py"].is_object());
  EXPECT_TRUE(document["level3"].contains("5_AlexNet.py"));
  EXPECT_TRUE(document["level3"]["5_AlexNet.py"].is_null());
}

TEST(KernelBenchFile, NamesAreItsOwn) {
  EXPECT_EQ(kernelbench_file(find_task({1, 1})), "1_Square_matrix_multiplication_.py");
  EXPECT_EQ(kernelbench_file(find_task({1, 3})), "3_Batched_matrix_multiplication.py");
  EXPECT_EQ(kernelbench_file(find_task({1, 39})), "39_L2Norm_.py");
  EXPECT_EQ(kernelbench_file(find_task({1, 76})), "76_conv_standard_1D_dilated_strided__.py");
  EXPECT_EQ(kernelbench_file(find_task({2, 1})), "1_Conv2D_ReLU_BiasAdd.py");
  EXPECT_EQ(kernelbench_file(find_task({3, 39})), "39_GRU.py");
  int longer = 0;
  for (const Task& task : tasks()) longer += kernelbench_file(task).ends_with("_.py");
  EXPECT_EQ(longer, 23);  // counted in KernelBench's repository
}

}  // namespace
}  // namespace kbench
