// Candidates that are right at preset smoke, and what they compute at two other sizes.
#include "tests/judge/evaluator_fixture.h"

namespace kbench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OtherSizesTest : public testing::EvaluatorTest {
 protected:
  OtherSizesTest() { shares_ = true; }
  void SetUp() override {
    EvaluatorTest::SetUp();
    asked_.rule.other_sizes = OtherSizes::note;
  }
};

/// A product by tiles of 16 in shared memory; `guard` stands before the barriers.
std::string product(const std::string& guard, const std::string& size = "KB_N") {
  return "kbench: 1\ntask: level1/1\nkernels:\n  k:\n    source: |\n"
         "      #version 450\n"
         "      layout(local_size_x = 16, local_size_y = 16) in;\n"
         "      layout(binding = 0) readonly buffer A { float a[]; };\n"
         "      layout(binding = 1) readonly buffer B { float b[]; };\n"
         "      layout(binding = 2) writeonly buffer C { float c[]; };\n"
         "      shared float ta[16][16], tb[16][16];\n"
         "      void main() {\n"
         "        const uint n = " +
         size +
         ";\n"
         "        const uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;\n"
         "        const uint i = gl_LocalInvocationID.x, j = gl_LocalInvocationID.y;\n"
         "        " +
         guard +
         "\n"
         "        float sum = 0;\n"
         "        for (uint t = 0; t < n; t += 16) {\n"
         "          ta[j][i] = y < n && t + i < n ? a[y * n + t + i] : 0.0;\n"
         "          tb[j][i] = x < n && t + j < n ? b[(t + j) * n + x] : 0.0;\n"
         "          barrier();\n"
         "          for (uint k = 0; k < 16; ++k) sum += ta[j][k] * tb[k][i];\n"
         "          barrier();\n"
         "        }\n"
         "        if (x < n && y < n) c[y * n + x] = sum;\n"
         "      }\n"
         "dispatch:\n"
         "  - {kernel: k, bind: [A, B, output], groups: [\"ceil_div(N, 16)\", \"ceil_div(N, "
         "16)\"]}\n";
}

TEST_F(OtherSizesTest, AReturnBeforeABarrierIsFound) {
  const Result result = run(product("if (x >= n || y >= n) return;"));
  EXPECT_FALSE(result.correct());
  EXPECT_THAT(result.message, HasSubstr("at N=68: "));
  EXPECT_THAT(result.message, HasSubstr("(right at N=48)"));
  EXPECT_EQ(result.samples, 0);
  EXPECT_EQ(result.candidate_ms, 0);
  EXPECT_GT(result.stage_s.at("other_sizes"), 0);
  expect_accounted(result);
}

TEST_F(OtherSizesTest, WhatIsRightEverywherePassesAndSoDoesTheNext) {
  for (int i = 0; i < 2; ++i) {
    const Result result = run(product(""));
    EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
    EXPECT_GT(result.samples, 0);
    for (const Diagnostic& each : result.diagnostics) EXPECT_NE(each.severity, "note");
  }
  passes(right());
}

TEST_F(OtherSizesTest, ANumberInPlaceOfTheVariableTiesItToItsSize) {
  const Result result = run(product("", "48"));
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics.back().severity, "note");
  EXPECT_THAT(result.diagnostics.back().message,
              HasSubstr("tied to its sizes, N=48: at N=68 it is"));
}

TEST_F(OtherSizesTest, AnErrorOfItsOwnTiesItToo) {
  std::string yaml = product("");
  yaml.insert(yaml.find("      layout(local_size_x"),
              "      #if KB_N % 16 != 0\n      #error N is a multiple of 16\n      #endif\n");
  const Result result = run(yaml);
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_THAT(result.diagnostics.back().message, HasSubstr("N is a multiple of 16"));
}

TEST_F(OtherSizesTest, WhatIsRightThereByWhatMemoryHoldsIsFound) {
  for (const char* flag : {"t[1] != 0u", "t[1] == 0u", "t[i % 64u] != 1u"}) {
    const Result result = run(where("n == 400u || " + std::string(flag)));
    EXPECT_EQ(result.verdict, Verdict::wrong_values) << flag << ": " << result.message;
    EXPECT_THAT(result.message, HasSubstr("at ")) << flag;
  }
}

TEST_F(OtherSizesTest, AreLeftOutWhereTheCallerSaysSo) {
  shares_ = false;
  asked_.rule.other_sizes = OtherSizes::none;
  const Result result = run(product("if (x >= n || y >= n) return;"));
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
  EXPECT_FALSE(result.stage_s.contains("other_sizes"));
  EXPECT_FALSE(result.holds_at);
  EXPECT_THAT(result.settings, HasSubstr("other_sizes=none"));
}

TEST_F(OtherSizesTest, AreNotTriedBesideSizesThatWereAskedFor) {
  shares_ = false;
  asked_.overrides = {{"N", int64_t{32}}};
  const Result result = run(product("if (x >= n || y >= n) return;"));
  EXPECT_EQ(result.verdict, Verdict::passed) << result.message;
}

}  // namespace
}  // namespace kbench
