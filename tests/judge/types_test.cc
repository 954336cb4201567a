// Element types beyond a task's own: temporaries of integers, casts, and sums by atomics on floats.
#include "tests/judge/evaluator_fixture.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

class Types : public EvaluatorTest {
 protected:
  Types() { shares_ = true; }

  /// ReLU in two launches: `first` makes element i of the temporary t, `second` the output of it.
  static std::string by_way_of(const std::string& dtype, const std::string& element,
                               const std::string& first, const std::string& second) {
    const auto kernel = [&](const std::string& name, const std::string& body) {
      return "  " + name +
             ":\n    source: |\n"
             "      #version 450\n"
             "      #extension GL_EXT_shader_8bit_storage : require\n"
             "      #extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n"
             "      layout(local_size_x = 64) in;\n"
             "      layout(binding = 0) readonly buffer X { float x[]; };\n"
             "      layout(binding = 1) buffer T { " +
             element +
             " t[]; };\n"
             "      layout(binding = 2) buffer Y { float y[]; };\n"
             "      void main() {\n"
             "        const uint i = gl_GlobalInvocationID.x;\n"
             "        if (i >= KB_batch_size * KB_dim) return;\n        " +
             body + "\n      }\n";
    };
    const std::string launch =
        ", bind: [x, t, output], groups: \"ceil_div(batch_size * dim, 64)\"}\n";
    return "kbench: 1\ntask: level1/19\ntemps:\n  t: {dtype: " + dtype +
           ", shape: [batch_size, dim]}\nkernels:\n" +
           kernel("first", first + (first.empty() ? "" : " ") + "y[i] = 0;") +
           kernel("second", second) + "dispatch:\n  - {kernel: first" + launch +
           "  - {kernel: second" + launch;
  }
};

TEST_F(Types, TemporariesHoldIntegers) {
  const std::string found = "y[i] = max(x[t[i] + 100], 0.0);";
  passes(by_way_of("i32", "int", "t[i] = int(i) - 100;", found));
  const std::string exact = by_way_of("u32", "uint", "t[i] = floatBitsToUint(x[i]);",
                                      "y[i] = (t[i] >> 31) != 0u ? 0.0 : uintBitsToFloat(t[i]);");
  passes(exact);
}

TEST_F(Types, TemporariesHoldBytes) {
  const Result result = run(by_way_of("u8", "uint8_t", "t[i] = uint8_t(x[i] > 0 ? 200 : 0);",
                                      "y[i] = t[i] == uint8_t(200) ? x[i] : 0.0;"));
  if (result.verdict == Verdict::unsupported) {
    EXPECT_THAT(result.message, ::testing::AnyOf(HasSubstr("8-bit"), HasSubstr("int8")));
    GTEST_SKIP() << "a device without bytes in buffers: " << result.message;
  }
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
}

/// Memory that happens to be zero would do for a kernel that never writes it.
TEST_F(Types, IntegerTemporariesBeginAsGarbage) {
  const std::string trusting = "y[i] = t[i] == 0 ? max(x[i], 0.0) : -1.0;";
  fails(by_way_of("i32", "int", "", trusting), Verdict::wrong_values, "");
  fails(by_way_of("u32", "uint", "", trusting), Verdict::wrong_values, "");
  fails(by_way_of("u8", "uint8_t", "", "y[i] = t[i] == uint8_t(0) ? max(x[i], 0.0) : -1.0;"),
        Verdict::wrong_values, "");
}

TEST_F(Types, CastStepsConvertElements) {
  const auto by_way_of = [](const std::string& dtype, const std::string& out = "there") {
    return "kbench: 1\ntask: level1/19\ntemps:\n  there: {dtype: " + dtype +
           ", shape: [batch_size, dim]}\n"
           "  back: {dtype: f32, shape: [batch_size, dim]}\n"
           "dispatch:\n  - {op: cast, in: x, out: " +
           out + ", attributes: {dtype: " + dtype +
           "}}\n"
           "  - {op: cast, in: there, out: back, attributes: {dtype: f32}}\n"
           "  - {op: relu, in: back, out: output}\n";
  };
  passes(by_way_of("f64"));
  fails(by_way_of("f16"), Verdict::low_precision, "");
  fails(by_way_of("i32"), Verdict::wrong_values, "");
  fails(by_way_of("f16", "back"), Verdict::invalid_candidate,
        "operator 'cast' gives f16 [2, 200], but 'back' is f32 [2, 200]");
  std::string misspelt = by_way_of("f16");
  misspelt.replace(misspelt.rfind("dtype: f32"), 10, "dtype: f17");
  fails(misspelt, Verdict::invalid_candidate, "unknown element type 'f17'; known: f32, f64");
}

TEST_F(Types, SumsByAtomicsOnFloatsPass) {
  const Result result = run(R"yaml(kbench: 1
task: level1/47
kernels:
  add:
    source: |
      #version 450
      #extension GL_EXT_shader_atomic_float : require
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        const uint row = i / KB_dim2;
        if (i < KB_batch_size * KB_dim1 * KB_dim2) {
          atomicAdd(y[row / KB_dim1 * KB_dim2 + i % KB_dim2], x[i]);
        }
      }
  zero:
    source: |
      #version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) writeonly buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < KB_batch_size * KB_dim2) y[i] = 0.0;
      }
dispatch:
  - {kernel: zero, bind: [output], groups: "ceil_div(batch_size * dim2, 64)"}
  - {kernel: add, bind: [x, output], groups: "ceil_div(batch_size * dim1 * dim2, 64)"}
)yaml");
  if (result.verdict == Verdict::unsupported) {
    EXPECT_THAT(result.message, HasSubstr("(shaderBufferFloat32AtomicAdd), which this device"));
    GTEST_SKIP() << result.message;
  }
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
}

/// In a task of halves the truth is computed from float32 memory of its own, and from masks there.
TEST_F(Types, MasksBesideHalvesReachTheTruthToo) {
  shares_ = false;
  asked_.dtype = DType::f16;
  const Result result = passes(R"yaml(kbench: 1
task: level1/93
temps:
  t: {dtype: f16, shape: [2, 96]}
dispatch:
  - {op: mul_mask, in: [x, mask], out: t}
  - {op: cumsum, in: t, out: output, attributes: {axis: 1}}
)yaml");
  EXPECT_THAT(result.opponent, HasSubstr("f16: float"));
}

}  // namespace
}  // namespace kbench::testing
