// evaluate() and JudgeProcess on a real device: candidates in memory, progress, threads.
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "kbench/candidate_source.h"
#include "kbench/evaluate.h"
#include "tests/judge/evaluator_fixture.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

/// ReLU whose kernel is a file, which includes another.
CandidateSource in_three_files() {
  return {{{"candidate.yaml",
            "kbench: 1\ntask: level1/19\nkernels:\n  k: {file: k.comp}\n"
            "dispatch:\n  - {kernel: k, bind: [x, output], "
            "groups: [\"ceil_div(batch_size * dim, 64)\"]}\n"},
           {"k.comp",
            "#version 450\n#extension GL_GOOGLE_include_directive : require\n"
            "layout(local_size_x = 64) in;\n"
            "layout(binding = 0) buffer X { float x[]; };\n"
            "layout(binding = 1) buffer Y { float y[]; };\n"
            "#include \"part/body.glsl\"\n"},
           {"part/body.glsl",
            "void main() {\n  const uint i = gl_GlobalInvocationID.x;\n"
            "  if (i < KB_batch_size * KB_dim) y[i] = max(x[i], 0.0);\n}\n"}},
          "mine/relu.yaml"};
}

class JudgeProcessOnDevice : public EvaluatorTest {};

TEST_F(JudgeProcessOnDevice, JudgesACandidateFromMemory) {
  const Result result = ask(in_three_files());
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  EXPECT_EQ(result.set, "mine");
  EXPECT_EQ(result.candidate, "relu.yaml");
  EXPECT_EQ(result.task, (TaskId{1, 19}));
  const CandidateSource source = in_three_files();
  EXPECT_EQ(result.candidate_hash, candidate_from_files("candidate.yaml", *source.files).hash);

  CandidateSource broken = in_three_files();
  broken.files->at("part/body.glsl") = "void main() { nonsense; }\n";
  broken.path.clear();
  const Result refused = check(broken);
  EXPECT_EQ(name_of(refused.verdict), "compile_error");
  EXPECT_EQ(refused.candidate, "candidate.yaml");
  ASSERT_FALSE(refused.diagnostics.empty());
  EXPECT_THAT(refused.diagnostics[0].file, HasSubstr("part/body.glsl"));
  broken.files->erase("k.comp");
  EXPECT_EQ(name_of(check(broken).verdict), "invalid_candidate")
      << "a manifest that names what is not there is the candidate's fault";
}

TEST_F(JudgeProcessOnDevice, TellsHowFarItIs) {
  asked_.plan.max_seconds = 0.6;
  asked_.plan.precision = 1e-6;
  asked_.plan.max_samples = 100000;
  std::vector<Progress> told;
  observer_.on_progress = [&](const Progress& p) { told.push_back(p); };
  const Result result = ask(in_three_files());
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  ASSERT_FALSE(told.empty());
  for (size_t i = 0; i < told.size(); ++i) {
    EXPECT_GE(told[i].samples, 4) << "of fewer the median has no 95% interval";
    EXPECT_LE(told[i].samples, result.samples);
    EXPECT_TRUE(std::isfinite(told[i].speedup.high));
    EXPECT_LE(told[i].speedup.low, told[i].speedup.point);
    if (i > 0) {
      EXPECT_GT(told[i].seconds, told[i - 1].seconds);
    }
  }
}

TEST_F(JudgeProcessOnDevice, SeveralAtOnceJudgeAlike) {
  std::atomic<int> right = 0, wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        JudgeProcess own(where_);
        right += own.evaluate(about(in_three_files())).correct();
        CandidateSource zeros = in_three_files();
        std::string& body = zeros.files->at("part/body.glsl");
        body.replace(body.find("max("), 4, "min(");
        wrong += own.evaluate(about(zeros)).verdict == Verdict::wrong_values;
        right +=
            evaluate(about(in_three_files(), /*check=*/true), where_).verdict == Verdict::compiles;
      });
    }
  }
  EXPECT_EQ(right, 4);
  EXPECT_EQ(wrong, 2);
}

}  // namespace
}  // namespace kbench::testing
