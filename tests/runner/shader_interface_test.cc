// The places of a step's buffers, uniform blocks and push constants in its shader.
#include "harness/measure/runner/shader_interface.h"

#include <gmock/gmock.h>

#include "harness/measure/trial/slab_layout.h"
#include "kbench/task.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::runner {
namespace {

using ::testing::HasSubstr;
using vulkan::Resource;

class ShaderInterfaceTest : public vulkan::DeviceTest {
 protected:
  /// A candidate for ReLU of this one kernel. `step`: more keys of the step.
  std::optional<Refused> connect(const std::string& language, const std::string& step,
                                 const std::string& body) {
    std::string text = "kbench: 1\ntask: level1/19\nkernels:\n  k:\n    language: " + language +
                       "\n    source: |\n";
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) text += "      " + line + "\n";
    text += "dispatch:\n  - {kernel: k, groups: 1, " + step + "}\n";
    candidate_ = parse_candidate(text, "test.yaml", ".");
    graph_ = build_graph(find_task({1, 19}), Preset::smoke);
    resolved_ = resolve(candidate_, *graph_);

    vulkan::ShaderSource source;
    source.language = language == "hlsl" ? vulkan::ShaderSource::Language::hlsl
                                         : vulkan::ShaderSource::Language::glsl;
    source.text = body;
    source.file = "test";
    const vulkan::CompileOutcome outcome = device().compiler().compile(source);
    for (const Diagnostic& each : outcome.diagnostics) ADD_FAILURE() << each.message;
    interface_ = vulkan::reflect_spirv(outcome.spirv);
    adopt_names(interface_, outcome.named);
    launch_ = {};
    uniforms_ = {};
    return runner::connect(interface_, resolved_, resolved_.dispatch[0], device().snapshot(),
                           uniforms_, launch_);
  }
  /// The index in `bind` of the buffer for the resource of that name.
  int bound(const std::string& name) {
    for (size_t i = 0; i < interface_.resources.size(); ++i) {
      const Resource& each = interface_.resources[i];
      if (each.block == name || each.name == name) return launch_.slots[i].bind;
    }
    return -2;
  }
  template <class T>
  T uniform(uint64_t offset) {
    T value{};
    std::memcpy(&value, uniforms_.bytes().data() + offset, sizeof value);
    return value;
  }
  static void expect_refused(const std::optional<Refused>& refusal, const std::string& message) {
    ASSERT_TRUE(refusal) << message;
    EXPECT_EQ(refusal->verdict, Verdict::invalid_candidate);
    EXPECT_THAT(refusal->message, HasSubstr(message));
  }

  Candidate candidate_;
  std::unique_ptr<Graph> graph_;
  ResolvedCandidate resolved_;
  vulkan::ShaderInterface interface_;
  UniformPool uniforms_;
  ShaderLaunch launch_;
};

const std::string kGlsl = "#version 450\nlayout(local_size_x = 64) in;\n";
const std::string kBuffers =
    "layout(binding = 0) readonly buffer X { float x[]; };\n"
    "layout(binding = 1) writeonly buffer Y { float y[]; };\n";

TEST_F(ShaderInterfaceTest, BuffersSkipBindingsOfUniformBlocks) {
  const std::string body = kGlsl +
                           "layout(binding = 0) readonly buffer X { float x[]; };\n"
                           "layout(binding = 1) uniform Size { uint n; };\n"
                           "layout(binding = 2) writeonly buffer Y { float y[]; };\n"
                           "void main() { y[n] = x[0]; }\n";
  EXPECT_FALSE(connect("glsl", "bind: [x, output], uniforms: {1: {n: dim}}", body));
  EXPECT_EQ(bound("X"), 0);
  EXPECT_EQ(bound("Y"), 1);
  EXPECT_EQ(bound("Size"), -1);
  EXPECT_FALSE(connect("glsl", "bind: [x, output], uniforms: {Size: [dim]}", body));
  EXPECT_EQ(bound("Y"), 1);
  expect_refused(connect("glsl", "bind: [x, x, output]", body),
                 "declares a uniform block (Size) at binding 1, and this step gives it no values: "
                 "uniforms: {1: {n: ...}}");
  expect_refused(connect("glsl", "bind: [output], uniforms: {1: [1]}", body),
                 "declares binding 2 (Y), but this step binds 1 buffers");
}

TEST_F(ShaderInterfaceTest, AnInputIsRefusedWhereTheShaderOnlyWrites) {
  const std::string body = kGlsl + kBuffers + "void main() { y[0] = x[0]; }\n";
  EXPECT_FALSE(connect("glsl", "bind: [x, output]", body));
  expect_refused(connect("glsl", "bind: [output, x]", body),
                 "declares the buffer at binding 1 (Y) as writeonly, and is given x there, which "
                 "can only be read");
}

TEST_F(ShaderInterfaceTest, BuffersOutsideOfSet0AreRefused) {
  const std::string body = kGlsl +
                           "layout(set = 2, binding = 0) readonly buffer X { float x[]; };\n"
                           "layout(set = 0, binding = 1) writeonly buffer Y { float y[]; };\n"
                           "void main() { y[0] = x[0]; }\n";
  expect_refused(connect("glsl", "bind: [x, output]", body),
                 "declares a buffer outside of descriptor set 0, 2.0 (X)");
}

TEST_F(ShaderInterfaceTest, RegistersOfTwoClassesNeedTwoBindings) {
  const std::string body =
      "cbuffer Size : register(b0) { uint n; };\n"
      "StructuredBuffer<float> x : register(t0);\nRWStructuredBuffer<float> y : register(u0);\n"
      "[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) { y[id.x] = x[n]; }\n";
  expect_refused(connect("hlsl", "bind: [x, output], uniforms: {b0: [dim]}", body),
                 "has t0 (x) and u0 (y), which are both binding 0: number t and u together");
  // Registers with different numbers, or chosen by the compiler.
  const std::string apart =
      "cbuffer Size : register(b0) { uint n; };\n"
      "StructuredBuffer<float> x : register(t0);\nRWStructuredBuffer<float> y : register(u1);\n"
      "[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) { y[id.x] = x[n]; }\n";
  EXPECT_FALSE(connect("hlsl", "bind: [x, output], uniforms: {b0: [dim]}", apart));
  EXPECT_EQ(bound("x"), 0);
  EXPECT_EQ(bound("y"), 1);
  expect_refused(connect("hlsl", "bind: [x, output]", apart), "uniforms: {b0: {n: ...}}");
  EXPECT_FALSE(connect("hlsl", "bind: [x, output]",
                       "StructuredBuffer<float> x : register(t0);\n"
                       "RWStructuredBuffer<float> y : register(u1);\n"
                       "[numthreads(64, 1, 1)] void main() { y[0] = x[1]; }\n"));
  EXPECT_FALSE(connect("hlsl", "bind: [x, output]",
                       "StructuredBuffer<float> x;\nRWStructuredBuffer<float> y;\n"
                       "[numthreads(64, 1, 1)] void main() { y[0] = x[1]; }\n"));
  EXPECT_EQ(bound("x"), 0);
  EXPECT_EQ(bound("y"), 1);
}

TEST_F(ShaderInterfaceTest, UniformBlocksAreFilledByTheShadersTypes) {
  const std::string body =
      kGlsl + kBuffers +
      "layout(binding = 2) uniform Params { int n; vec3 v; bool on; uint w[2]; };\n"
      "void main() { y[n] = x[w[1]] + v.x + (on ? 1.0 : 0.0); }\n";
  EXPECT_FALSE(connect("glsl",
                       "bind: [x, output], uniforms: {2: {v: [1, 1 / 2, \"2.5\"], n: -3, on: 1, w: "
                       "[4, dim]}}",
                       body));
  EXPECT_EQ(uniform<int32_t>(0), -3);
  EXPECT_EQ(uniform<float>(16), 1.0f);
  EXPECT_EQ(uniform<float>(20), 0.5f);
  EXPECT_EQ(uniform<float>(24), 2.5f);
  EXPECT_EQ(uniform<uint32_t>(28), 1u);
  EXPECT_EQ(uniform<uint32_t>(32), 4u);
  const auto refused = [&](const std::string& values, const std::string& message) {
    expect_refused(connect("glsl", "bind: [x, output], uniforms: {2: " + values + "}", body),
                   message);
  };
  refused("{n: 1, v: [1, 2, 3], on: 0}",
          "the uniform block Params, whose member 'w[0]' (uint at byte 32) is given no value");
  refused("{n: 1, v: [1, 2], on: 0, w: [1, 2]}", "whose member 'v' takes 3 numbers and is given 2");
  refused("{m: 1}", "without a member 'm' (it has n, v, on, w)");
  refused("[\"0.5\", 1, 2, 3, 0, 1, 2]",
          "gives member 'n' of the uniform block Params, of type int, the real number '0.5'");
  refused("[1, 1, 2, 3, 0, 1, -2]", "of type uint, -2, which it cannot hold");
  refused("[1, 1, 2, 3, 0, 1, 2, 3]", "of 7 numbers, and is given more");
}

TEST_F(ShaderInterfaceTest, EqualUniformBlocksAreOne) {
  EXPECT_EQ(uniforms_.add(std::vector(64, std::byte{1})), 0u);
  EXPECT_EQ(uniforms_.add(std::vector(64, std::byte{2})), UniformPool::kAlignment);
  EXPECT_EQ(uniforms_.add(std::vector(64, std::byte{1})), 0u);
  EXPECT_FALSE(uniforms_.add(std::vector(UniformPool::kMostBytes, std::byte{})));
}

TEST_F(ShaderInterfaceTest, PushConstantsGoToTheirMembers) {
  const std::string body =
      kGlsl + kBuffers +
      "layout(push_constant) uniform P { float low; layout(offset = 16) vec2 pair; uint n; };\n"
      "void main() { y[n] = x[0] + low + pair.y; }\n";
  EXPECT_FALSE(
      connect("glsl", "bind: [x, output], push: [{f32: 1}, {f32: 2}, {f32: 3}, {u32: 4}]", body));
  ASSERT_EQ(launch_.push.size(), 28u);
  float pair = 0;
  std::memcpy(&pair, launch_.push.data() + 20, sizeof pair);
  EXPECT_EQ(pair, 3.0f);
  const auto refused = [&](const std::string& push, const std::string& message) {
    expect_refused(connect("glsl", "bind: [x, output], push: [" + push + "]", body), message);
  };
  refused("{f32: 1}, {f32: 2}, {u32: 3}, {u32: 4}",
          "has a push block whose member 'pair.y' (float at byte 20) is pushed as u32");
  refused("{f32: 1}, {f32: 2}, {f32: 3}",
          "declares a push block of 28 bytes, but this step pushes 12: member 'n' (uint at byte "
          "24) is given no value");
  refused("{f32: 1}, {f32: 2}, {f32: 3}, {u32: 4}, {u32: 5}",
          "is pushed 5 values, and its push block ends with member 'n' (uint at byte 24)");
}

TEST_F(ShaderInterfaceTest, ALengthIsThatOfTheTensor) {
  for (const auto& [element, bytes] : {std::pair{"uint", 8u}, std::pair{"uint8_t", 7u}}) {
    const std::string body = kGlsl + "#extension GL_EXT_shader_8bit_storage : require\n" +
                             kBuffers + "layout(binding = 2) readonly buffer T { " + element +
                             " t[]; };\n" + "void main() { if (0 < t.length()) y[0] = x[0]; }\n";
    EXPECT_FALSE(
        connect("glsl", "bind: [x, output, t]}\ntemps: {t: {dtype: bool, shape: [7]}", body));
    for (size_t i = 0; i < interface_.resources.size(); ++i) {
      if (interface_.resources[i].block != "T") continue;
      const vulkan::Region tensor = {nullptr, 256, 7};
      EXPECT_EQ(launch_.lengths()[i], bytes) << element;
      EXPECT_EQ(bound_region(tensor, interface_.resources[i], launch_.slots[i], launch_.bindings[i],
                             device().snapshot(), true)
                    .size,
                bytes)
          << element;
    }
  }
}

TEST_F(ShaderInterfaceTest, RedzonesAreBoundWithAndWithoutLengths) {
  EXPECT_FALSE(connect("glsl", "bind: [x, output]",
                       kGlsl + kBuffers + "void main() { if (0 < y.length()) y[0] = x[0]; }\n"));
  const auto bytes = static_cast<uint64_t>(resolved_.buffers[0].type.bytes());
  const vulkan::Region tensor = {nullptr, 256, bytes};
  for (size_t i = 0; i < launch_.slots.size(); ++i) {
    const auto range = [&](bool exact) {
      return bound_region(tensor, interface_.resources[i], launch_.slots[i], launch_.bindings[i],
                          device().snapshot(), exact)
          .size;
    };
    EXPECT_EQ(launch_.slots[i].bytes, bytes);
    EXPECT_EQ(range(true), bytes);
    EXPECT_EQ(range(false), bytes + trial::kRedzoneBytes);
  }
}

}  // namespace
}  // namespace kbench::runner
