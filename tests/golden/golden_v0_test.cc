// The CPU reference computes what PyTorch computes, at preset v0.
#include "tests/core/task_parameters.h"
#include "tests/golden/golden_run.h"

namespace kbench {
namespace {

class GoldenV0 : public ::testing::TestWithParam<Task> {};

TEST_P(GoldenV0, ReferenceMatchesInFloat32) {
  expect_golden(GetParam(), Preset::v0, Precision::f32);
}

TEST_P(GoldenV0, ReferenceMatchesInFloat64) {
  expect_golden(GetParam(), Preset::v0, Precision::f64);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenV0, ::testing::ValuesIn(tasks()), test_name);

}  // namespace
}  // namespace kbench
