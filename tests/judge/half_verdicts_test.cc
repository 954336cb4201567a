// Tasks of float16 and bfloat16 judged: what is right passes, what computes in fewer bits does not.
#include "kbench/candidate.h"
#include "kbench/listing.h"
#include "tests/error_of.h"
#include "tests/judge/evaluator_fixture.h"
#include "tests/support/needs_torch.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

class HalfVerdicts : public EvaluatorTest, public ::testing::WithParamInterface<DType> {
 protected:
  void SetUp() override {
    EvaluatorTest::SetUp();
    asked_.dtype = GetParam();
  }
  static std::string built_in(const std::string& more = "") {
    return "kbench: 1\ntask: level1/19\ndispatch:\n"
           "  - {op: relu, in: x, out: output}\n" +
           more;
  }
  /// The word that holds two elements, and its number, are what `body` is given.
  static std::string two_at_a_time(const std::string& body) {
    return glsl(
        "layout(binding = 0) buffer X { uint x[]; };\n"
        "layout(binding = 1) buffer Y { uint y[]; };\n",
        "if (i * 2 >= KB_batch_size * KB_dim) return;\n"
        "  uint v = x[i];\n"
        "  if ((v & 0x8000u) != 0) v &= 0xffff0000u;\n"
        "  if ((v & 0x80000000u) != 0) v &= 0xffffu;\n  " +
            body,
        "", "x, output", "128");
  }
};

TEST_P(HalfVerdicts, BuiltInStepsPass) {
  const Result result = run(built_in());
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.dtype, GetParam());
  EXPECT_THAT(result.opponent, HasSubstr(std::string(name_of(GetParam()))));
}

/// The two bytes behind a single half are the candidate's to leave alone; the opponent's memory
/// never held what they are compared with.
TEST_P(HalfVerdicts, AnOpponentWithAnOddNumberOfOutputsIsRight) {
  const Task& task = find_task({1, 94});
  const auto graph = build_graph(task, Preset::smoke, {}, GetParam());
  const Result result = run(eager_candidate_yaml(task, *graph));
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.opponent_finding, "");
}

TEST_P(HalfVerdicts, AKernelReadsAndWritesTwoBytesAnElement) {
  const Result result = run(two_at_a_time("y[i] = v;"));
  EXPECT_TRUE(result.correct()) << result.message;
}

TEST_P(HalfVerdicts, ElementsThatAreNotWrittenAreSeen) {
  const Result all = run(two_at_a_time("if (i < 0u) y[i] = v;"));
  EXPECT_EQ(name_of(all.verdict), "not_written") << all.message;
  const Result some = run(two_at_a_time("if (i % 2 == 0) y[i] = v;"));
  EXPECT_EQ(name_of(some.verdict), "partly_written") << some.message;
}

TEST_P(HalfVerdicts, FewerBitsAreSeen) {
  // Three bits after the point less in every element.
  const Result result = run(two_at_a_time("y[i] = v & 0xfff8fff8u;"));
  EXPECT_EQ(name_of(result.verdict), "low_precision") << result.message;
}

TEST_P(HalfVerdicts, ZerosFail) {
  const Result result = run(two_at_a_time("y[i] = 0u;"));
  EXPECT_EQ(name_of(result.verdict), "all_zero") << result.message;
}

INSTANTIATE_TEST_SUITE_P(Types, HalfVerdicts, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

class HalfModule : public EvaluatorTest {};

/// On a CPU PyTorch has few operators of float16, and of bfloat16 some that compute in it.
TEST_F(HalfModule, GetsTensorsOfTheTypeBesidePyTorchInIt) {
  KBENCH_NEED_TORCH();
  asked_.dtype = DType::bf16;
  asked_.opponent = opponent_from_name("torch");
  const Task& task = find_task({1, 26});
  folder_.write("model_new.py", pytorch_module(task, *build_graph(task, Preset::smoke)));
  const Result result = ask(folder_.path("model_new.py"));
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_EQ(result.dtype, DType::bf16);
  EXPECT_EQ(result.lane, "torch");
  EXPECT_EQ(result.opponent_finding, "");
}

TEST_F(HalfModule, ATaskThatIsNotDefinedInTheTypeIsAnErrorThatSaysSo) {
  const Task* undefined = nullptr;
  for (const Task& task : tasks()) {
    if (!is_defined(task, DType::f16)) undefined = &task;
  }
  ASSERT_NE(undefined, nullptr);
  asked_.dtype = DType::f16;
  const Error error = error_of([&] {
    run("kbench: 1\ntask: " + to_string(undefined->id) +
        "\ndispatch:\n  - {op: relu, in: x, out: output}\n");
  });
  EXPECT_THAT(error.message(), HasSubstr("is not defined in float16: "));
}

}  // namespace
}  // namespace kbench::testing
