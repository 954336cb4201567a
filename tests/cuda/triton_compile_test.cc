// A Triton kernel from a candidate's file to machine code and parameters, with a module that stands
// in for Triton, in the process that holds it in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/measure/runner/cuda_kernels.h"
#include "harness/measure/runner/python_helper.h"
#include "kbench/error.h"
#include "kbench/task.h"
#include "tests/candidate/support.h"

namespace kbench::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::ScratchFolder;

class TritonKernel : public ::testing::Test {
 protected:
  TritonKernel() {
    std::filesystem::copy(FAKE_TRITON, folder_.path("modules"),
                          std::filesystem::copy_options::recursive);
    folder_.write("bin/python3", "#!/bin/sh\nshift\nPYTHONPATH='" + folder_.path("modules") +
                                     "' exec /usr/bin/python3 \"$@\"\n");
    std::filesystem::permissions(folder_.path("bin/python3"), std::filesystem::perms::owner_all);
    setenv("KBENCH_PYTHON", folder_.path("bin/python3").c_str(), 1);
    helper_ = std::make_unique<PythonHelper>();
    unsetenv("KBENCH_PYTHON");
  }

  /// Compiles the kernel of a candidate with this source and these arguments.
  std::optional<Refused> compile(const std::string& source, const std::string& args) {
    folder_.write("kernel.py", source);
    candidate_ = parse_candidate(
        "kbench: 1\ntask: level1/19\nkernels:\n  k: {file: kernel.py, constants: {BLOCK: 64}, "
        "num_warps: 8}\ndispatch:\n  - {kernel: k, grid: 1, args: [" +
            args + "]}\n",
        folder_.path("c.yaml"), folder_.path());
    graph_ = build_graph(find_task(candidate_.task), Preset::smoke);
    resolved_ = resolve(candidate_, *graph_);
    CudaCompilers compilers([] { return cuda::ComputeCapability{9, 0}; }, helper_.get());
    CudaAttempt attempt = compilers.compile(resolved_, 0, 30);
    made_ = std::move(attempt.kernel);
    diagnostics_ = std::move(attempt.diagnostics);
    return attempt.refusal;
  }

  static bool missing(const std::optional<Refused>& refusal) {
    const bool there = std::filesystem::exists("/usr/bin/python3");
    return !there || (refusal && refusal->verdict == Verdict::unsupported);
  }

  const ScratchFolder folder_;
  std::unique_ptr<PythonHelper> helper_;
  Candidate candidate_;
  std::unique_ptr<Graph> graph_;
  ResolvedCandidate resolved_;
  CudaKernel made_;
  std::vector<Diagnostic> diagnostics_;
};

constexpr const char* kSource =
    "import triton\nimport triton.language as tl\n\n@triton.jit\n"
    "def k(x, y, n, stride, s, BLOCK: tl.constexpr, KB_dim: tl.constexpr):\n    pass\n";

TEST_F(TritonKernel, IsLaunchedWithItsParametersAndTwoNulls) {
  const auto refusal = compile(kSource, "x, output, {i32: 48}, {i32: 1}, {f32: 0.5}");
  if (missing(refusal)) GTEST_SKIP() << (refusal ? refusal->message : "no python3");
  ASSERT_FALSE(refusal) << refusal->message;
  EXPECT_THAT(made_.kept, ElementsAre(true, true, true, false, true));
  const ResolvedStep launched = as_launched(made_, resolved_.dispatch[0]);
  std::vector<size_t> offsets;
  for (const ResolvedArgument& argument : launched.arguments) offsets.push_back(argument.offset);
  EXPECT_THAT(offsets, ElementsAre(0u, 8u, 16u, 20u, 24u, 32u));
  ASSERT_EQ(launched.push.size(), 40u);
  uint64_t scratch[2] = {1, 1};
  std::memcpy(scratch, launched.push.data() + 24, sizeof scratch);
  EXPECT_THAT(scratch, ElementsAre(0u, 0u));
  float s = 0;
  std::memcpy(&s, launched.push.data() + 20, sizeof s);
  EXPECT_EQ(s, 0.5f);
  EXPECT_THAT(launched.block, ElementsAre(256u, 1u, 1u));
  EXPECT_EQ(launched.shared_bytes, 4096u);
  EXPECT_FALSE(check_cuda_launch(made_, launched));
}

TEST_F(TritonKernel, ThatFailsNamesFileAndLine) {
  const auto refusal = compile("import triton\n\nx = nothing\n", "x, output");
  if (missing(refusal)) GTEST_SKIP() << (refusal ? refusal->message : "no python3");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::compile_error);
  EXPECT_THAT(refusal->message, HasSubstr("kernel.py:3: NameError"));
  ASSERT_EQ(diagnostics_.size(), 1u);
  EXPECT_EQ(diagnostics_[0].line, 3);
}

TEST_F(TritonKernel, WhoseModuleAnswersItselfIsHeldToTheSameRules) {
  const std::string answer =
      "import json, os\n"
      "ptx = '.version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k() { .reg .b32 "
      "%r<2>; mov.u32 %r1, %clock; ret; }'\n"
      "os.write(3, json.dumps({'ptx': ptx, 'entry': 'k', 'shared': 0, 'num_warps': 4, 'kept': "
      "[True, True], 'scratch': 0}).encode())\n"
      "os._exit(0)\n";
  const auto refusal = compile(answer, "x, output");
  if (missing(refusal)) GTEST_SKIP() << (refusal ? refusal->message : "no python3");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::invalid_candidate);
  EXPECT_THAT(refusal->message, HasSubstr("clock"));
  const auto strange = compile("import os\nos.write(3, b'[]')\nos._exit(0)\n", "x, output");
  ASSERT_TRUE(strange);
  EXPECT_EQ(strange->verdict, Verdict::invalid_candidate);
}

}  // namespace
}  // namespace kbench::runner
