// Kernels as others wrote them, run as their manifests say: macros, data, repeats and numbers of
// the device. The shaders are of our own, in the idioms of inference engines.
#include "tests/judge/evaluator_fixture.h"

namespace kbench::testing {
namespace {

using ::testing::HasSubstr;

class Manifest : public EvaluatorTest {
 protected:
  Manifest() { shares_ = true; }

  /// A candidate for ReLU (level1/19), of 400 elements at preset smoke.
  static std::string manifest(const std::string& rest) {
    return "kbench: 1\ntask: level1/19\n" + rest;
  }
  void passes(const std::string& rest) { EvaluatorTest::passes(manifest(rest)); }
  Result fails(const std::string& rest, Verdict verdict, const std::string& message) {
    return EvaluatorTest::fails(manifest(rest), verdict, message);
  }
};

/// One launch of a step of its own; `in place` on binding 0, n elements from a push constant.
constexpr char kInPlace[] = R"yaml(kernels:
  k:
    source: |
      #version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) buffer Y { float y[]; };
      layout(push_constant) uniform Push { uint n; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < n) y[i] = max(y[i], 0.0);
      }
)yaml";

/// Loads and stores are macros of the build, as are the types of both sides.
constexpr char kTyped[] = R"yaml(kernels:
  unary:
    source: |
      #version 450
      layout(local_size_x = BLOCK) in;
      layout(push_constant) uniform parameter { uint KX; } p;
      layout(binding = 0) readonly buffer A { A_TYPE data_a[]; };
      layout(binding = 1) writeonly buffer D { D_TYPE data_d[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i >= p.KX) { return; }
        const FLOAT_TYPE v = FLOAT_TYPE(ld(data_a, i));
        data_d[i] = D_TYPE(ACT(v));
      }
)yaml";
constexpr char kTypedSteps[] =
    "dispatch:\n  - {kernel: unary, bind: [x, output], push: [{u32: batch_size * dim}], "
    "groups: \"ceil_div(batch_size * dim, BLOCK)\"}\n";

TEST_F(Manifest, GivesKernelsTheMacrosOfTheirBuild) {
  const std::string constants = "constants: {BLOCK: 64}\n";
  const std::string types = "A_TYPE: float, D_TYPE: float, FLOAT_TYPE: float, ";
  passes(constants + "defines: {" + types +
         "\"ld(b,i)\": \"b[i]\", \"ACT(x)\": \"max(x, 0.0f)\"}\n" + kTyped + kTypedSteps);
  // Four elements at a time: the shader is the same.
  passes(constants +
         "defines: {A_TYPE: vec4, D_TYPE: vec4, FLOAT_TYPE: vec4, \"ld(b, i)\": \"b[i]\", "
         "\"ACT(x)\": \"max(x, vec4(0.0))\"}\n" +
         kTyped +
         "dispatch:\n  - {kernel: unary, bind: [x, output], push: [{u32: batch_size * dim / 4}], "
         "groups: \"ceil_div(batch_size * dim / 4, BLOCK)\"}\n");
  const Result broken = fails(constants + "defines: {" + types +
                                  "\"ld(b,i)\": \"b[j]\", \"ACT(x)\": x}\n" + kTyped + kTypedSteps,
                              Verdict::compile_error, "'j' : undeclared identifier");
  ASSERT_FALSE(broken.diagnostics.empty());
  const Diagnostic& note = broken.diagnostics.back();
  EXPECT_EQ(note.severity, "note");
  EXPECT_THAT(note.message, HasSubstr("in that line is a macro: "));
  fails(constants + kTyped + kTypedSteps, Verdict::compile_error, "");
}

TEST_F(Manifest, GivesThemToFilesThatChooseTheirPrecision) {
  passes(R"yaml(defines:
  sfp: float
  afp: float
  "buffer_ld1(buf,i)": "buf[i]"
  "buffer_st1(buf,i,v)": "{buf[i]=v;}"
  "psc(x)": "(x==0?p.x:x)"
kernels:
  relu:
    specialization: {0: 0.0, 1: 0}
    source: |
      #version 450
      layout (constant_id = 0) const float slope = 0;
      layout (constant_id = 1) const int w = 0;
      layout (local_size_x = 32) in;
      layout (binding = 0) buffer bottom_top_blob { sfp bottom_top_blob_data[]; };
      layout (push_constant) uniform parameter { int w; } p;
      #undef psc
      #define psc(x) (x==0?p.x:x)
      void main() {
        int gx = int(gl_GlobalInvocationID.x);
        if (gx >= psc(w)) return;
        afp v = buffer_ld1(bottom_top_blob_data, gx);
        if (slope == 0) { v = max(v, afp(0.f)); } else { v = v < afp(0.f) ? v * afp(slope) : v; }
        buffer_st1(bottom_top_blob_data, gx, v);
      }
dispatch:
  - {op: cast, in: x, out: output, attributes: {dtype: f32}}
  - {kernel: relu, bind: [output], push: [{i32: batch_size * dim}], groups: "ceil_div(batch_size * dim, 32)"}
)yaml");
}

TEST_F(Manifest, GivesThemToHlsl) {
  passes(R"yaml(defines: {TYPE: float, "LOAD(b, i)": "b[i]", N: KB_batch_size * KB_dim}
kernels:
  relu:
    language: hlsl
    source: |
      [[vk::binding(0)]] StructuredBuffer<TYPE> x;
      [[vk::binding(1)]] RWStructuredBuffer<TYPE> y;
      [numthreads(64, 1, 1)]
      void main(uint3 id : SV_DispatchThreadID) {
        if (id.x < N) y[id.x] = max(LOAD(x, id.x), 0);
      }
dispatch: [{kernel: relu, bind: [x, output], groups: "ceil_div(batch_size * dim, 64)"}]
)yaml");
}

TEST_F(Manifest, CastCopiesForKernelsThatWorkInPlace) {
  const std::string in_place = "  - {kernel: k, bind: [output], push: [{u32: 400}], groups: 7}\n";
  passes(std::string(kInPlace) +
         "dispatch:\n  - {op: cast, in: x, out: output, attributes: {dtype: f32}}\n" + in_place);
  // The input itself stays what it was.
  fails(std::string(kInPlace) + "dispatch:\n" + in_place +
            "  - {kernel: k, bind: [x], push: [{u32: 400}], groups: 7}\n",
        Verdict::input_modified, "x");
}

constexpr char kHalves[] = R"yaml(kernels:
  k:
    source: |
      #version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) buffer Y { float y[]; };
      layout(push_constant) uniform Push { uint n; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < n) y[i] = max(x[i], 0.0);
      }
)yaml";

TEST_F(Manifest, KnowsTheDevice) {
  passes(R"yaml(constants:
  LANES: subgroup_size
  BLOCK: min(min(max_compute_work_group_invocations, max_compute_work_group_size[0]), 64)
kernels:
  k:
    source: |
      #version 450
      #extension GL_KHR_shader_subgroup_basic : require
      layout(local_size_x = BLOCK) in;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < 400) y[i] = gl_SubgroupSize == LANES ? max(x[i], 0.0) : 77.0;
      }
dispatch:
  - {kernel: k, bind: [x, output], groups: "ceil_div(400, BLOCK)"}
)yaml");
}

TEST_F(Manifest, RepeatsSteps) {
  const auto rows = [](const std::string& repeat, const std::string& first) {
    return R"yaml(kernels:
  k:
    source: |
      #version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) buffer Y { float y[]; };
      layout(push_constant) uniform Push { uint first; };
      void main() {
        const uint i = first + gl_GlobalInvocationID.x;
        if (gl_GlobalInvocationID.x < 50) y[i] = max(x[i], 0.0);
      }
temps: {t: {dtype: f32, shape: [400]}}
dispatch:
  - repeat: )yaml" +
           repeat + R"yaml(
    steps:
      - {op: relu, in: x, out: {name: t, shape: [batch_size, dim]}}
      - {kernel: k, bind: [t, output], groups: 1, push: [{u32: )yaml" +
           first + "}]}\n";
  };
  passes(rows("{b: batch_size * dim / 50}", "50 * b"));
  passes(rows("{i: 2, j: 4}", "200 * i + 50 * j"));
  fails(rows("{b: 7}", "50 * b"), Verdict::partly_written, "");
  fails(rows("{b: 9}", "50 * b"), Verdict::out_of_bounds, "outside output");
}

constexpr char kFromData[] = R"yaml(data:
  meta: [{u32: batch_size * dim}, {f32: "0.5"}, {i32: [-3, 7]}]
kernels:
  k:
    source: |
      #version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) buffer M { uint n; float half_; int a; int b; };
      layout(binding = 2) buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        SPOIL
        if (i < n) y[i] = max(x[i], 0.0) * (half_ + half_) + float(a + b - 4);
      }
dispatch:
  - {kernel: k, bind: [x, meta, output], groups: "ceil_div(batch_size * dim, 64)"}
)yaml";

TEST_F(Manifest, BindsDataThatMayOnlyBeRead) {
  const Result right = run(manifest(std::string("defines: {SPOIL: \"\"}\n") + kFromData));
  EXPECT_EQ(name_of(right.verdict), "passed") << right.message;
  EXPECT_THAT(right.diagnostics, ::testing::IsEmpty());
  fails(std::string("defines: {SPOIL: \"if (i == 0) b = 7 + int(x[0] * 1e6);\"}\n") + kFromData,
        Verdict::input_modified, "data meta was written to; a candidate may only read it");
}

TEST_F(Manifest, WarnsOfSpecializationThatNothingUses) {
  const Result result = run(manifest(R"yaml(kernels:
  k:
    specialization: {0: 64, 3: 2, 9: 1}
    source: |
      #version 450
      layout(local_size_x_id = 0) in;
      layout(constant_id = 3) const uint DEPTH = 1;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < 400) y[i] = max(x[i], 0.0);
      }
dispatch:
  - {kernel: k, bind: [x, output], groups: 7}
)yaml"));
  EXPECT_EQ(name_of(result.verdict), "passed") << result.message;
  std::string said;
  for (const Diagnostic& each : result.diagnostics) {
    EXPECT_EQ(each.severity, "warning");
    EXPECT_EQ(each.line, 5);
    said += each.message + "\n";
  }
  EXPECT_THAT(said, HasSubstr("specialization constant 3 (DEPTH) is used by nothing"));
  EXPECT_THAT(said, HasSubstr("specialization constant 9 is not in the kernel"));
}

TEST_F(Manifest, ChecksAllElseBeforeMemory) {
  asked_.overrides = {{"batch_size", int64_t{3} << 16}, {"dim", int64_t{1} << 16}};  // 154 GB
  const auto check_of = [&](const std::string& yaml) {
    return evaluate(about(file_of(yaml), /*check=*/true), where_);
  };
  const std::string right =
      manifest(std::string(kHalves) +
               "dispatch:\n  - {kernel: k, bind: [x, output], push: [{u32: 64}], groups: 1}\n");
  EXPECT_EQ(name_of(check_of(right).verdict), "does_not_fit");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string yaml = right;
    return yaml.replace(yaml.find(from), from.size(), to);
  };
  EXPECT_EQ(name_of(check_of(with("{u32: 64}", "{f32: 64}")).verdict), "invalid_candidate");
  EXPECT_EQ(name_of(check_of(with("max(x[i], 0.0)", "missing")).verdict), "compile_error");
  EXPECT_EQ(name_of(check_of(with("groups: 1", "groups: [1, 1, dim]")).verdict), "unsupported");
}

TEST_F(Manifest, TakesTheLanguageThatAFileIsSaidToBe) {
  const std::string hlsl =
      "#pragma kernel CSMain\n"
      "StructuredBuffer<float> x : register(t0);\n"
      "RWStructuredBuffer<float> y : register(u1);\n"
      "[numthreads(64, 1, 1)] void CSMain(uint3 id : SV_DispatchThreadID) {\n"
      "  if (id.x < 400) y[id.x] = max(x[id.x], 0);\n}\n";
  const auto of = [](const std::string& kernel) {
    return "kernels: {k: " + kernel + "}\ndispatch: [{kernel: k, bind: [x, output], groups: 7}]\n";
  };
  for (const char* name : {"relu.compute", "relu.cginc", "relu.fx"}) {
    folder_.write(name, hlsl);
    passes(of("{file: " + std::string(name) + ", entry: CSMain}"));
  }
  folder_.write("relu.shader", hlsl);
  passes(of("{file: relu.shader, language: hlsl, entry: CSMain}"));
  fails(of("{file: relu.shader, entry: CSMain}"), Verdict::invalid_candidate,
        "or say its 'language'");
}

}  // namespace
}  // namespace kbench::testing
