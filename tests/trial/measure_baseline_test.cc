// measure_baseline(), as called by a program that links the library.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/measure/vulkan/device.h"
#include "kbench/baseline.h"
#include "kbench/error.h"
#include "kbench/evaluate.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;

class MeasureBaseline : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const vulkan::DeviceSnapshot& device : vulkan::enumerate_devices()) {
      if (device.software()) return;
    }
    if (std::getenv("KBENCH_REQUIRE_VULKAN") != nullptr) FAIL() << "no software device";
    GTEST_SKIP() << "no software device";
  }

  BaselineOptions options_{.device = "cpu", .passes = 3};
};

TEST_F(MeasureBaseline, TimesEveryTaskAndTellsAsItGoes) {
  const auto tasks = select_tasks("1/19,2/1");
  std::vector<std::string> begun;
  std::vector<size_t> counts;
  options_.on_begin = [&](const Task& task) { begun.push_back(task.name); };
  options_.on_entry = [&](const Baseline& so_far) { counts.push_back(so_far.tasks.size()); };
  const Baseline baseline = measure_baseline(tasks, options_);
  EXPECT_THAT(begun, ::testing::ElementsAre("ReLU", "Conv2D_ReLU_BiasAdd"));
  EXPECT_THAT(counts, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(baseline.preset, "smoke");
  EXPECT_TRUE(baseline.software_device);
  EXPECT_EQ(baseline.date.size(), 20u);
  EXPECT_GT(baseline.roofline.copy_bytes_per_s, 0);
  ASSERT_EQ(baseline.tasks.size(), 2u);
  const BaselineEntry& relu = baseline.tasks[0];
  EXPECT_EQ(relu.times.passes, 3);
  EXPECT_EQ(relu.launches, 1);
  EXPECT_EQ(relu.least_bytes, relu.eager_bytes);
  EXPECT_DOUBLE_EQ(relu.least_ms, relu.eager_least_ms);
  EXPECT_DOUBLE_EQ(relu.least_ms, baseline.roofline.least_ms(relu.flops, relu.least_bytes));
  const BaselineEntry& fused = baseline.tasks[1];  // convolution, ReLU, sum
  EXPECT_GE(fused.launches, 3);
  EXPECT_GT(fused.eager_bytes, fused.least_bytes);
  EXPECT_GT(fused.eager_least_ms, fused.least_ms);
}

TEST_F(MeasureBaseline, WhatFailsIsAnEntryAndTheRestGoesOn) {
  options_.preset = "smoke";
  options_.overrides = {{"dim", int64_t{1} << 30}};
  options_.roofline = false;
  const Baseline baseline = measure_baseline(select_tasks("1/19,1/20"), options_);
  ASSERT_EQ(baseline.tasks.size(), 2u);
  for (const BaselineEntry& entry : baseline.tasks) {
    EXPECT_FALSE(entry.timed());
    EXPECT_THAT(entry.error, HasSubstr("needs 17.2 GB of device memory"));
    EXPECT_EQ(entry.times.passes, 0);
    EXPECT_GT(entry.flops, 0);
  }
  EXPECT_EQ(baseline.roofline.flops_per_s, 0);
}

TEST_F(MeasureBaseline, OptionsThatMakeNoSenseAreErrors) {
  const auto tasks = select_tasks("1/19");
  options_.preset = "huge";
  EXPECT_THROW(measure_baseline(tasks, options_), Error);
  options_.preset = "smoke";
  options_.overrides = {{"nonsense", int64_t{1}}};
  EXPECT_THROW(measure_baseline(tasks, options_), Error);
  options_.overrides = {};
  options_.passes = 0;
  EXPECT_THROW(measure_baseline(tasks, options_), Error);
  options_.passes = 3;
  options_.device = "no such device";
  EXPECT_THROW(measure_baseline(tasks, options_), Error);
}

}  // namespace
}  // namespace kbench
