// Running the reference against a golden record.
#pragma once

#include <gtest/gtest.h>

#include "kbench/reference.h"
#include "tests/golden/golden_data.h"

namespace kbench {

inline void expect_golden(const Task& task, Preset preset, Precision precision) {
  const GoldenRecord& record = golden_record(preset, task.id);
  const auto graph = build_graph(task, preset);
  const auto outputs = run_reference(*graph, draw_golden(record, *graph), {.precision = precision});
  const GoldenCheck check = check_golden(record, outputs, precision);
  EXPECT_TRUE(check.passed) << check.message;
  ::testing::Test::RecordProperty("worst", std::to_string(check.worst));
}

/// The same in float16 or bfloat16: the float64 reference on rounded draws.
inline void expect_half_golden(const Task& task, DType dtype) {
  const GoldenRecord& record = half_golden_record(dtype, task.id);
  ASSERT_EQ(record.dtype, dtype);
  const auto graph = build_graph(task, Preset::smoke, {}, dtype);
  const auto outputs =
      run_reference(*graph, draw_golden(record, *graph), {.precision = Precision::f64});
  const GoldenCheck check = check_golden(record, outputs, Precision::f64);
  EXPECT_TRUE(check.passed) << check.message;
}

}  // namespace kbench
