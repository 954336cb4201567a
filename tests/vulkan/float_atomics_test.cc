// Atomics on floats: what a module uses of them, and what they give on a device that has them.
#include <gmock/gmock.h>

#include "harness/measure/vulkan/capabilities.h"
#include "harness/measure/vulkan/features.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::vulkan {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kBufferAdd = float_atomic(false, false, true);
constexpr uint32_t kSharedAdd = float_atomic(true, false, true);

class FloatAtomicsTest : public DeviceTest {
 protected:
  /// A module whose one invocation executes the statements, unoptimized.
  SpirvFacts facts(const std::string& statements) { return inspect_spirv(module(statements)); }
  Spirv module(const std::string& statements) {
    return compile(
        "#extension GL_EXT_shader_atomic_float : require\n"
        "#extension GL_KHR_memory_scope_semantics : require\n"
        "layout(local_size_x = 1) in;\n"
        "layout(binding = 0) buffer X { float x[]; };\n"
        "layout(binding = 1) buffer Y { double y[]; };\n"
        "layout(binding = 2) buffer I { int i[]; };\n"
        "layout(binding = 3, r32f) uniform imageBuffer t;\n"
        "layout(buffer_reference, std430) buffer F { float at[]; };\n"
        "layout(push_constant) uniform P { F f; };\n"
        "shared float s[4];\n"
        "shared double d[4];\n"
        "void main() { " +
        statements + " }\n");
  }
  /// What the device lacks of it.
  std::string missing(const std::string& statements, uint32_t offered) {
    DevicePlan plan;
    plan.float_atomics = offered;
    const auto found = missing_float_atomic(facts(statements), plan);
    if (!found) return "";
    EXPECT_TRUE(found->by_device) << found->name;
    return found->name;
  }
};

TEST_F(FloatAtomicsTest, AreToldApartByMemoryWidthAndKind) {
  EXPECT_EQ(facts("i[0] = atomicAdd(i[1], 2); x[0] = s[1] + float(d[1]);").float_atomics, 0u);
  EXPECT_EQ(facts("atomicAdd(x[0], 1.0);").float_atomics, kBufferAdd);
  EXPECT_EQ(facts("atomicAdd(f.at[0], 1.0);").float_atomics, kBufferAdd);
  EXPECT_EQ(facts("atomicAdd(s[0], x[1]);").float_atomics, kSharedAdd);
  EXPECT_EQ(facts("atomicAdd(y[0], 1.0lf);").float_atomics, float_atomic(false, true, true));
  EXPECT_EQ(facts("atomicAdd(d[0], 1.0lf);").float_atomics, float_atomic(true, true, true));
  EXPECT_EQ(facts("x[1] = atomicExchange(x[0], 1.0);").float_atomics,
            float_atomic(false, false, false));
  EXPECT_EQ(facts("d[1] = atomicExchange(d[0], 1.0lf);").float_atomics,
            float_atomic(true, true, false));
  const char* const kLoad =
      "x[1] = atomicLoad(s[0], gl_ScopeDevice, gl_StorageSemanticsShared, gl_SemanticsRelaxed);";
  EXPECT_EQ(facts(kLoad).float_atomics, float_atomic(true, false, false));
  const char* const kStore =
      "atomicStore(x[0], 2.0, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelaxed);";
  EXPECT_EQ(facts(kStore).float_atomics, float_atomic(false, false, false));
  EXPECT_EQ(facts("atomicAdd(x[0], 1.0); atomicAdd(s[0], 1.0);").float_atomics,
            kBufferAdd | kSharedAdd);
}

TEST_F(FloatAtomicsTest, OfSixteenBitsHaveFeaturesOfTheirOwn) {
  const auto halves = [this](const std::string& statement) {
    return inspect_spirv(
        compile("#extension GL_EXT_shader_atomic_float2 : require\n"
                "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
                "layout(local_size_x = 1) in;\n"
                "layout(binding = 0) buffer X { float16_t x[]; };\n"
                "shared float16_t s[4];\n"
                "void main() { " +
                statement + " }\n"));
  };
  const SpirvFacts add = halves("atomicAdd(x[0], 1.0hf);");
  EXPECT_EQ(add.float_atomics, float16_atomic(false, true));
  EXPECT_FALSE(add.other_float_atomics);
  EXPECT_EQ(halves("atomicAdd(s[0], 1.0hf);").float_atomics, float16_atomic(true, true));
  EXPECT_EQ(halves("x[0] = atomicExchange(x[1], 1.0hf);").float_atomics,
            float16_atomic(false, false));
  DevicePlan plan;
  plan.float_atomics = 0xff;
  const auto missing = missing_float_atomic(add, plan);
  ASSERT_TRUE(missing);
  EXPECT_TRUE(missing->by_device);
  EXPECT_EQ(missing->name,
            "atomic adds to 16-bit floats in buffers (shaderBufferFloat16AtomicAdd)");
  plan.float_atomics |= kFloat16Atomics;
  EXPECT_FALSE(missing_float_atomic(add, plan));
}

TEST_F(FloatAtomicsTest, OfTypedBuffersAreRefusedByARuleOfKbenchs) {
  const SpirvFacts found = facts("x[0] = imageAtomicExchange(t, 0, 1.0);");
  EXPECT_EQ(found.float_atomics, 0u);
  DevicePlan plan;
  plan.float_atomics = 0xff;
  const auto missing = missing_float_atomic(found, plan);
  ASSERT_TRUE(missing);
  EXPECT_FALSE(missing->by_device);
  EXPECT_THAT(missing->name, HasSubstr("typed buffers"));
}

TEST_F(FloatAtomicsTest, ThatADeviceLacksAreNamedByTheFeature) {
  EXPECT_EQ(missing("atomicAdd(x[0], 1.0);", kBufferAdd), "");
  EXPECT_EQ(missing("atomicAdd(x[0], 1.0);", kSharedAdd),
            "atomic adds to 32-bit floats in buffers (shaderBufferFloat32AtomicAdd)");
  EXPECT_EQ(missing("atomicAdd(s[0], 1.0);", kBufferAdd),
            "atomic adds to 32-bit floats in shared memory (shaderSharedFloat32AtomicAdd)");
  EXPECT_EQ(missing("x[1] = atomicExchange(x[0], 1.0);", kBufferAdd),
            "atomic access to 32-bit floats in buffers (shaderBufferFloat32Atomics)");
  EXPECT_EQ(missing("atomicAdd(d[0], 1.0lf);", kSharedAdd),
            "atomic adds to 64-bit floats in shared memory (shaderSharedFloat64AtomicAdd)");
}

/// Every bit of a set stands for the feature whose name says what the bit is made of.
TEST_F(FloatAtomicsTest, BitsAndFeaturesAreInOneOrder) {
  for (const bool shared : {false, true}) {
    for (const bool wide : {false, true}) {
      for (const bool adds : {false, true}) {
        const std::string feature = std::string("shader") + (shared ? "Shared" : "Buffer") +
                                    "Float" + (wide ? "64" : "32") +
                                    (adds ? "AtomicAdd" : "Atomics");
        const uint32_t bit = float_atomic(shared, wide, adds);
        for (size_t i = 0; i < kFloatAtomics.size(); ++i) {
          EXPECT_EQ(bit == 1u << i, feature == kFloatAtomics[i].feature) << feature;
        }
      }
    }
    for (const bool adds : {false, true}) {
      const std::string feature = std::string("shader") + (shared ? "Shared" : "Buffer") +
                                  "Float16" + (adds ? "AtomicAdd" : "Atomics");
      for (size_t i = 0; i < kFloatAtomics.size(); ++i) {
        EXPECT_EQ(float16_atomic(shared, adds) == 1u << i, feature == kFloatAtomics[i].feature);
      }
    }
  }
}

TEST_F(FloatAtomicsTest, AddUpInBuffersAndSharedMemory) {
  constexpr uint32_t kBoth = kBufferAdd | kSharedAdd | float_atomic(false, false, false);
  if ((device().plan().float_atomics & kBoth) != kBoth) {
    GTEST_SKIP() << "a device without atomic adds to floats";
  }
  const Spirv spirv = compile(
      "#extension GL_EXT_shader_atomic_float : require\n"
      "layout(local_size_x = 64) in;\n"
      "layout(binding = 0) buffer X { float x[]; };\n"
      "shared float sum;\n"
      "void main() {\n"
      "  if (gl_LocalInvocationIndex == 0) sum = 0;\n"
      "  barrier();\n"
      "  atomicAdd(x[0], 0.5);\n"
      "  atomicAdd(sum, 2.0);\n"
      "  barrier();\n"
      "  if (gl_LocalInvocationIndex == 0) { atomicAdd(x[1], sum); atomicExchange(x[2], 7.0); }\n"
      "}\n");
  const Pipeline& pipeline = device().pipelines().get({.spirv = spirv, .bindings = 1});
  const Buffer out = upload(std::vector<float>{1, 3, 5});
  Commands commands(device());
  commands.begin();
  commands.dispatch(pipeline, std::vector{whole(out)}, {}, {10, 1, 1});
  commands.submit_and_wait(30);
  EXPECT_THAT(download<float>(out), ::testing::ElementsAre(1 + 320, 3 + 1280, 7));
}

}  // namespace
}  // namespace kbench::vulkan
