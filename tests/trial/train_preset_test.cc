// At the sizes of preset train the eager baseline computes what the float64 reference does.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/measure/trial/eager_run.h"
#include "kbench/task.h"
#include "tests/core/task_parameters.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench {
namespace {

class TrainPreset : public vulkan::DeviceTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(TrainPreset, BaselineIsRight) {
  for (const Task* task : select_tasks(GetParam())) {
    SCOPED_TRACE(to_string(task->id));
    const auto graph = build_graph(*task, Preset::train);
    EXPECT_EQ(trial::baseline_fault(device(), *task, *graph, 1), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrainPreset, ::testing::ValuesIn(tens_of_tasks()), tens_name);

/// Rows that are scaled, recurrent layers: seconds each.
INSTANTIATE_TEST_SUITE_P(Some, TrainPreset, ::testing::Values("level1/12", "level3/40"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace kbench
