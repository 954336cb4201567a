// The CPU reference computes what PyTorch computes, at odd sizes.
#include "tests/golden/golden_odd.h"

#include <gtest/gtest.h>

#include "kbench/reference.h"
#include "tests/core/task_parameters.h"
#include "tests/golden/golden_data.h"

namespace kbench {
namespace {

class GoldenOdd : public ::testing::TestWithParam<Task> {};

TEST_P(GoldenOdd, ReferenceMatchesInFloat32AndFloat64) {
  int records = 0;
  for (const GoldenRecord& record : odd_records()) {
    if (record.task != GetParam().id) continue;
    SCOPED_TRACE(sizes_of(record));
    ++records;
    const auto graph = build_graph(record);
    const NamedTensors tensors = draw_golden(record, *graph);
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      const auto outputs = run_reference(*graph, tensors, {.precision = precision});
      const GoldenCheck check = check_golden(record, outputs, precision);
      EXPECT_TRUE(check.passed) << check.message;
    }
  }
  EXPECT_GT(records, 0) << "no record of the task";
}

INSTANTIATE_TEST_SUITE_P(All, GoldenOdd, ::testing::ValuesIn(tasks()), test_name);

/// Nearly every variable has another value in some record. Fixed are those that the original does
/// not let go of, as 3 channels before a layer of 3, and batches of a few networks that are slow.
TEST(GoldenOddData, LeavesTheSmokeSizes) {
  int moved = 0, kept = 0;
  for (const Task& task : tasks()) {
    const Variables smoke = variables_of(task, Preset::smoke);
    const auto graph = build_graph(task, Preset::smoke);
    for (const std::string& name : graph->variables_read()) {
      const bool moves = std::ranges::any_of(odd_records(), [&](const GoldenRecord& record) {
        return record.task == task.id && record.variables.at(name) != smoke.at(name);
      });
      ++(moves ? moved : kept);
    }
  }
  EXPECT_GT(moved, 30 * kept) << "of " << moved + kept << " variables " << kept << " never move";
}

}  // namespace
}  // namespace kbench
