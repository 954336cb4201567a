// Every specimen through the real compilers, where they are: what a rule refuses is refused here,
// and what a GPU has to judge comes as far as a launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "harness/measure/runner/cuda_kernels.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "kbench/verdict.h"
#include "tests/cuda/compilers.h"
#include "tests/cuda/specimen.h"

namespace kbench {
namespace {

using testing_support::cuda_specimens;
using testing_support::CudaSpecimen;

/// What a runner would say of it before it launches anything; nothing: it launches.
std::optional<runner::Refused> refusal_of(const std::string& path, runner::PythonHelper& python,
                                          DType dtype = DType::f32) {
  runner::CudaCompilers compilers([] { return cuda::ComputeCapability{9, 0}; }, &python);
  try {
    const Candidate candidate = load_candidate(path);
    const auto graph = build_graph(task_at(candidate.task, Preset::smoke, {}, dtype));
    const ResolvedCandidate resolved = resolve(candidate, *graph);
    std::vector<std::optional<runner::CudaKernel>> kernels;
    for (const ResolvedKernel& kernel : resolved.kernels) {
      kernels.emplace_back();
      if (!is_cuda(kernel.kernel->language)) continue;
      runner::CudaAttempt attempt = compilers.compile(resolved, kernels.size() - 1, 30);
      if (attempt.refusal) return attempt.refusal;
      const runner::CudaKernel& made = kernels.back().emplace(std::move(attempt.kernel));
      EXPECT_GT(made.registers, 0u) << path;
    }
    for (const ResolvedStep& step : resolved.dispatch) {
      if (step.kernel < 0) continue;
      const auto& kernel = kernels.at(static_cast<size_t>(step.kernel));
      if (!kernel) continue;
      const ResolvedStep launched = runner::as_launched(*kernel, step);
      if (auto refusal = runner::check_cuda_launch(*kernel, launched)) return refusal;
    }
  } catch (const Error& e) {
    return runner::Refused{Verdict::invalid_candidate, e.what()};
  }
  return std::nullopt;
}

bool has_compilers() {
  const cuda::RealCompilers real = cuda::real_compilers();
  return real.assembler && real.nvrtc->has_headers();
}

class CudaSpecimens : public ::testing::TestWithParam<const char*> {
 protected:
  /// Before any compiler has started threads.
  static void SetUpTestSuite() { python_ = std::make_unique<runner::PythonHelper>(); }
  static void TearDownTestSuite() { python_.reset(); }
  static std::unique_ptr<runner::PythonHelper> python_;
};
std::unique_ptr<runner::PythonHelper> CudaSpecimens::python_;

TEST_P(CudaSpecimens, AreRefusedWhereARuleSaysSo) {
  if (!has_compilers()) GTEST_SKIP() << "no NVRTC, nvJitLink or CUDA headers on this machine";
  const std::vector<CudaSpecimen> all = cuda_specimens(GetParam());
  ASSERT_FALSE(all.empty());
  const std::set<std::string> before = {"compile_error", "invalid_candidate", "unsupported"};
  for (const CudaSpecimen& specimen : all) {
    ASSERT_FALSE(specimen.verdicts.empty()) << specimen.path;
    const auto refusal = refusal_of(specimen.path, *python_);
    const bool may_run = !std::includes(before.begin(), before.end(), specimen.verdicts.begin(),
                                        specimen.verdicts.end());
    if (refusal) {
      EXPECT_TRUE(specimen.verdicts.contains(std::string(name_of(refusal->verdict))))
          << specimen.name << ": " << name_of(refusal->verdict) << ": " << refusal->message;
      EXPECT_FALSE(refusal->message.empty()) << specimen.name;
      RecordProperty(specimen.name, refusal->message);
    } else {
      // What the device does not have is known to it alone.
      EXPECT_TRUE(may_run || specimen.verdicts.contains("unsupported"))
          << specimen.name << " would be launched";
    }
  }
}

/// The CUDA set that ships, by the real compilers, in every type: nothing of it is refused.
TEST(CudaCandidates, ThatShipPassTheRulesAndAreAssembled) {
  if (!has_compilers()) GTEST_SKIP() << "no NVRTC, nvJitLink or CUDA headers on this machine";
  runner::PythonHelper python;
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KBENCH_CUDA_CANDIDATES)) {
    if (entry.path().extension() != ".yaml") continue;
    for (const DType dtype : kTaskDTypes) {
      const auto refusal = refusal_of(entry.path().string(), python, dtype);
      EXPECT_FALSE(refusal) << entry.path() << " in " << name_of(dtype) << ": " << refusal->message;
    }
    ++count;
  }
  EXPECT_GT(count, 20u);
}

INSTANTIATE_TEST_SUITE_P(Folders, CudaSpecimens,
                         ::testing::Values("honest", "bad", "driver", "exploits", "aa"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kbench
