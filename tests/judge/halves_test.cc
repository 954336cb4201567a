// Candidates of tasks in float16 and bfloat16: what KB_REAL and its conversions are on a device.
#include <bit>
#include <cmath>
#include <vector>

#include "libkbench/base/half.h"
#include "tests/judge/evaluator_fixture.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

float rounded(float value, DType dtype) {
  return dtype == DType::f16 ? from_f16(to_f16(value)) : from_bf16(to_bf16(value));
}

/// Around ties, overflow and the smallest numbers of either type.
std::vector<float> telling_numbers() {
  std::vector<float> numbers = {0.0f,     -0.0f,        1.0f,         -1.0f,      65504.0f,
                                65519.0f, 65520.0f,     -65520.0f,    1e20f,      3.3961775e38f,
                                -1e-20f,  0x1p-24f,     0x1p-25f,     0x1.8p-25f, 0x1.000002p-25f,
                                0x1p-14f, 0x1.ffcp-15f, 0x1.ffep-15f, INFINITY,   -INFINITY};
  for (const int bits : {11, 12, 8, 9}) {  // half a step above 1, just less and just more
    for (const float odd : {0.0f, std::ldexp(1.0f, 1 - bits)}) {
      const float tie = 1.0f + odd + std::ldexp(1.0f, -bits);
      numbers.insert(numbers.end(),
                     {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 2.0f), -tie});
    }
  }
  uint32_t state = 1;
  for (int i = 0; i < 64; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers.push_back(std::ldexp(static_cast<float>(state >> 8), static_cast<int>(i % 40) - 44));
  }
  return numbers;
}

class Halves : public EvaluatorTest {
 protected:
  Result run_in(DType dtype, const std::string& yaml) {
    asked_.dtype = dtype;
    return run(yaml);
  }

  void expect_passed(DType dtype, const std::string& yaml) {
    const Result result = run_in(dtype, yaml);
    EXPECT_EQ(name_of(result.verdict), "passed") << name_of(dtype) << ": " << result.message << "\n"
                                                 << yaml;
    EXPECT_EQ(result.dtype, dtype);
  }

  /// `data` of the telling numbers' bits and of what they become.
  static std::string numbers_as_data(DType dtype) {
    std::string given, made;
    for (const float number : telling_numbers()) {
      given += (given.empty() ? "" : ", ") + std::to_string(std::bit_cast<uint32_t>(number));
      made += (made.empty() ? "" : ", ") +
              std::to_string(std::bit_cast<uint32_t>(rounded(number, dtype)));
    }
    return "data:\n  given: [{u32: [" + given + "]}]\n  made: [{u32: [" + made + "]}]\n";
  }
};

constexpr const char* kLaunch =
    "dispatch:\n  - {kernel: k, bind: [x, given, made, output], "
    "groups: \"ceil_div(batch_size * dim, 64)\"}\n";

/// ReLU, but -1 wherever a conversion gives other bits than libkbench/base/half.h.
std::string in_glsl() {
  return "kernels:\n"
         "  k:\n"
         "    source: |\n"
         "      #version 450\n"
         "      layout(local_size_x = 64) in;\n"
         "      layout(binding = 0) readonly buffer X { KB_REAL x[]; };\n"
         "      layout(binding = 1) readonly buffer Given { uint given[]; };\n"
         "      layout(binding = 2) readonly buffer Made { uint made[]; };\n"
         "      layout(binding = 3) buffer Y { KB_REAL y[]; };\n"
         "      void main() {\n"
         "        const uint i = gl_GlobalInvocationID.x;\n"
         "        if (i >= KB_batch_size * KB_dim) return;\n"
         "        bool right = true;\n"
         "        for (uint n = 0; n < given.length(); ++n) {\n"
         "          float v = uintBitsToFloat(given[n]);\n"
         "          float one = KB_TO_FLOAT(KB_FROM_FLOAT(v));\n"
         "          vec2 two = KB_TO_FLOAT2(KB_FROM_FLOAT2(vec2(1.0, v)));\n"
         "          vec4 four = KB_TO_FLOAT4(KB_FROM_FLOAT4(vec4(1.0, 1.0, 1.0, v)));\n"
         "          right = right && floatBitsToUint(one) == made[n] &&\n"
         "                  floatBitsToUint(two.y) == made[n] &&\n"
         "                  floatBitsToUint(four.w) == made[n];\n"
         "        }\n"
         "        const float v = max(KB_TO_FLOAT(x[i]), 0.0);\n"
         "        y[i] = KB_FROM_FLOAT(right ? v : -1.0);\n"
         "      }\n";
}

std::string in_hlsl() {
  return "kernels:\n"
         "  k:\n"
         "    language: hlsl\n"
         "    source: |\n"
         "      [[vk::binding(0, 0)]] StructuredBuffer<KB_REAL> x;\n"
         "      [[vk::binding(1, 0)]] StructuredBuffer<uint> given;\n"
         "      [[vk::binding(2, 0)]] StructuredBuffer<uint> made;\n"
         "      [[vk::binding(3, 0)]] RWStructuredBuffer<KB_REAL> y;\n"
         "      [numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {\n"
         "        const uint i = id.x;\n"
         "        if (i >= KB_batch_size * KB_dim) return;\n"
         "        bool right = true;\n"
         "        for (uint n = 0; n < " +
         std::to_string(telling_numbers().size()) +
         "; ++n) {\n"
         "          const float v = asfloat(given[n]);\n"
         "          const float one = KB_TO_FLOAT(KB_FROM_FLOAT(v));\n"
         "          const float4 four = KB_TO_FLOAT4(KB_FROM_FLOAT4(float4(1, 1, 1, v)));\n"
         "          right = right && asuint(one) == made[n] && asuint(four.w) == made[n];\n"
         "        }\n"
         "        const float v = max(KB_TO_FLOAT(x[i]), 0.0);\n"
         "        y[i] = KB_FROM_FLOAT(right ? v : -1.0);\n"
         "      }\n";
}

TEST_F(Halves, ConvertAsTheHostDoes) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    for (const std::string& kernel : {in_glsl(), in_hlsl()}) {
      expect_passed(dtype,
                    "kbench: 1\ntask: level1/19\n" + kernel + numbers_as_data(dtype) + kLaunch);
    }
  }
}

/// One source for all types; a message names the line of the author's file.
TEST_F(Halves, AreServedByTheKernelOfFloats) {
  const auto relu_by = [](const std::string& store) {
    return glsl(
        "layout(binding = 0) readonly buffer X { KB_REAL x[]; };\n"
        "layout(binding = 1) writeonly buffer Y { KB_REAL y[]; };\n",
        "const float v = max(KB_TO_FLOAT(x[i]), 0.0);\n"
        "  if (i < KB_batch_size * KB_dim) y[i] = " +
            store + ";");
  };
  for (const DType dtype : kTaskDTypes) expect_passed(dtype, relu_by("KB_FROM_FLOAT(v)"));
  for (const DType dtype : kTaskDTypes) {
    const Result wrong = run_in(dtype, relu_by("KB_FROM_FLOAT(w)"));
    EXPECT_EQ(name_of(wrong.verdict), "compile_error");
    ASSERT_FALSE(wrong.diagnostics.empty());
    EXPECT_EQ(wrong.diagnostics[0].line, 13) << wrong.message;
  }
}

TEST_F(Halves, AreNotGivenToWhatIsWrittenForFloats) {
  const std::string yaml = right();
  const size_t behind = yaml.find("kernels:");
  const std::string floats = yaml.substr(0, behind) + "dtype: f32\n" + yaml.substr(behind);
  expect_passed(DType::f32, floats);
  const Result result = run_in(DType::f16, floats);
  EXPECT_EQ(name_of(result.verdict), "unsupported");
  EXPECT_THAT(result.message, HasSubstr("written for f32, the task is in f16"));
}

/// Matrices of halves are not on every device; the verdict then names them.
TEST_F(Halves, OnMatrixUnitsPassOrAreNamedAsMissing) {
  const Result result =
      run_in(DType::f16,
             "kbench: 1\n"
             "task: level1/19\n"
             "kernels:\n"
             "  k:\n"
             "    source: |\n"
             "      #version 450\n"
             "      #extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
             "      #extension GL_KHR_memory_scope_semantics : require\n"
             "      #extension GL_NV_cooperative_matrix : require\n"
             "      layout(local_size_x = 32) in;\n"
             "      layout(binding = 0) readonly buffer X { KB_REAL x[]; };\n"
             "      layout(binding = 1) buffer Y { KB_REAL y[]; };\n"
             "      void main() {\n"
             "        fcoopmatNV<16, gl_ScopeSubgroup, 16, 16> m;\n"
             "        coopMatLoadNV(m, x, 0, 16, false);\n"
             "        coopMatStoreNV(m, y, 0, 16, false);\n"
             "      }\n"
             "dispatch:\n  - {kernel: k, bind: [x, output], groups: 1}\n");
  if (result.verdict == Verdict::unsupported) {
    EXPECT_THAT(result.message, HasSubstr("cooperative matrices (VK_NV_cooperative_matrix)"));
  } else {
    EXPECT_EQ(name_of(result.verdict), "partly_written") << result.message;
  }
}

/// Arithmetic of 16 bits is the device's to offer.
TEST_F(Halves, MayBeComputedWithWhereTheDeviceDoes) {
  const Result result = run_in(
      DType::f16, glsl("#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
                       "#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require\n"
                       "layout(binding = 0) readonly buffer X { KB_REAL x[]; };\n"
                       "layout(binding = 1) buffer Y { KB_REAL y[]; };\n",
                       "const int16_t none = int16_t(i % 1u) * int16_t(3);\n"
                       "  if (i < KB_batch_size * KB_dim) y[i] = max(x[i], float16_t(none));"));
  if (result.verdict == Verdict::unsupported) {
    EXPECT_THAT(result.message, HasSubstr("16-bit"));
    GTEST_SKIP() << result.message;
  }
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
}

}  // namespace
}  // namespace kbench::testing
