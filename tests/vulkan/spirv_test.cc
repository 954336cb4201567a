#include <gmock/gmock.h>

#include <glslang/SPIRV/spirv.hpp>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/compiler.h"
#include "kbench/error.h"
#include "tests/vulkan/compiled.h"

namespace kbench::vulkan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST(InspectSpirv, WantsSpecializationConstantsFrozen) {
  const Spirv spirv = compiled("layout(local_size_x_id = 0) in;\nvoid main() {}\n");
  EXPECT_THROW(inspect_spirv(spirv), Error);
  EXPECT_NO_THROW(inspect_spirv(freeze_spirv(spirv, {}, "main")));
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

TEST(ValidateSpirv, TakesGoodModulesAndRejectsCorruptedOnes) {
  Spirv spirv = compiled(
      "layout(local_size_x = 8) in;\nlayout(binding = 0) buffer A { float a[]; };\n"
      "void main() { a[gl_GlobalInvocationID.x] *= 2.0; }\n");
  EXPECT_EQ(validate_spirv(spirv), "");
  EXPECT_NE(validate_spirv({}), "");
  Spirv bad_id = spirv;
  bad_id[3] = 2;  // the bound on ids
  EXPECT_NE(validate_spirv(bad_id), "");
  Spirv truncated(spirv.begin(), spirv.end() - 1);  // without OpFunctionEnd
  EXPECT_NE(validate_spirv(truncated), "");
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
  try {
    optimize_spirv({1, 2, 3, 4, 5});
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCompile);
    EXPECT_THAT(error.what(), HasSubstr("cannot optimize the module"));
  }
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
