// The eager baseline computes what PyTorch computes, at odd sizes.
#include <gtest/gtest.h>

#include "harness/trial/trial.h"
#include "kbench/task.h"
#include "tests/golden/golden_odd.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench {
namespace {

class GoldenOddOnDevice : public vulkan::DeviceTest, public ::testing::WithParamInterface<int> {};

TEST_P(GoldenOddOnDevice, EagerBaselineMatches) {
  int records = 0;
  for (const GoldenRecord& record : odd_records()) {
    if (record.task.level != GetParam()) continue;
    SCOPED_TRACE(sizes_of(record));
    ++records;
    const auto graph = build_graph(find_task(record.task), record.variables);
    // VGG and Swin take images of 224 x 224 alone: minutes here, and no odd sizes.
    if (device().snapshot().software() && graph->flops() > 1e10) continue;
    const auto outputs = trial::run_eager(device(), *graph, draw_golden(record, *graph));
    const GoldenCheck check = check_golden(record, outputs, Precision::f32);
    EXPECT_TRUE(check.passed) << check.message;
  }
  EXPECT_GE(records, GetParam() == 3 ? 50 : 100);
}

INSTANTIATE_TEST_SUITE_P(Level, GoldenOddOnDevice, ::testing::Values(1, 2, 3),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace kbench
