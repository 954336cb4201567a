// What `check` says of candidates that compile and are mostly mistakes.
#include <fstream>

#include "harness/measure/vulkan/compiler.h"
#include "tests/judge/evaluator_fixture.h"

namespace kbench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class WarningsTest : public testing::EvaluatorTest {
 protected:
  WarningsTest() { shares_ = true; }

  /// Its warnings; it has to compile.
  std::vector<std::string> warnings_of(const std::string& yaml) {
    const Result result = evaluator().check(file_of(yaml));
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
  static std::string hlsl(const std::string& type) {
    return "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    language: hlsl\n    source: |\n"
           "      [[vk::binding(0, 0)]] StructuredBuffer<" +
           type +
           "> x;\n"
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
  EXPECT_THAT(warnings_of(hlsl("float")), IsEmpty());
  // Bits of floats as words, by instructions that say so.
  const std::string bits =
      replaced(replaced(right(), "float x[]", "uint x[]"), "x[i]", "uintBitsToFloat(x[i])");
  EXPECT_THAT(warnings_of(bits), IsEmpty());
}

TEST_F(WarningsTest, ElementsOfAnotherType) {
  const auto as = [](const std::string& type) {
    return replaced(replaced(right(), "float x[]", type + " x[]"), "x[i]", "float(x[i])");
  };
  EXPECT_THAT(warnings_of(as("int")), Contains(HasSubstr("of x, of type f32, for int (X)")));
  EXPECT_THAT(warnings_of(as("double")), Contains(HasSubstr("of x, of type f32, for double (X)")));
  EXPECT_THAT(warnings_of(hlsl("int")), Contains(HasSubstr("of x, of type f32, for int")));
  const std::string temporary =
      replaced(replaced(right(), "dispatch:",
                        "temps:\n  t: {dtype: f16, shape: [batch_size, dim]}\ndispatch:"),
               "bind: [x, output]", "bind: [x, t]") +
      "  - {kernel: k, bind: [t, output], groups: [\"ceil_div(batch_size * dim, 64)\"]}\n";
  EXPECT_THAT(warnings_of(temporary), Contains(HasSubstr("of t, of type f16, for float")));
}

TEST_F(WarningsTest, IntegersOfATemporary) {
  const auto as = [](const std::string& dtype, const std::string& element) {
    const std::string with = replaced(
        replaced(right(), "dispatch:",
                 "temps:\n  t: {dtype: " + dtype + ", shape: [batch_size, dim]}\ndispatch:"),
        "      layout(binding = 1) buffer Y { float y[]; };\n",
        "      #extension GL_EXT_shader_8bit_storage : require\n"
        "      #extension GL_EXT_shader_explicit_arithmetic_types : require\n"
        "      layout(binding = 1) buffer Y { float y[]; };\n"
        "      layout(binding = 2) buffer T { " +
            element + " t[]; };\n");
    return replaced(replaced(with, "[x, output]", "[x, output, t]"), "if (i < n)",
                    "if (i < n) t[i] = " + element + "(3); if (i < n)");
  };
  EXPECT_THAT(warnings_of(as("i32", "int")), IsEmpty());
  EXPECT_THAT(warnings_of(as("u32", "uint")), IsEmpty());
  EXPECT_THAT(warnings_of(as("u8", "uint8_t")), IsEmpty());
  EXPECT_THAT(warnings_of(as("u8", "uint")), IsEmpty());  // four to a word
  EXPECT_THAT(warnings_of(as("i32", "float")),
              Contains(HasSubstr("of t, of type i32, for float (T)")));
  EXPECT_THAT(warnings_of(as("u32", "int64_t")),
              Contains(HasSubstr("of t, of type u32, for int64_t (T)")));
  EXPECT_THAT(warnings_of(as("u8", "float")),
              Contains(HasSubstr("of t, of type u8, for float (T)")));
}

TEST_F(WarningsTest, ElementsOfAnotherTypeInSpirv) {
  vulkan::ShaderSource source;
  source.text =
      "#version 450\nlayout(local_size_x = 64) in;\n"
      "layout(binding = 0) readonly buffer X { int x[]; };\n"
      "layout(binding = 1) buffer Y { float y[]; };\n"
      "void main() { uint i = gl_GlobalInvocationID.x; if (i < 400) y[i] = max(x[i], 0); }\n";
  const vulkan::Spirv spirv = vulkan::ShaderCompiler().compile(source).spirv;
  std::ofstream(folder_.path("k.spv"), std::ios::binary)
      .write(reinterpret_cast<const char*>(spirv.data()),
             static_cast<std::streamsize>(4 * spirv.size()));
  EXPECT_THAT(warnings_of("kbench: 1\ntask: level1/19\nkernels:\n  k: {file: k.spv}\n"
                          "dispatch:\n  - {kernel: k, bind: [x, output], groups: 7}\n"),
              Contains(HasSubstr("of x, of type f32, for int")));
}

TEST_F(WarningsTest, BuffersThatAreUnreadOrBoundTwice) {
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
  const auto twice = warnings_of(replaced(product, "[A, B, output]", "[A, A, output]"));
  EXPECT_THAT(twice, Contains("no step reads the task's input B"));
  EXPECT_THAT(twice, Contains("binds A twice, as A and as B of kernel k"));
  EXPECT_THAT(warnings_of(replaced(product, "a[i] + b[i]", "a[i]")),
              Contains(HasSubstr("binds B, which kernel k does not use")));
}

TEST_F(WarningsTest, AShaderWithoutALocalSize) {
  EXPECT_THAT(warnings_of(replaced(right(), "layout(local_size_x = 64) in;", "")),
              Contains(HasSubstr("kernel k does not say its local size")));
  EXPECT_THAT(warnings_of(replaced(hlsl("float"), "[numthreads(64, 1, 1)] ", "")),
              Contains(HasSubstr("[numthreads(64, 1, 1)]")));
}

TEST_F(WarningsTest, ABarrierThatSomeSkipNamesItsLine) {
  const std::string yaml = relu(
      "if (i >= n) return; s[gl_LocalInvocationID.x] = x[i]; barrier(); y[i] = max(s[63], 0.0);");
  const Result result = evaluator().check(
      file_of(replaced(yaml, "      void main", "      shared float s[64];\n      void main")));
  ASSERT_FALSE(result.diagnostics.empty());
  EXPECT_THAT(result.diagnostics[0].message, HasSubstr("has a barrier that may be skipped"));
  EXPECT_EQ(result.diagnostics[0].line, 14);
}

TEST_F(WarningsTest, AMissingHlslEntryPointIsNamedWithTheOthers) {
  const Result result = evaluator().check(
      file_of(replaced(replaced(hlsl("float"), "language: hlsl", "language: hlsl\n    entry: relu"),
                       "void main", "void CSMain")));
  EXPECT_EQ(result.verdict, Verdict::compile_error);
  EXPECT_THAT(result.message, HasSubstr("has no entry point 'relu'"));
  EXPECT_THAT(result.message, HasSubstr("are CSMain"));
}

TEST_F(WarningsTest, AnUndefinedMacroIsNamed) {
  const Result result = evaluator().check(file_of(replaced(right(), "float x[]", "A_TYPE x[]")));
  EXPECT_EQ(result.verdict, Verdict::compile_error);
  ASSERT_EQ(result.diagnostics.size(), 2u);
  EXPECT_EQ(result.diagnostics[1].severity, "note");
  EXPECT_THAT(result.diagnostics[1].message, HasSubstr("'A_TYPE' is defined nowhere"));
  EXPECT_THAT(result.diagnostics[1].message, HasSubstr("`defines`"));
}

}  // namespace
}  // namespace kbench
