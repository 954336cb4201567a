// Candidates that are right at preset smoke, at sizes drawn in secret: those that take sizes from
// variables hold there, and twins that hold the same sizes as numbers do not.
#include <filesystem>
#include <regex>

#include "kbench/task.h"
#include "libkbench/base/files.h"
#include "tests/judge/evaluator_fixture.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class GeneralTest : public testing::EvaluatorTest {
 protected:
  GeneralTest() { shares_ = true; }
  void SetUp() override {
    EvaluatorTest::SetUp();
    asked_.rule.other_sizes = OtherSizes::note;
  }
};

/// At smoke dim is 200, a multiple of four, and so are the two sizes that every candidate is tried
/// at.
std::string in_fours(const std::string& more) {
  return "kbench: 1\ntask: level1/19\n" + more +
         "kernels:\n  k:\n    source: |\n"
         "      #version 450\n"
         "      layout(local_size_x = 64) in;\n"
         "      layout(binding = 0) buffer X { vec4 x[]; };\n"
         "      layout(binding = 1) buffer Y { vec4 y[]; };\n"
         "      void main() {\n"
         "        const uint i = gl_GlobalInvocationID.x;\n"
         "        if (i < KB_batch_size * KB_dim / 4) y[i] = max(x[i], vec4(0.0));\n"
         "      }\n"
         "dispatch:\n  - {kernel: k, bind: [x, output], groups: [\"ceil_div(batch_size * dim, "
         "64)\"]}\n";
}

TEST_F(GeneralTest, FourValuesAtATimeDoNotHoldAndTheResultSaysWhere) {
  const Result result = run(in_fours(""));
  ASSERT_TRUE(result.correct()) << result.message;
  ASSERT_TRUE(result.holds_at);
  EXPECT_LT(result.holds_at->right, result.holds_at->tried);
  ASSERT_TRUE(result.holds_at->first_wrong);
  const WrongAt& wrong = *result.holds_at->first_wrong;
  EXPECT_EQ(wrong.verdict, Verdict::partly_written) << wrong.message;
  ASSERT_TRUE(wrong.sizes.contains("dim") || wrong.sizes.contains("batch_size"));
}

TEST_F(GeneralTest, WhatItSaysThatItIsMadeForIsNotHeldAgainstIt) {
  const Result result = run(in_fours("requires: [\"batch_size * dim % 4 == 0\"]\n"));
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.made_for, std::vector<std::string>{"batch_size * dim % 4 == 0"});
  ASSERT_TRUE(result.holds_at);
  EXPECT_EQ(result.holds_at->right, result.holds_at->tried);
}

TEST_F(GeneralTest, ARequirementThatIsNoExpressionOfTheTasksSizesIsInvalid) {
  const Result unknown = run(in_fours("requires: [\"height % 4 == 0\"]\n"));
  EXPECT_EQ(unknown.verdict, Verdict::invalid_candidate);
  EXPECT_THAT(unknown.message, HasSubstr("height"));
  const Result malformed = run(in_fours("requires: dim %% 4\n"));
  EXPECT_EQ(malformed.verdict, Verdict::invalid_candidate);
}

TEST_F(GeneralTest, WhereItCountsWhatDoesNotHoldIsNotGeneral) {
  shares_ = false;
  asked_.rule.other_sizes = OtherSizes::require;
  const Result result = run(in_fours(""));
  EXPECT_EQ(result.verdict, Verdict::not_general);
  EXPECT_THAT(result.message, HasSubstr("of 6 further sizes; at "));
  EXPECT_EQ(result.samples, 0);
  EXPECT_EQ(result.speedup.point, 0);
  EXPECT_THAT(result.settings, HasSubstr("other_sizes=require"));
  const Result holds = run(right());
  EXPECT_TRUE(holds.correct()) << holds.message;
  ASSERT_TRUE(holds.holds_at);
  EXPECT_EQ(holds.holds_at->tried, 6) << "no set is left out for time";
  EXPECT_GT(holds.stage_s.at("drawn_sizes"), 0);
}

TEST_F(GeneralTest, AtFurtherSizesItIsTimedAndHeldToTheirValues) {
  shares_ = false;
  asked_.rule.other_sizes = OtherSizes::none;
  asked_.rule.workloads = 3;
  const Result result = run(right());
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_THAT(result.settings, HasSubstr("workloads=3"));
  ASSERT_TRUE(result.workloads);
  ASSERT_EQ(result.workloads->each.size(), 3u);
  for (const Workload& each : result.workloads->each) {
    EXPECT_GT(each.speedup.point, 0);
    EXPECT_GE(each.speedup.point, result.workloads->least.point);
    EXPECT_GT(each.candidate_ms, 0);
    EXPECT_GT(each.baseline_ms, 0);
  }
  EXPECT_GT(result.stage_s.at("workloads"), 0);
  const Result wrong = run(in_fours(""));
  EXPECT_EQ(wrong.verdict, Verdict::not_general) << to_json(wrong);
  EXPECT_THAT(wrong.message, HasSubstr("it is "));
}

TEST_F(GeneralTest, WhatIsFastAtItsOwnSizesAloneStandsOutByTheLeast) {
  shares_ = false;
  asked_.rule.other_sizes = OtherSizes::none;
  asked_.rule.workloads = 3;
  const Result result =
      run(relu("float kept = x[0];\n"
               "  if (KB_batch_size * KB_dim != 400) {\n"
               "    for (int k = 0; k < 60000; ++k) kept = kept * 1.0001 + 0.5;\n"
               "  }\n"
               "  if (i < n && kept != 0.25) y[i] = max(x[i], 0.0);"));
  ASSERT_TRUE(result.correct()) << result.message;
  ASSERT_TRUE(result.workloads);
  EXPECT_LT(result.workloads->least.point, result.speedup.point / 4) << to_json(result);
}

/// Sizes at which its expressions have no value are no fault of the candidate's either.
TEST_F(GeneralTest, ARequirementMayBeUndefinedAtOtherSizes) {
  const Result result =
      run(in_fours("requires: [\"dim % (dim - 200 + batch_size) >= 0\", "
                   "\"dim % 4 == 0\"]\n"));
  EXPECT_TRUE(result.correct()) << result.message;
}

/// The candidate with numbers in place of the variables that can be moved.
CandidateSource twin_of(const std::string& name) {
  const std::filesystem::path folder = KBENCH_CANDIDATES;
  const std::string manifest = read_file((folder / name).string());
  const Candidate candidate = parse_candidate(manifest, name, folder.string());
  std::map<std::string, std::string> files = {{name, manifest}};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".yaml")) files[file] = read_file(entry.path().string());
  }
  const auto graph = build_graph(task_at(candidate.task, Preset::smoke));
  for (const auto& [variable, value] : graph->variables()) {
    if (!std::holds_alternative<int64_t>(value)) continue;
    const std::regex macro("\\bKB_" + variable + "\\b");
    const std::regex word("([^\\w.])" + variable + "(?![\\w.:])");
    for (auto& [file, text] : files) {
      text = std::regex_replace(text, macro, to_string(value));
      if (file == name) text = std::regex_replace(text, word, "$01" + to_string(value));
    }
  }
  CandidateSource source(files, "simple/" + name);
  source.manifest = name;
  return source;
}

class TwinTest : public GeneralTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(TwinTest, OfNumbersIsToldFromTheGeneralCandidate) {
  const Result general = ask({std::string(KBENCH_CANDIDATES) + "/" + GetParam()});
  ASSERT_TRUE(general.correct()) << general.message;
  ASSERT_TRUE(general.holds_at);
  EXPECT_TRUE(general.holds_at->everywhere()) << to_json(general);
  const Result twin = ask(twin_of(GetParam()));
  ASSERT_TRUE(twin.correct()) << twin.message;
  ASSERT_TRUE(twin.holds_at);
  EXPECT_LT(twin.holds_at->right, twin.holds_at->tried) << to_json(twin);
}

/// The shipped candidates but for four that take long; of level1/50 no other size is little work.
INSTANTIATE_TEST_SUITE_P(
    Shipped, TwinTest,
    ::testing::Values("level1_001_square_matmul.yaml", "level1_003_batched_matmul.yaml",
                      "level1_012_diagonal_matmul.yaml", "level1_019_relu.yaml",
                      "level1_023_softmax.yaml", "level1_026_gelu.yaml",
                      "level1_033_batch_norm.yaml", "level1_036_rms_norm.yaml",
                      "level1_040_layer_norm.yaml", "level1_042_max_pool2d.yaml",
                      "level1_047_sum.yaml", "level1_051_argmax.yaml", "level1_089_cumsum.yaml",
                      "level1_095_cross_entropy.yaml", "level2_001_conv2d_relu_bias_add.yaml",
                      "level2_012_gemm_multiply_leaky_relu.yaml",
                      "level2_059_matmul_swish_scaling.yaml", "level2_076_gemm_add_relu.yaml",
                      "level2_086_matmul_divide_gelu.yaml", "level2_099_matmul_gelu_softmax.yaml"),
    [](const auto& info) { return info.param.substr(0, info.param.find('.')); });

}  // namespace
}  // namespace kbench
