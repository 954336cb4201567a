// The eager baseline computes what PyTorch computes, at odd sizes.
#include <gtest/gtest.h>

#include <set>

#include "harness/measure/trial/eager_run.h"
#include "kbench/task.h"
#include "tests/core/task_parameters.h"
#include "tests/golden/golden_odd.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench {
namespace {

class GoldenOddOnDevice : public vulkan::DeviceTest,
                          public ::testing::WithParamInterface<std::string> {};

TEST_P(GoldenOddOnDevice, EagerBaselineMatches) {
  std::set<TaskId> wanted, seen;
  for (const Task* task : select_tasks(GetParam())) wanted.insert(task->id);
  for (const GoldenRecord& record : odd_records()) {
    if (!wanted.contains(record.task)) continue;
    SCOPED_TRACE(sizes_of(record));
    seen.insert(record.task);
    const auto graph = build_graph(record);
    // On a software device each task of much work is run once, here or by EagerTasksTest at smoke;
    // VGG and Swin take images of 224 x 224 alone: minutes here, and no odd sizes. DenseNet-201
    // (3/16) is DenseNet-121 with more layers.
    constexpr double kMuchWork = 5e8, kMuchWorkAtSmoke = 1e9, kMinutes = 1e10;  // FLOPs
    const bool software = device().snapshot().software();
    if (software && record.task == TaskId{3, 16}) continue;
    if (software && graph->flops() > kMuchWork) {
      const auto smoke = build_graph(find_task(record.task), Preset::smoke);
      if (smoke->flops() <= kMuchWorkAtSmoke || graph->flops() > kMinutes) continue;
    }
    const auto outputs = trial::run_eager(device(), *graph, draw_golden(record, *graph));
    const GoldenCheck check = check_golden(record, outputs, Precision::f32);
    EXPECT_TRUE(check.passed) << check.message;
  }
  EXPECT_EQ(seen, wanted);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenOddOnDevice, ::testing::ValuesIn(tens_of_tasks()), tens_name);

}  // namespace
}  // namespace kbench
