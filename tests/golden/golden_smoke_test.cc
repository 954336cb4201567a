// The CPU reference computes what PyTorch computes, at preset smoke.
#include "tests/core/task_parameters.h"
#include "tests/golden/golden_run.h"

namespace kbench {
namespace {

class GoldenSmoke : public ::testing::TestWithParam<Task> {};

TEST_P(GoldenSmoke, ReferenceMatchesInFloat32) {
  expect_golden(GetParam(), Preset::smoke, Precision::f32);
}

TEST_P(GoldenSmoke, ReferenceMatchesInFloat64) {
  expect_golden(GetParam(), Preset::smoke, Precision::f64);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenSmoke, ::testing::ValuesIn(tasks()), test_name);

}  // namespace
}  // namespace kbench
