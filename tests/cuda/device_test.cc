// Every specimen to its verdict, on the device that KBENCH_TEST_DEVICE names, else on the one that
// "auto" chooses; skipped where that launches no CUDA kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "kbench/evaluate.h"
#include "tests/cuda/specimen.h"
#include "tests/support/devices.h"

namespace kbench {
namespace {

using testing_support::cuda_specimens;
using testing_support::CudaSpecimen;

JudgeOptions chosen_judge() {
  const char* device = std::getenv("KBENCH_TEST_DEVICE");
  const char* program = std::getenv("KBENCH_PROGRAM");
  return {.device = device ? device : "auto", .program = program ? program : KBENCH_PROGRAM};
}

Question about(const std::string& candidate) {
  Question question{.candidate = candidate, .preset = "smoke"};
  question.limits.device_seconds = 3;
  question.limits.total_seconds = 60;
  return question;
}

class CudaOnDevice : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaOnDevice, EverySpecimenGetsItsVerdict) {
  if (!testing::has_device()) GTEST_SKIP() << "no Vulkan device";
  JudgeProcess judge(chosen_judge());
  const Result first = judge.evaluate(about(cuda_specimens("honest").front().path));
  if (first.verdict == Verdict::unsupported) GTEST_SKIP() << first.message;
  for (const CudaSpecimen& specimen : cuda_specimens(GetParam())) {
    const Result result = judge.evaluate(about(specimen.path));
    EXPECT_TRUE(specimen.verdicts.contains(std::string(name_of(result.verdict))))
        << specimen.name << ": " << name_of(result.verdict) << ": " << result.message;
    if (result.verdict != Verdict::passed) continue;
    EXPECT_EQ(result.lane, specimen.name == "relu_glsl" ? "vulkan" : "cuda") << specimen.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, CudaOnDevice,
                         ::testing::Values("honest", "bad", "driver", "exploits", "aa"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kbench
