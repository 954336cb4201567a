// Labels of a result beside its verdict: whose kernels a candidate's time went to.
#include "tests/judge/evaluator_fixture.h"

namespace kbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LabelsTest : public testing::EvaluatorTest {
 protected:
  LabelsTest() { shares_ = true; }
};

TEST_F(LabelsTest, OfKernelsAloneAllTimeIsTheCandidates) {
  const Result result = run(right());
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.own_kernels, 1.0);
  EXPECT_THAT(result.library_calls, IsEmpty());
}

TEST_F(LabelsTest, OfBuiltInStepsAloneNoneIs) {
  const Result result =
      run("kbench: 1\ntask: level1/19\n"
          "dispatch:\n  - {op: relu, in: x, out: output}\n");
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.own_kernels, 0.0);
  EXPECT_THAT(result.library_calls, ElementsAre("relu"));
}

TEST_F(LabelsTest, OfBothAProfileTells) {
  const std::string yaml = relu("if (i < n) y[i] = max(x[i], 0.0);",
                                "temps:\n  t: {dtype: f32, shape: [batch_size, dim]}\n"
                                "  u: {dtype: f32, shape: [batch_size, dim]}\n",
                                "u, output");
  const size_t steps = yaml.find("dispatch:\n") + std::string("dispatch:\n").size();
  const Result result = run(
      yaml.substr(0, steps) +
      "  - {op: cast, in: x, out: t, attributes: {dtype: f32}}\n  - {op: relu, in: t, out: u}\n" +
      yaml.substr(steps));
  ASSERT_TRUE(result.correct()) << result.message;
  EXPECT_THAT(result.library_calls, ElementsAre("cast", "relu"));
  ASSERT_TRUE(result.own_kernels);
  EXPECT_GT(*result.own_kernels, 0);
  EXPECT_LT(*result.own_kernels, 1);
}

TEST_F(LabelsTest, OfWhatDoesNotPassAreLeftOut) {
  const Result result = run(relu("y[i % n] = 0.0;"));
  EXPECT_FALSE(result.correct());
  EXPECT_FALSE(result.own_kernels);
}

}  // namespace
}  // namespace kbench
