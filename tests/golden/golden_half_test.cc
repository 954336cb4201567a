// The CPU reference in float64 computes what PyTorch computes on operands rounded to float16 and
// bfloat16, at preset smoke: the same draws, rounded alike, and a truth that is not rounded.
#include <cmath>

#include "tests/core/task_parameters.h"
#include "tests/golden/golden_run.h"

namespace kbench {
namespace {

class GoldenHalf : public ::testing::TestWithParam<Task> {};

/// Some of its probabilities are zero in float16, and their logarithms infinite (docs/golden.md).
const TaskId kNotFiniteInFloat16{1, 98};

TEST_P(GoldenHalf, TruthOfFloat16MatchesPyTorch) {
  if (GetParam().id == kNotFiniteInFloat16) return;
  expect_half_golden(GetParam(), DType::f16);
}

TEST(GoldenHalves, TheTaskWithoutARecordIsNotFinite) {
  GoldenRecord record = half_golden_record(DType::bf16, kNotFiniteInFloat16);
  record.dtype = DType::f16;
  const auto graph = build_graph(find_task(kNotFiniteInFloat16), Preset::smoke, {}, DType::f16);
  const auto outputs =
      run_reference(*graph, draw_golden(record, *graph), {.precision = Precision::f64});
  EXPECT_FALSE(std::isfinite(outputs.at(0).at(0)));
}

TEST_P(GoldenHalf, TruthOfBfloat16MatchesPyTorch) { expect_half_golden(GetParam(), DType::bf16); }

INSTANTIATE_TEST_SUITE_P(All, GoldenHalf, ::testing::ValuesIn(tasks()), test_name);

}  // namespace
}  // namespace kbench
