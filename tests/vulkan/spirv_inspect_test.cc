// Modules written to look harmless: what inspection makes of each.

#include <gmock/gmock.h>

#include <glslang/SPIRV/spirv.hpp>
#include <limits>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "kbench/error.h"
#include "tests/error_of.h"
#include "tests/vulkan/assemble.h"
#include "tests/vulkan/compiled.h"

namespace kbench::vulkan {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kEndless = std::numeric_limits<uint64_t>::max();

std::string inspect_refusal(const Spirv& spirv) {
  const Error error = error_of([&] { inspect_spirv(spirv); });
  EXPECT_EQ(error.code(), ErrorCode::kCompile);
  return error.what();
}

SpirvFacts of_glsl(const std::string& text, bool optimize) {
  return inspect_spirv(compiled(
      "#extension GL_EXT_buffer_reference : require\n"
      "#extension GL_EXT_buffer_reference_uvec2 : require\n"
      "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
      "layout(local_size_x = 1) in;\n"
      "layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at[]; "
      "};\n" +
          text,
      optimize));
}

Assembly shared_array(const std::string& types, const std::string& type) {
  return {.declarations = types + "%pointer = OpTypePointer Workgroup " + type +
                          "\n%tile = OpVariable %pointer Workgroup\n"};
}

TEST(InspectSpirv, BytesOfSharedArraysDoNotWrap) {
  // 2^62 times 4 bytes: 2^64, once thought to be 0.
  EXPECT_EQ(inspect_spirv(shared_array("%many = OpConstant %uint 2147483648\n"
                                       "%a = OpTypeArray %float %many\n"
                                       "%b = OpTypeArray %a %many\n",
                                       "%b"))
                .shared_bytes,
            kEndless);
  Assembly wide = shared_array(
      "%long = OpTypeInt 64 0\n"
      "%many = OpConstant %long 4611686018427387904\n"
      "%a = OpTypeArray %float %many\n",
      "%a");
  wide.capabilities = "OpCapability Int64\n";
  EXPECT_EQ(inspect_spirv(wide).shared_bytes, kEndless);
  const std::string half =
      "%long = OpTypeInt 64 0\n"
      "%many = OpConstant %long 2305843009213693952\n"
      "%a = OpTypeArray %float %many\n";
  wide =
      shared_array(half + "%pair = OpTypeStruct %a %a\n", "%pair");  // members that add up to 2^64
  wide.capabilities = "OpCapability Int64\n";
  EXPECT_EQ(inspect_spirv(wide).shared_bytes, kEndless);
  wide = shared_array(half, "%a");
  wide.declarations += "%other = OpVariable %pointer Workgroup\n";  // and so do two variables
  wide.capabilities = "OpCapability Int64\n";
  EXPECT_EQ(inspect_spirv(wide).shared_bytes, kEndless);
}

Assembly buffer(const std::string& type, const std::string& types) {
  return {.decorations =
              "OpDecorate %B Block\nOpMemberDecorate %B 0 Offset 0\n"
              "OpDecorate %words ArrayStride 4\n"
              "OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 1\n",
          .declarations = "%words = OpTypeRuntimeArray %uint\n%B = OpTypeStruct %words\n" + types +
                          "%pointer = OpTypePointer StorageBuffer " + type +
                          "\n%b = OpVariable %pointer StorageBuffer\n"};
}

TEST(InspectSpirv, SeesABindingThatIsAnArrayOfBuffers) {
  EXPECT_EQ(inspect_spirv(buffer("%B", "")).binding_array, std::nullopt);
  const std::string two = "%two = OpConstant %uint 2\n%array = OpTypeArray %B %two\n";
  EXPECT_EQ(inspect_spirv(buffer("%array", two)).binding_array, 1u);
  EXPECT_EQ(inspect_spirv(buffer("%array", "%array = OpTypeRuntimeArray %B\n")).binding_array, 1u);
}

TEST(InspectSpirv, TakesTheWorkgroupSizeOfItsEntryPointAlone) {
  const std::string other =
      "%other = OpFunction %void None %function\n%other_start = OpLabel\nOpReturn\nOpFunctionEnd\n";
  EXPECT_THAT(inspect_refusal(Assembly{.modes = "OpExecutionMode %other LocalSize 64 1 1\n",
                                       .functions = other}),
              HasSubstr("workgroup size"));
  const SpirvFacts facts =
      inspect_spirv(Assembly{.modes = "OpExecutionMode %main LocalSize 512 1 1\n"
                                      "OpExecutionMode %other LocalSize 1 1 1\n",
                             .functions = other});
  EXPECT_THAT(facts.local_size, ElementsAre(512, 1, 1));
  EXPECT_THAT(inspect_refusal(Assembly{.modes = "OpExecutionMode %main LocalSize 1 1 1\n"
                                                "OpExecutionMode %main LocalSize 512 1 1\n"}),
              HasSubstr("exactly once"));
  EXPECT_THAT(inspect_refusal(Assembly{.modes = "OpExecutionMode %main LocalSize 0 1 1\n"}),
              HasSubstr("without invocations"));
}

TEST(InspectSpirv, TheWorkgroupSizeConstantIsOneAndPlain) {
  const std::string declarations =
      "%v3 = OpTypeVector %uint 3\n%a = OpConstantComposite %v3 %uint_1 %uint_1 %uint_1\n"
      "%n = OpConstant %uint 99\n%b = OpConstantComposite %v3 %n %n %uint_1\n"
      "%sum = OpSpecConstantOp %uint IAdd %n %n\n"
      "%c = OpSpecConstantComposite %v3 %sum %n %uint_1\n";
  EXPECT_THAT(inspect_spirv(Assembly{.decorations = "OpDecorate %b BuiltIn WorkgroupSize\n",
                                     .declarations = declarations})
                  .local_size,
              ElementsAre(99, 99, 1));
  EXPECT_THAT(inspect_refusal(Assembly{.decorations = "OpDecorate %a BuiltIn WorkgroupSize\n"
                                                      "OpDecorate %b BuiltIn WorkgroupSize\n",
                                       .declarations = declarations}),
              HasSubstr("twice"));
  EXPECT_THAT(inspect_refusal(Assembly{.decorations = "OpDecorate %c BuiltIn WorkgroupSize\n",
                                       .declarations = declarations}),
              HasSubstr("no plain constant"));
}

TEST(InspectSpirv, WantsOneEntryPointThatIsAComputeShader) {
  EXPECT_THAT(inspect_refusal(Assembly{.entry_points = "", .modes = ""}),
              HasSubstr("no compute shader"));
  EXPECT_THAT(inspect_refusal(
                  Assembly{.entry_points = "OpEntryPoint Vertex %main \"main\"\n", .modes = ""}),
              HasSubstr("not a compute shader"));
  EXPECT_THAT(inspect_refusal(Assembly{.entry_points = "OpEntryPoint GLCompute %main \"main\"\n"
                                                       "OpEntryPoint GLCompute %main \"again\"\n"}),
              HasSubstr("2 entry points"));
}

TEST(InspectSpirv, SizesOfTypesThatShareMuchAreFoundAtOnce) {
  std::string types = "%s0 = OpTypeStruct %float %float\n";
  for (int i = 1; i <= 200; ++i) {  // 2^201 floats, in as many steps as a naive walk would take
    const std::string before = "%s" + std::to_string(i - 1);
    types += "%s" + std::to_string(i) + " = OpTypeStruct " + before + " " + before + "\n";
  }
  EXPECT_EQ(inspect_spirv(shared_array(types, "%s200")).shared_bytes, kEndless);
}

TEST(InspectSpirv, NestsTypesAsDeepAsSpirvAllowsAndNoDeeper) {
  const auto nested = [](int depth) {
    std::string types = "%s0 = OpTypeStruct %float\n";
    for (int i = 1; i < depth; ++i) {
      types += "%s" + std::to_string(i) + " = OpTypeStruct %s" + std::to_string(i - 1) + "\n";
    }
    return shared_array(types, "%s" + std::to_string(depth - 1));
  };
  EXPECT_EQ(inspect_spirv(nested(200)).shared_bytes, 4u);
  EXPECT_THAT(inspect_refusal(nested(100000)), HasSubstr("nested too deeply"));
  EXPECT_NE(validate_spirv(nested(100000)), "");
}

TEST(InspectSpirv, RefusesATypeThatContainsItself) {
  EXPECT_THAT(inspect_refusal(shared_array("%s = OpTypeStruct %float %s\n", "%s")),
              HasSubstr("before it is defined"));
  EXPECT_THAT(inspect_refusal(shared_array("%s = OpTypeStruct %t\n%t = OpTypeStruct %s\n", "%s")),
              HasSubstr("before it is defined"));
  EXPECT_THAT(inspect_refusal(shared_array("OpTypeForwardPointer %t PhysicalStorageBuffer\n"
                                           "%s = OpTypeStruct %t\n%t = OpTypeStruct %s\n",
                                           "%s")),
              HasSubstr("forward pointer is not a pointer"));
}

TEST(InspectSpirv, RefusesDecorationsWithTwoMeanings) {
  Assembly twice = buffer("%B", "");
  twice.decorations += "OpDecorate %b Binding 7\n";
  EXPECT_THAT(inspect_refusal(twice), HasSubstr("decoration is given twice"));
  Assembly grouped = buffer("%B", "");
  grouped.decorations += "OpDecorate %g DescriptorSet 3\n%g = OpDecorationGroup\n";
  EXPECT_THAT(inspect_refusal(grouped), HasSubstr("decoration groups"));
}

TEST(InspectSpirv, RefusesIdsOutsideOfTheBoundAndDefinedTwice) {
  Spirv spirv = Assembly{};
  const uint32_t bound = spirv[3];
  spirv[3] = 2;
  EXPECT_THAT(inspect_refusal(spirv), HasSubstr("outside of the module's bound"));
  spirv[3] = 0xffffffff;
  EXPECT_THAT(inspect_refusal(spirv), HasSubstr("further than SPIR-V allows"));
  spirv[3] = bound;
  append_instruction(spirv, spv::OpTypeVoid, std::vector{1u});
  EXPECT_THAT(inspect_refusal(spirv), HasSubstr("defined twice"));
}

TEST(InspectSpirv, EveryCutOfAModuleIsReadOrRefused) {
  const Spirv whole = buffer("%B", "");
  for (size_t words = 0; words < whole.size(); ++words) {
    const Spirv cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(words));
    try {
      inspect_spirv(cut);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCompile);
    }
    EXPECT_NE(validate_spirv(cut), "") << words;
  }
}

TEST(InspectSpirv, AddressesMayComeFromPushConstantsByAnyPath) {
  for (const bool optimize : {true, false}) {
    EXPECT_FALSE(of_glsl("layout(push_constant) uniform P { uint64_t x; uint n; };\n"
                         "layout(binding = 0) buffer A { uint index[]; };\n"
                         "void main() { Floats(x + 4ul * index[n]).at[0] = 1.0; }\n",
                         optimize)
                     .foreign_addresses);
    EXPECT_FALSE(
        of_glsl("layout(push_constant) uniform P { Floats x; uvec2 y; };\n"
                "float first(Floats f) { return f.at[0]; }\n"
                "void main() { uvec2 z = y;\n"
                "  for (int i = 0; i < 4; ++i) { z.x += 4; Floats(z).at[0] = first(x); } }\n",
                optimize)
            .foreign_addresses);
  }
}

TEST(InspectSpirv, SeesAddressesOutOfThinAirAndOutOfBuffers) {
  EXPECT_TRUE(of_glsl("layout(push_constant) uniform P { uint64_t x; };\n"
                      "void main() { uint64_t at = 0x7fff00001000ul;\n"
                      "  Floats(at).at[0] = float(x); }\n",
                      true)
                  .foreign_addresses);
  for (const bool optimize : {true, false}) {
    EXPECT_TRUE(of_glsl("layout(binding = 0) buffer A { uint64_t stored[]; };\n"
                        "void main() { Floats(stored[0]).at[0] = 1.0; }\n",
                        optimize)
                    .foreign_addresses);
    EXPECT_TRUE(of_glsl("layout(binding = 0) buffer A { Floats stored[]; };\n"
                        "void main() { stored[1].at[0] = 1.0; }\n",
                        optimize)
                    .foreign_addresses);
  }
}

using ::testing::Contains;

TEST(InspectSpirv, ReadsBindingsAndLocalSize) {
  const SpirvFacts facts =
      inspect_spirv(compiled("layout(local_size_x = 32, local_size_y = 4) in;\n"
                             "layout(set = 0, binding = 0) buffer A { float a[]; };\n"
                             "layout(set = 0, binding = 3) buffer B { float b[]; };\n"
                             "layout(set = 1, binding = 7) buffer C { float c[]; };\n"
                             "void main() { b[gl_GlobalInvocationID.x] = a[0] + c[0]; }\n"));
  EXPECT_THAT(facts.bindings, ElementsAre(0, 3));
  EXPECT_THAT(facts.local_size, ElementsAre(32, 4, 1));
  EXPECT_EQ(facts.entry, "main");
  EXPECT_FALSE(facts.uses_float16);
  EXPECT_THAT(facts.capabilities, ElementsAre(spv::CapabilityShader));
}

TEST(InspectSpirv, SeesHalfPrecision) {
  const SpirvFacts facts = inspect_spirv(
      compiled("#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
               "layout(local_size_x = 1) in;\n"
               "layout(binding = 0) buffer A { float a[]; };\n"
               "void main() { a[0] = float(float16_t(a[1]) * float16_t(a[2])); }\n"));
  EXPECT_TRUE(facts.uses_float16);
}

TEST(InspectSpirv, NamesExtensionsAndCapabilities) {
  const SpirvFacts facts =
      inspect_spirv(compiled("#extension GL_EXT_shader_atomic_float : require\n"
                             "layout(local_size_x = 1) in;\n"
                             "layout(binding = 0) buffer A { float a[]; };\n"
                             "void main() { atomicAdd(a[0], 1.0); }\n"));
  EXPECT_THAT(facts.capabilities, Contains(spv::CapabilityAtomicFloat32AddEXT));
  EXPECT_THAT(facts.extensions, ElementsAre("SPV_EXT_shader_atomic_float_add"));
}

TEST(InspectSpirv, RefusesWhatIsNotSpirv) {
  EXPECT_THROW(inspect_spirv({}), Error);
  EXPECT_THROW(inspect_spirv({1, 2, 3, 4, 5, 6}), Error);
  Spirv cut = compiled("layout(local_size_x = 1) in;\nvoid main() {}\n");
  cut.resize(cut.size() - 1);
  cut.back() = 0xffff0000;
  EXPECT_THROW(inspect_spirv(cut), Error);
  cut.back() = 0;  // an instruction of no words
  EXPECT_THROW(inspect_spirv(cut), Error);
}

TEST(OptimizeSpirv, GivesWhatShadercsOptimizerGives) {
  const std::string text =
      "layout(local_size_x = 64) in;\n"
      "layout(set = 0, binding = 0) buffer A { float a[]; };\n"
      "float twice(float x) { return x + x; }\n"
      "void main() {\n"
      "  float sum = 0.0;\n"
      "  for (int i = 0; i < 4; ++i) sum += twice(a[gl_GlobalInvocationID.x + i]);\n"
      "  a[gl_GlobalInvocationID.x] = sum;\n"
      "}\n";
  const Spirv plain = compiled(text, false);
  const Spirv optimized = optimize_spirv(plain);
  EXPECT_LT(optimized.size(), plain.size());  // twice() is gone
  EXPECT_EQ(optimized, compiled(text, true));
}

TEST(OptimizeSpirv, RefusesWhatIsNotSpirv) {
  const Error error = error_of([] { optimize_spirv({1, 2, 3, 4, 5}); });
  EXPECT_EQ(error.code(), ErrorCode::kCompile);
  EXPECT_THAT(error.what(), HasSubstr("cannot optimize the module"));
}

TEST(MissingCapability, FollowsThePlan) {
  DevicePlan plan;
  DeviceSnapshot snapshot;
  EXPECT_EQ(missing_capability(spv::CapabilityShader, plan, snapshot), std::nullopt);
  const auto halves = missing_capability(spv::CapabilityFloat16, plan, snapshot);
  ASSERT_TRUE(halves);
  EXPECT_EQ(halves->name, "16-bit floats");
  EXPECT_TRUE(halves->by_device);
  plan.float16 = true;
  EXPECT_EQ(missing_capability(spv::CapabilityFloat16, plan, snapshot), std::nullopt);
  EXPECT_NE(missing_capability(spv::CapabilityGroupNonUniformClustered, plan, snapshot),
            std::nullopt);
  snapshot.subgroup_operations = VK_SUBGROUP_FEATURE_CLUSTERED_BIT;
  EXPECT_EQ(missing_capability(spv::CapabilityGroupNonUniformClustered, plan, snapshot),
            std::nullopt);
  const auto geometry = missing_capability(spv::CapabilityGeometry, plan, snapshot);
  ASSERT_TRUE(geometry);
  EXPECT_EQ(geometry->name, "SPIR-V capability Geometry");
  EXPECT_FALSE(geometry->by_device);
}

}  // namespace

}  // namespace kbench::vulkan
