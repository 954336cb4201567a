#include "harness/measure/runner/kernel_rules.h"

#include <set>
#include <string>

#include "harness/measure/runner/resolved.h"
#include "harness/measure/vulkan/features.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::runner {
namespace {

class KernelRulesTest : public vulkan::DeviceTest {
 protected:
  std::optional<Refusal> module_refusal(const std::string& body, bool addresses = false) {
    const vulkan::Spirv spirv = compile(body);
    return check_module(vulkan::inspect_spirv(spirv), device().snapshot(), device().plan(),
                        addresses);
  }
};

const char* const kPlain =
    "layout(local_size_x = 64) in;\n"
    "layout(binding = 0) buffer B { float x[]; };\n"
    "void main() { x[gl_GlobalInvocationID.x] = 1.0; }\n";

/// Every name that expressions may use has a value.
TEST_F(KernelRulesTest, EveryNumberOfADeviceIsKnown) {
  const DeviceNumbers numbers = device_numbers(device().snapshot());
  std::set<std::string> names, expected;
  for (const auto& [name, number] : numbers) {
    names.insert(name);
    EXPECT_GE(number, name == "cooperative_matrix_nv" ? 0 : 1) << name;  // 0: it has none
  }
  expected.insert(device_number_names().begin(), device_number_names().end());
  EXPECT_EQ(names, expected);
  EXPECT_LE(numbers.at("min_subgroup_size"), numbers.at("subgroup_size"));
  EXPECT_LE(numbers.at("subgroup_size"), numbers.at("max_subgroup_size"));
}

TEST_F(KernelRulesTest, TakesAPlainKernel) { EXPECT_FALSE(module_refusal(kPlain).has_value()); }

TEST_F(KernelRulesTest, RefusesClocks) {
  const auto refusal = module_refusal(
      "#extension GL_ARB_shader_clock : require\n"
      "layout(local_size_x = 64) in;\n"
      "layout(binding = 0) buffer B { uvec2 x[]; };\n"
      "void main() { x[0] = clock2x32ARB(); }\n");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::invalid_candidate);
  EXPECT_NE(refusal->message.find("clock"), std::string::npos);
}

TEST_F(KernelRulesTest, TakesAddressesOnlyWhereAStepPushesOne) {
  const char* const kernel =
      "layout(local_size_x = 64) in;\n"
      "layout(buffer_reference, std430, buffer_reference_align = 4) buffer F { float v; };\n"
      "layout(push_constant) uniform P { uint64_t at; uint n; };\n"
      "void main() { F(at).v = float(n); }\n";
  ASSERT_TRUE(module_refusal(kernel, false));
  EXPECT_EQ(module_refusal(kernel, false)->verdict, Verdict::invalid_candidate);
  EXPECT_FALSE(module_refusal(kernel, true).has_value());
}

TEST_F(KernelRulesTest, RefusesImagesAndTakesTypedBuffers) {
  const auto refusal = module_refusal(
      "layout(local_size_x = 64) in;\n"
      "layout(binding = 0, r32f) uniform image2D i;\n"
      "void main() { imageStore(i, ivec2(0), vec4(1)); }\n");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::invalid_candidate);
  EXPECT_NE(refusal->message.find("image"), std::string::npos) << refusal->message;
  EXPECT_FALSE(
      module_refusal("layout(local_size_x = 64) in;\n"
                     "layout(binding = 0, r32f) uniform imageBuffer i;\n"
                     "layout(binding = 1) uniform samplerBuffer s;\n"
                     "void main() { imageStore(i, imageSize(i) - 1, texelFetch(s, 0)); }\n"));
}

TEST_F(KernelRulesTest, SaysWhoRefusesACapability) {
  const auto refusal = module_refusal(
      "#extension GL_EXT_shader_atomic_float2 : require\n"
      "layout(local_size_x = 64) in;\n"
      "layout(binding = 0) buffer B { float x[]; };\n"
      "void main() { atomicMax(x[0], 1.0); }\n");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::unsupported);
  EXPECT_NE(refusal->message.find("SPIR-V capability AtomicFloat32MinMaxEXT, which candidates "
                                  "cannot use: a rule of kbench's"),
            std::string::npos)
      << refusal->message;
  vulkan::SpirvFacts facts;
  facts.capabilities = {9};  // Float16
  vulkan::DevicePlan plan = device().plan();
  plan.float16 = false;
  const auto device_refusal = check_module(facts, device().snapshot(), plan, false);
  ASSERT_TRUE(device_refusal);
  EXPECT_NE(device_refusal->message.find("needs 16-bit floats, which this device"),
            std::string::npos)
      << device_refusal->message;
}

TEST_F(KernelRulesTest, TakesFloatAtomicsWhereTheDeviceHasThem) {
  const vulkan::SpirvFacts facts =
      vulkan::inspect_spirv(compile("#extension GL_EXT_shader_atomic_float : require\n"
                                    "layout(local_size_x = 64) in;\n"
                                    "layout(binding = 0) buffer B { float x[]; };\n"
                                    "void main() { atomicAdd(x[0], 1.0); }\n"));
  vulkan::DevicePlan plan = device().plan();
  plan.float_atomics = vulkan::float_atomic(false, false, true);
  const auto taken = check_module(facts, device().snapshot(), plan, false);
  EXPECT_FALSE(taken) << taken->message;
  for (const uint32_t without : {0u, vulkan::float_atomic(true, false, true)}) {
    plan.float_atomics = without;
    const auto refusal = check_module(facts, device().snapshot(), plan, false);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->verdict, Verdict::unsupported);
    EXPECT_EQ(refusal->message,
              "needs atomic adds to 32-bit floats in buffers (shaderBufferFloat32AtomicAdd), "
              "which this device (" +
                  device().snapshot().name + ") does not offer");
  }
}

TEST_F(KernelRulesTest, SaysWhatAModuleThatCannotBeReadDeclares) {
  vulkan::SpirvFacts declared;
  declared.capabilities = {1, 5430};
  auto refusal = check_declared(declared, device().snapshot(), device().plan());
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->message.find("SPIR-V capability CooperativeMatrixReductionsNV"),
            std::string::npos)
      << refusal->message;
  declared = {};
  declared.extensions = {"SPV_NV_cooperative_matrix2"};
  refusal = check_declared(declared, device().snapshot(), device().plan());
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->message.find("SPIR-V extension SPV_NV_cooperative_matrix2"),
            std::string::npos);
  EXPECT_FALSE(check_declared({}, device().snapshot(), device().plan()));
}

TEST_F(KernelRulesTest, RefusesAnArrayOfBuffersAtOneBinding) {
  const auto refusal = module_refusal(
      "layout(local_size_x = 64) in;\n"
      "layout(binding = 0) buffer B { float x[]; } all[2];\n"
      "void main() { all[1].x[0] = 1.0; }\n");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::invalid_candidate);
  EXPECT_NE(refusal->message.find("binding 0 as an array"), std::string::npos) << refusal->message;
}

TEST_F(KernelRulesTest, RefusesAddressesThatNoStepPushed) {
  const auto refusal = module_refusal(
      "layout(local_size_x = 64) in;\n"
      "layout(buffer_reference, std430, buffer_reference_align = 4) buffer F { float v; };\n"
      "layout(push_constant) uniform P { uint64_t at; };\n"
      "layout(binding = 0) buffer B { uint64_t x[]; };\n"
      "void main() { F(x[0]).v = F(at).v; }\n",
      true);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::invalid_candidate);
  EXPECT_NE(refusal->message.find("push {address: NAME}"), std::string::npos) << refusal->message;
}

TEST_F(KernelRulesTest, ClocksAreSeenWhateverTheModuleDeclares) {
  vulkan::SpirvFacts facts;
  facts.reads_clock = true;
  const auto refusal = check_module(facts, device().snapshot(), device().plan(), false);
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->message.find("clock"), std::string::npos);
}

TEST_F(KernelRulesTest, ExtensionsAndInstructionSetsAreAnAllowList) {
  vulkan::SpirvFacts facts;
  facts.extensions = {"SPV_KHR_16bit_storage", "SPV_KHR_physical_storage_buffer"};
  facts.instruction_sets = {"GLSL.std.450"};
  EXPECT_FALSE(check_module(facts, device().snapshot(), device().plan(), false));
  facts.extensions.push_back("SPV_EXT_something_new");
  auto refusal = check_module(facts, device().snapshot(), device().plan(), false);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::unsupported);
  EXPECT_NE(refusal->message.find("extension SPV_EXT_something_new"), std::string::npos);
  facts.extensions.clear();
  facts.instruction_sets.push_back("OpenCL.std");
  refusal = check_module(facts, device().snapshot(), device().plan(), false);
  ASSERT_TRUE(refusal);
  EXPECT_NE(refusal->message.find("instruction set OpenCL.std"), std::string::npos);
}

TEST_F(KernelRulesTest, TakesNarrowTypesAndSubgroupsOfTheDevice) {
  const auto taken = [&](bool offered, const std::string& body) {
    const auto refusal = module_refusal(body);
    EXPECT_EQ(!refusal, offered) << (refusal ? refusal->message : body);
  };
  const vulkan::DevicePlan& plan = device().plan();
  taken(plan.storage_16bit && plan.float16,
        "#extension GL_EXT_shader_16bit_storage : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
        "layout(local_size_x = 64) in;\n"
        "layout(binding = 0) buffer B { float16_t x[]; };\n"
        "void main() { x[0] = x[1] * x[2]; }\n");
  taken(plan.storage_8bit && plan.int8,
        "#extension GL_EXT_shader_8bit_storage : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n"
        "layout(local_size_x = 64) in;\n"
        "layout(binding = 0) buffer B { uint8_t x[]; };\n"
        "void main() { x[0] = x[1] + x[2]; }\n");
  taken(device().snapshot().subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
        "#extension GL_KHR_shader_subgroup_arithmetic : require\n"
        "layout(local_size_x = 64) in;\n"
        "layout(binding = 0) buffer B { float x[]; };\n"
        "void main() { x[0] = subgroupAdd(x[gl_LocalInvocationIndex]); }\n");
}

TEST_F(KernelRulesTest, RefusesModulesOverTheDevicesLimits) {
  const std::string many = std::to_string(device().snapshot().max_invocations);
  const auto size = module_refusal("layout(local_size_x = " + many +
                                   ", local_size_y = 2) in;\n"
                                   "layout(binding = 0) buffer B { float x[]; };\n"
                                   "void main() { x[gl_GlobalInvocationID.x] = 1.0; }\n");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->verdict, Verdict::unsupported);

  const std::string words = std::to_string(device().snapshot().max_shared_memory / 4 + 1);
  const auto shared = module_refusal(
      "layout(local_size_x = 64) in;\n"
      "layout(binding = 0) buffer B { float x[]; };\n"
      "shared float s[" +
      words +
      "];\n"
      "void main() { s[gl_LocalInvocationIndex] = x[0]; barrier(); x[1] = s[0]; }\n");
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->verdict, Verdict::unsupported);
  EXPECT_NE(shared->message.find("shared memory"), std::string::npos);
}

}  // namespace
}  // namespace kbench::runner
