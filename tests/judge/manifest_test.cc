// Kernels as others wrote them, run as their manifests say: macros, parts of buffers, copies, fills
// and numbers of the device. The shaders are of our own, in the idioms of inference engines.
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
  void passes(const std::string& rest) {
    const Result result = run(manifest(rest));
    EXPECT_EQ(name_of(result.verdict), "passed") << result.message << "\n" << rest;
  }
  Result fails(const std::string& rest, Verdict verdict, const std::string& message) {
    Result result = run(manifest(rest));
    EXPECT_EQ(name_of(result.verdict), name_of(verdict)) << result.message << "\n" << rest;
    EXPECT_THAT(result.message, HasSubstr(message)) << rest;
    return result;
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
  EXPECT_EQ(note.line, 4);
  EXPECT_THAT(note.message, HasSubstr("ld(b,i) is defined here, as b[j]"));
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
  - {copy: x, to: output}
  - {kernel: relu, bind: [output], push: [{i32: batch_size * dim}], groups: "ceil_div(batch_size * dim, 32)"}
)yaml");
}

TEST_F(Manifest, PutsAPreambleBehindTheVersion) {
  const auto with = [](const std::string& preamble) {
    return "kernels:\n  relu:\n    preamble: |\n" + preamble + R"yaml(
    source: |
      // A licence.
      #version 450
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < 400) y[i] = activation(x[i]);
      }
dispatch: [{kernel: relu, bind: [x, output], groups: 7}]
)yaml";
  };
  const std::string good =
      "      layout(local_size_x = 64) in;\n      float activation(float v) { return max(v, 0.0); "
      "}\n";
  passes(with(good));
  const Result own = fails(with("      layout(local_size_x = 64) in;\n"), Verdict::compile_error,
                           "'activation' : no matching overloaded function found");
  EXPECT_THAT(own.message, HasSubstr("candidate.yaml:15:"));
  const Result broken = fails(with(good + "      float f() { return missing; }\n"),
                              Verdict::compile_error, "'missing' : undeclared identifier");
  EXPECT_THAT(broken.message, HasSubstr("candidate.yaml (preamble):8:"));
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

TEST_F(Manifest, CopiesForKernelsThatWorkInPlace) {
  const std::string copy = "dispatch:\n  - {copy: x, to: output}\n";
  passes(kInPlace + copy + "  - {kernel: k, bind: [output], push: [{u32: 400}], groups: 7}\n");
  // The input itself stays what it was.
  fails(std::string(kInPlace) + "dispatch:\n  - {fill: output, value: 1}\n" +
            "  - {kernel: k, bind: [x], push: [{u32: 400}], groups: 7}\n",
        Verdict::input_modified, "x");
  fails(std::string(kInPlace) + "dispatch:\n  - {copy: output, to: x}\n",
        Verdict::invalid_candidate, "");
  // What no step has written is seen as without copies.
  fails(std::string(kInPlace) +
            "dispatch:\n  - {copy: {name: x, length: 100}, to: {name: output, offset: 300}}\n"
            "  - {kernel: k, bind: [{name: output, offset: 300}], push: [{u32: 100}], groups: 2}\n",
        Verdict::partly_written, "300");
  fails(copy, Verdict::wrong_values, "");
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

TEST_F(Manifest, BindsPartsOfBuffers) {
  const auto parts = [](const std::string& first, const std::string& second) {
    return std::string(kHalves) +
           "dispatch:\n  - {kernel: k, bind: [{name: x, length: 192}, {name: "
           "output, length: 192}], push: [{u32: 192}], groups: 3}\n"
           "  - {kernel: k, bind: [{name: x, offset: " +
           first + "}, {name: output, offset: " + first + "}], push: [{u32: " + second +
           "}], groups: 4}\n";
  };
  passes(parts("192", "208"));
  // Behind the end of the last part is the end of the tensor, where a store is seen.
  fails(parts("192", "209"), Verdict::out_of_bounds, "outside output");
  fails(parts("192", "207"), Verdict::partly_written, "");
  fails(parts("191", "209"), Verdict::unsupported,
        "bound from byte 764 on, and the device binds at multiples of");
}

TEST_F(Manifest, PushesAddressesOfPartsOfBuffers) {
  passes(R"yaml(kernels:
  k:
    source: |
      #version 450
      #extension GL_EXT_buffer_reference : require
      #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
      layout(local_size_x = 64) in;
      layout(buffer_reference, std430) buffer Floats { float at; };
      layout(push_constant) uniform Push { uint64_t x; uint64_t y; uint n; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i < n) Floats(y + 4ul * i).at = max(Floats(x + 4ul * i).at, 0.0);
      }
dispatch:
  - {kernel: k, push: [{address: x}, {address: output}, {u32: 101}], groups: 2}
  - {kernel: k, push: [{address: x, offset: 101}, {address: output, offset: 101}, {u32: 299}], groups: 5}
)yaml");
}

TEST_F(Manifest, FillsByTheType) {
  // 5000000000 of 64 bits are two different words, in a buffer of an odd number of them.
  passes(R"yaml(temps:
  wide: {dtype: i64, shape: [401]}
  low: {dtype: f32, shape: [400]}
  half: {dtype: f16, shape: [3]}
kernels:
  k:
    source: |
      #version 450
      #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer X { float x[]; };
      layout(binding = 1) readonly buffer W { int64_t wide[]; };
      layout(binding = 2) readonly buffer L { float low[]; };
      layout(binding = 3) readonly buffer H { uint halves[]; };
      layout(binding = 4) buffer Y { float y[]; };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        if (i >= 400) return;
        const bool right = wide[i] == (i == 7 ? -1l : 5000000000l) && wide[400] == 5000000000l &&
                           isinf(low[i]) && low[i] < 0.0 && halves[0] == 0x38003800u &&
                           (halves[1] & 0xffffu) == 0x3800u;
        y[i] = right ? max(max(x[i], low[i]), 0.0) : 77.0;
      }
dispatch:
  - {fill: wide, value: 5000000000}
  - {fill: {name: wide, offset: 7, length: 1}, value: -1}
  - {fill: low, value: -inf}
  - {fill: half, value: 0.5}
  - {kernel: k, bind: [x, wide, low, half, output], groups: 7}
)yaml");
}

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
  // 16 elements are 64 bytes, which devices bind at.
  passes(std::string(kHalves) +
         "dispatch:\n  - {kernel: k, repeat: {b: batch_size * dim / 16}, "
         "bind: [{name: x, offset: 16 * b, length: 16}, {name: output, offset: 16 * b, length: "
         "16}], push: [{u32: 16}], groups: 1}\n");
  passes(std::string(kHalves) +
         "temps: {t: {dtype: f32, shape: [400]}, s: {dtype: f32, shape: [400]}}\n"
         "dispatch:\n  - repeat: {i: 2, j: 2}\n    steps:\n"
         "      - {copy: {name: x, offset: 200 * i + 100 * j, length: 100}, to: t}\n"
         "      - {op: relu, in: t, out: s}\n"
         "      - {copy: {name: s, length: 100}, to: {name: output, offset: 200 * i + 100 * j}}\n"
         "  - {kernel: k, bind: [x, t], push: [{u32: 400}], groups: 7}\n");
  fails(std::string(kHalves) +
            "dispatch:\n  - {kernel: k, repeat: {b: 24}, bind: [{name: x, offset: 16 * b}, "
            "{name: output, offset: 16 * b, length: 16}], push: [{u32: 16}], groups: 1}\n",
        Verdict::partly_written, "");
  fails(std::string(kHalves) +
            "dispatch:\n  - {kernel: k, repeat: {b: 4}, bind: [{name: x, offset: 99 * b}, "
            "{name: output, offset: 99 * b}], push: [{u32: 99}], groups: 2}\n",
        Verdict::unsupported, "bound from byte 396 on");
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
  options_.overrides = {{"batch_size", int64_t{3} << 16}, {"dim", int64_t{1} << 16}};  // 154 GB
  const auto check_of = [&](const std::string& yaml) { return check(file_of(yaml), options_); };
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

TEST_F(Manifest, PutsAddressesIntoUniformBlocks) {
  const auto of = [](const std::string& members, const std::string& body,
                     const std::string& uniforms) {
    return R"yaml(kernels:
  k:
    source: |
      #version 450
      #extension GL_EXT_buffer_reference : require
      #extension GL_EXT_buffer_reference_uvec2 : require
      #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
      layout(local_size_x = 64) in;
      layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at[]; };
      layout(binding = 0) uniform Params { )yaml" +
           members + R"yaml( };
      void main() {
        const uint i = gl_GlobalInvocationID.x;
        )yaml" +
           body + R"yaml(
      }
dispatch:
  - {kernel: k, uniforms: {Params: )yaml" +
           uniforms + "}, groups: 4, repeat: {b: 2}}\n";
  };
  passes(of("uint n; uint64_t x; uvec2 y;",
            "if (i < n) Floats(y).at[i] = max(Floats(x).at[i], 0.0);",
            "{n: 200, x: {address: x, offset: 200 * b}, y: {address: output, offset: 200 * b}}"));
  passes(of("Floats x; Floats y; uint n;", "if (i < n) y.at[i] = max(x.at[i], 0.0);",
            "[{address: x, offset: 200 * b}, {address: output, offset: 200 * b}, 200]"));
  fails(of("uint n; float x; uvec2 y;", "if (i < n) Floats(y).at[i] = x;",
           "{n: 200, x: {address: x}, y: {address: output}}"),
        Verdict::invalid_candidate, "an address is a uint64_t, a uvec2 or a buffer_reference");
  fails(
      of("uint n; uint64_t x; uvec2 y;", "if (i < n) Floats(y).at[i] = max(Floats(x).at[i], 0.0);",
         "{n: 200, x: {address: x, offset: 400}, y: {address: output}}"),
      Verdict::invalid_candidate, "outside of 'x'");
}

}  // namespace
}  // namespace kbench::testing
