// Times of the baseline alone, and the roofline, on any device.

#include "harness/measure/trial/baseline_timer.h"

#include <gmock/gmock.h>

#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::trial {
namespace {

using ::testing::HasSubstr;

class BaselineTimerTest : public vulkan::DeviceTest {};

TEST_F(BaselineTimerTest, TimesAsManyPassesAsPlanned) {
  BaselineTimer timer(device());
  // One kernel; several with intermediates; a draw that only the host can do (1/98).
  for (const TaskId& id : {TaskId{1, 19}, TaskId{2, 1}, TaskId{1, 98}}) {
    const Task& task = find_task(id);
    const auto graph = build_graph(task, Preset::smoke);
    int launches = 0;
    // A large budget, so that a busy machine does not exhaust it.
    const PassPlan plan{.warm_up = 1, .most = 4, .max_seconds = 100};
    const PassTimes times = timer.time(task, *graph, plan, launches);
    EXPECT_EQ(times.passes, 4) << to_string(id);
    EXPECT_GT(times.min_ms, 0) << to_string(id);
    EXPECT_LE(times.min_ms, times.median_ms);
    EXPECT_LE(times.median_ms, times.max_ms);
    EXPECT_GT(launches, 0);
  }
}

TEST_F(BaselineTimerTest, ASpentBudgetLeavesTheFewestPasses) {
  BaselineTimer timer(device());
  const Task& task = find_task({1, 19});
  const auto graph = build_graph(task, Preset::smoke);
  int launches = 0;
  EXPECT_EQ(timer.time(task, *graph, {.most = 50, .max_seconds = 0}, launches).passes, 3);
  EXPECT_EQ(timer.time(task, *graph, {.most = 2, .max_seconds = 0}, launches).passes, 2);
}

TEST_F(BaselineTimerTest, LargerWorkTakesLonger) {
  BaselineTimer timer(device());
  const Task& task = find_task({1, 1});
  double ms[2];
  for (const int i : {0, 1}) {
    const auto graph = build_graph(task, Preset::smoke, {{"N", int64_t{i == 0 ? 32 : 160}}});
    int launches = 0;
    ms[i] = timer.time(task, *graph, {.most = 5}, launches).min_ms;
  }
  if (!device().snapshot().software()) GTEST_SKIP() << "too small for a GPU to tell apart";
  EXPECT_GT(ms[1], 2 * ms[0]);  // 125 times the operations
}

TEST_F(BaselineTimerTest, ATaskThatDoesNotFitFailsAlone) {
  if (!device().snapshot().software()) GTEST_SKIP() << "sized for a software device";
  BaselineTimer timer(device());
  const Task& task = find_task({1, 19});
  const auto huge = build_graph(task, Preset::smoke, {{"dim", int64_t{1} << 30}});
  const uint64_t before = device().allocated_bytes();
  const Graph* graphs[] = {huge.get()};
  timer.prepare(graphs);
  int launches = 0;
  const Error error = error_of([&] { timer.time(task, *huge, {}, launches); });
  EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
  EXPECT_THAT(error.what(), HasSubstr("needs 17.2 GB of device memory"));
  EXPECT_EQ(device().allocated_bytes(), before);
  const auto small = build_graph(task, Preset::smoke);
  EXPECT_EQ(timer.time(task, *small, {.most = 3}, launches).passes, 3);
}

TEST_F(BaselineTimerTest, PipelinesOfSeveralGraphsAreMadeOnce) {
  BaselineTimer timer(device());
  const auto relu = build_graph(find_task({1, 19}), Preset::smoke);
  const auto gelu = build_graph(find_task({1, 26}), Preset::smoke);
  const Graph* graphs[] = {relu.get(), gelu.get(), relu.get()};
  timer.prepare(graphs);
  int launches = 0;
  timer.time(find_task({1, 26}), *gelu, {.most = 1}, launches);  // makes the draw's and the flush's
  const size_t made = device().pipelines().size();
  timer.time(find_task({1, 19}), *relu, {.most = 1}, launches);
  EXPECT_EQ(device().pipelines().size(), made);
}

TEST_F(BaselineTimerTest, MeasuresARoofline) {
  const Roofline roofline = measure_roofline(device());
  // Anything that runs Vulkan copies between 10 MB/s and 100 TB/s.
  EXPECT_GT(roofline.copy_bytes_per_s, 1e7);
  EXPECT_LT(roofline.copy_bytes_per_s, 1e14);
  EXPECT_GT(roofline.flops_per_s, 1e8);
  EXPECT_LT(roofline.flops_per_s, 1e16);
}

}  // namespace
}  // namespace kbench::trial
