// What `check` says of candidates that compile and are mostly mistakes.
#include "tests/judge/evaluator_fixture.h"

namespace kbench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WarningsTest : public testing::EvaluatorTest {
 protected:
  WarningsTest() { shares_ = true; }

  /// Its warnings; it has to compile.
  std::vector<std::string> warnings_of(const std::string& yaml) {
    const Result result = check(file_of(yaml));
    EXPECT_EQ(result.verdict, Verdict::compiles) << result.message;
    std::vector<std::string> messages;
    for (const Diagnostic& each : result.diagnostics) {
      if (each.severity == "warning") messages.push_back(each.message);
    }
    return messages;
  }

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
  }

  /// ReLU in HLSL.
  static std::string hlsl() {
    return "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    language: hlsl\n    source: |\n"
           "      [[vk::binding(0, 0)]] StructuredBuffer<float> x;\n"
           "      [[vk::binding(1, 0)]] RWStructuredBuffer<float> y;\n"
           "      [numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {\n"
           "        if (id.x < KB_batch_size * KB_dim) y[id.x] = max(x[id.x], 0);\n"
           "      }\n"
           "dispatch:\n  - {kernel: k, bind: [x, output], groups: \"ceil_div(batch_size * dim, "
           "64)\"}\n";
  }
};

TEST_F(WarningsTest, WhatIsRightHasNone) {
  EXPECT_THAT(warnings_of(right()), IsEmpty());
  EXPECT_THAT(warnings_of(hlsl()), IsEmpty());
}

TEST_F(WarningsTest, BuffersThatAreUnread) {
  const std::string product =
      "kbench: 1\ntask: level1/1\nkernels:\n  k:\n    source: |\n"
      "      #version 450\n      layout(local_size_x = 64) in;\n"
      "      layout(binding = 0) readonly buffer A { float a[]; };\n"
      "      layout(binding = 1) readonly buffer B { float b[]; };\n"
      "      layout(binding = 2) writeonly buffer C { float c[]; };\n"
      "      void main() { uint i = gl_GlobalInvocationID.x; if (i < KB_N * KB_N) c[i] = a[i] + "
      "b[i]; }\n"
      "dispatch:\n  - {kernel: k, bind: [A, B, output], groups: \"ceil_div(N * N, 64)\"}\n";
  EXPECT_THAT(warnings_of(product), IsEmpty());
  EXPECT_THAT(warnings_of(replaced(product, "[A, B, output]", "[A, A, output]")),
              Contains("no step reads the task's input B"));
  EXPECT_THAT(warnings_of(replaced(product, "a[i] + b[i]", "a[i]")),
              Contains(HasSubstr("binds B, which kernel k does not use")));
}

TEST_F(WarningsTest, AShaderWithoutALocalSize) {
  EXPECT_THAT(warnings_of(replaced(right(), "layout(local_size_x = 64) in;", "")),
              Contains(HasSubstr("kernel k does not say its local size")));
  EXPECT_THAT(warnings_of(replaced(hlsl(), "[numthreads(64, 1, 1)] ", "")),
              Contains(HasSubstr("[numthreads(64, 1, 1)]")));
}

TEST_F(WarningsTest, ABarrierThatSomeSkipNamesItsLine) {
  const std::string yaml = relu(
      "if (i >= n) return; s[gl_LocalInvocationID.x] = x[i]; barrier(); y[i] = max(s[63], 0.0);");
  const Result result = check(
      file_of(replaced(yaml, "      void main", "      shared float s[64];\n      void main")));
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_THAT(result.diagnostics[0].message, HasSubstr("has a barrier that may be skipped"));
  EXPECT_EQ(result.diagnostics[0].line, 14);
}

TEST_F(WarningsTest, AMissingHlslEntryPointIsAnError) {
  const Result result =
      check(file_of(replaced(replaced(hlsl(), "language: hlsl", "language: hlsl\n    entry: relu"),
                             "void main", "void CSMain")));
  EXPECT_EQ(result.verdict, Verdict::compile_error);
  EXPECT_THAT(result.message, HasSubstr("has no entry point 'relu'"));
}

TEST_F(WarningsTest, AnUndefinedMacroIsNamed) {
  const Result result = check(file_of(replaced(right(), "float x[]", "A_TYPE x[]")));
  EXPECT_EQ(result.verdict, Verdict::compile_error);
  ASSERT_EQ(result.diagnostics.size(), 2u);
  EXPECT_EQ(result.diagnostics[1].severity, "note");
  EXPECT_THAT(result.diagnostics[1].message, HasSubstr("'A_TYPE' is defined nowhere"));
  EXPECT_THAT(result.diagnostics[1].message, HasSubstr("`defines`"));
}

TEST_F(WarningsTest, AMacroInALineWithAnErrorIsTold) {
  const Result result = check(file_of(replaced(replaced(right(), "x[i]", "missing(WIDTH)"),
                                               "kernels:", "constants: {WIDTH: 64}\nkernels:")));
  EXPECT_EQ(result.verdict, Verdict::compile_error);
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_EQ(result.diagnostics.back().severity, "note");
  EXPECT_EQ(result.diagnostics.back().message, "'WIDTH' in that line is a macro: 64");
}

}  // namespace
}  // namespace kbench
