#include "harness/measure/vulkan/spirv_interface.h"

#include <gmock/gmock.h>

#include <bit>

#include "harness/measure/vulkan/texels.h"
#include "tests/vulkan/assemble.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::vulkan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SpirvInterfaceTest : public DeviceTest {
 protected:
  CompileOutcome outcome_of(const std::string& text,
                            ShaderSource::Language language = ShaderSource::Language::glsl) {
    ShaderSource source;
    source.language = language;
    source.text = text;
    source.file = "test";
    CompileOutcome outcome = device().compiler().compile(source);
    for (const Diagnostic& each : outcome.diagnostics) ADD_FAILURE() << each.message;
    return outcome;
  }
  /// Of what runs, with the names of what was written.
  ShaderInterface interface_of(const std::string& text,
                               ShaderSource::Language language = ShaderSource::Language::glsl) {
    const CompileOutcome outcome = outcome_of(text, language);
    ShaderInterface interface = reflect_spirv(outcome.spirv);
    adopt_names(interface, outcome.named);
    return interface;
  }
};

std::vector<std::string> as_text(const std::vector<Leaf>& leaves) {
  std::vector<std::string> texts;
  for (const Leaf& leaf : leaves) {
    texts.push_back(name_of(leaf.type) + " " + leaf.name + " @" + std::to_string(leaf.offset));
  }
  return texts;
}

TEST_F(SpirvInterfaceTest, AUniformBlockOfGlslIsLaidOutByStd140) {
  const ShaderInterface interface = interface_of(
      "#version 450\n"
      "layout(local_size_x = 64) in;\n"
      "struct Pair { int a; vec2 b; };\n"
      "layout(binding = 3, std140) uniform Params { uint n; vec3 v; float w[2]; mat2 m; Pair p; "
      "};\n"
      "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
      "void main() { y[n] = v.x + w[1] + m[1][0] + p.b.y + float(p.a); }\n");
  ASSERT_EQ(interface.resources.size(), 2u);
  const bool first = interface.resources[0].kind == Resource::Kind::uniform_buffer;
  const Resource& uniform = interface.resources[first ? 0 : 1];
  const Resource& buffer = interface.resources[first ? 1 : 0];
  EXPECT_EQ(uniform.kind, Resource::Kind::uniform_buffer);
  EXPECT_EQ(uniform.block, "Params");
  EXPECT_EQ(uniform.binding, 3u);
  EXPECT_THAT(
      as_text(uniform.leaves),
      ElementsAre("uint n @0", "float v.x @16", "float v.y @20", "float v.z @24", "float w[0] @32",
                  "float w[1] @48", "float m[0].x @64", "float m[0].y @68", "float m[1].x @80",
                  "float m[1].y @84", "int p.a @96", "float p.b.x @104", "float p.b.y @108"));
  EXPECT_EQ(buffer.block, "Y");
  EXPECT_TRUE(buffer.writable);
  EXPECT_EQ(buffer.element_bytes, 4u);
  EXPECT_FALSE(buffer.asks_length);
}

TEST_F(SpirvInterfaceTest, ACbufferIsLaidOutByDirect3DsRule) {
  const ShaderInterface interface = interface_of(
      "cbuffer Params : register(b2) { float3 v; uint n; float2 a; float2 b; float w[2]; float2x3 "
      "m; "
      "};\n"
      "StructuredBuffer<float> x : register(t0);\n"
      "RWStructuredBuffer<float> y : register(u0);\n"
      "[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {\n"
      "  y[id.x] = x[n] + v.z + a.x + b.y + w[1] + m[1][2];\n"
      "}\n",
      ShaderSource::Language::hlsl);
  ASSERT_EQ(interface.resources.size(), 3u);
  for (const Resource& each : interface.resources) {
    if (each.kind == Resource::Kind::storage_buffer) {
      EXPECT_EQ(each.binding, 0u);
      EXPECT_EQ(each.writable, each.name == "y") << each.name;
      continue;
    }
    EXPECT_EQ(each.binding, 2u);
    // Two float2 share a row, an array starts one, and a matrix has a row for each of its own.
    EXPECT_THAT(
        as_text(each.leaves),
        ElementsAre("float v.x @0", "float v.y @4", "float v.z @8", "uint n @12", "float a.x @16",
                    "float a.y @20", "float b.x @24", "float b.y @28", "float w[0] @32",
                    "float w[1] @48", "float m[0].x @64", "float m[0].y @80", "float m[0].z @96",
                    "float m[1].x @68", "float m[1].y @84", "float m[1].z @100"));
  }
}

TEST_F(SpirvInterfaceTest, TypedBuffersSayTheirFormat) {
  const ShaderInterface interface = interface_of(
      "Buffer<float> a : register(t0);\nBuffer<float4> b : register(t1);\n"
      "RWBuffer<uint> c : register(u2);\n"
      "[numthreads(64, 1, 1)] void main(uint3 id : SV_DispatchThreadID) {\n"
      "  uint n; a.GetDimensions(n); c[id.x] = uint(a[id.x] + b[id.x].w) + n;\n}\n",
      ShaderSource::Language::hlsl);
  ASSERT_EQ(interface.resources.size(), 3u);
  std::map<uint32_t, const Resource*> by_binding;
  for (const Resource& each : interface.resources) by_binding[each.binding] = &each;
  EXPECT_EQ(texel_format(*by_binding.at(0), 4), VK_FORMAT_R32_SFLOAT);
  EXPECT_TRUE(by_binding.at(0)->asks_length);
  EXPECT_EQ(texel_format(*by_binding.at(1), 4), VK_FORMAT_R32G32B32A32_SFLOAT);
  EXPECT_FALSE(by_binding.at(1)->writable);
  EXPECT_EQ(texel_format(*by_binding.at(2), 4), VK_FORMAT_R32_UINT);
  EXPECT_TRUE(by_binding.at(2)->writable);
  EXPECT_FALSE(interface.stray_length);
}

TEST_F(SpirvInterfaceTest, GivesTheLowestFreeBindingsInOrder) {
  const ShaderInterface interface = interface_of(
      "#version 450\nlayout(local_size_x = 64) in;\n"
      "readonly buffer A { float a[]; };\n"
      "layout(binding = 1) readonly buffer B { float b[]; };\n"
      "writeonly buffer C { float c[]; };\n"
      "void main() { c[0] = a[0] + b[0]; }\n");
  std::map<std::string, uint32_t> binding;
  for (const Resource& each : interface.resources) binding[each.block] = each.binding;
  EXPECT_EQ(binding["A"], 0u);
  EXPECT_EQ(binding["B"], 1u);
  EXPECT_EQ(binding["C"], 2u);
}

TEST_F(SpirvInterfaceTest, LengthsCanBeAnsweredWithoutAsking) {
  // What is bound is longer than what the module is told.
  const CompileOutcome outcome = outcome_of(
      "#version 450\nlayout(local_size_x = 1) in;\n"
      "layout(binding = 5) buffer A { uint head; uint a[]; };\n"
      "layout(binding = 2, r32f) uniform imageBuffer t;\n"
      "void main() { a[0] = uint(a.length()); a[1] = uint(imageSize(t)); }\n");
  ShaderInterface interface = reflect_spirv(outcome.spirv);
  ASSERT_EQ(interface.resources.size(), 2u);
  const Spirv rebound = rebind_spirv(outcome.spirv, interface);
  const size_t a = interface.resources[0].kind == Resource::Kind::storage_buffer ? 0 : 1;
  std::vector<uint64_t> bytes(2, 64);
  bytes[a] = 40;
  const Spirv told = with_lengths(rebound, interface, bytes, {4, 4});
  EXPECT_EQ(validate_spirv(told), "");
  const auto run = [&](const Spirv& spirv) {
    const Buffer buffer = upload(std::vector<uint32_t>(32, 0));
    const Buffer texels = upload(std::vector<uint32_t>(24, 0));
    Bindings bindings(2);
    bindings[1 - a] = {VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, VK_FORMAT_R32_SFLOAT};
    std::vector<Region> regions(2);
    regions[a] = whole(buffer);
    regions[1 - a] = whole(texels);
    PipelineKey key;
    key.spirv = spirv;
    key.bindings = bindings;
    Commands commands(device());
    commands.begin();
    commands.dispatch(device().pipelines().get(key), regions, {}, {1, 1, 1});
    commands.submit_and_wait(30);
    const auto values = download<uint32_t>(buffer);
    return std::pair(values[1], values[2]);
  };
  EXPECT_EQ(run(rebound), (std::pair(31u, 24u)));
  EXPECT_EQ(run(told), (std::pair(9u, 16u)));
}

class TypedSpecialization : public ::testing::Test {
 protected:
  const Spirv module_ = Assembly{
      .decorations =
          "OpName %scale \"SCALE\"\nOpDecorate %scale SpecId 0\nOpDecorate %count SpecId 1\n"
          "OpDecorate %flag SpecId 2\nOpDecorate %shift SpecId 9\n",
      .declarations =
          "%bool = OpTypeBool\n%scale = OpSpecConstant %float 1\n"
          "%count = OpSpecConstant %uint 1\n%flag = OpSpecConstantTrue %bool\n"
          "%shift = OpSpecConstant %int 1\n"};
  static GivenConstant whole(uint32_t id, int64_t value) {
    return {id, std::to_string(value), static_cast<double>(value), true, value};
  }
  std::string refusal(const GivenConstant& given) {
    std::vector<UnusedConstant> unused;
    return error_of([&] { typed_specialization(module_, {given}, {}, unused); }).what();
  }
};

TEST_F(TypedSpecialization, TakesTheTypeOfTheConstant) {
  std::vector<UnusedConstant> unused;
  const Specialization values = typed_specialization(
      module_, {whole(0, 1), whole(1, 4294967295), whole(2, 0), whole(9, -3)}, {}, unused);
  EXPECT_TRUE(unused.empty());
  EXPECT_THAT(values,
              ElementsAre(std::pair(0u, std::bit_cast<uint32_t>(1.0f)), std::pair(1u, 0xffffffffu),
                          std::pair(2u, 0u), std::pair(9u, 0xfffffffdu)));
}

TEST_F(TypedSpecialization, SaysWhatDoesNotFit) {
  EXPECT_THAT(refusal({1, "0.5", 0.5, false, 0}),
              HasSubstr("gives specialization constant 1, of type uint, the real number '0.5'"));
  EXPECT_THAT(refusal(whole(1, -1)), HasSubstr("of type uint, -1, which it cannot hold"));
  EXPECT_THAT(refusal(whole(2, 2)), HasSubstr("'2', which is neither 0 nor 1"));
  EXPECT_THAT(refusal({0, "1e300", 1e300, false, 0}),
              HasSubstr("constant 0 (SCALE), of type float, '1e300', which it cannot hold"));
}

TEST_F(TypedSpecialization, LeavesOutWhatTheModuleDoesNotUse) {
  std::vector<UnusedConstant> unused;
  ShaderInterface source;
  source.constants = {{8, {}, "DEPTH"}};
  const Specialization values =
      typed_specialization(module_, {whole(7, 1), whole(1, 2), whole(8, 1)}, source, unused);
  EXPECT_THAT(values, ElementsAre(std::pair(1u, 2u)));
  ASSERT_EQ(unused.size(), 2u);
  EXPECT_EQ(unused[0].id, 7u);
  EXPECT_EQ(unused[0].why,
            "specialization constant 7 is not in the kernel, or nothing uses it (it has 0: float "
            "SCALE, 1: uint, 2: bool, 9: int)");
  EXPECT_THAT(unused[1].why,
              HasSubstr("specialization constant 8 (DEPTH) is used by nothing in the kernel"));
}

}  // namespace
}  // namespace kbench::vulkan
