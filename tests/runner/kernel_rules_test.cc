#include "harness/measure/runner/kernel_rules.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "harness/measure/runner/resolved.h"
#include "harness/measure/vulkan/features.h"
#include "tests/vulkan/device_fixture.h"

namespace kbench::runner {
namespace {

using ::testing::HasSubstr;

class KernelRulesTest : public vulkan::DeviceTest {
 protected:
  /// What is said of a shader of local size 64.
  std::optional<Refused> module_refusal(const std::string& body, bool addresses = false,
                                        const std::string& extensions = "") {
    const vulkan::Spirv spirv = compile(extensions + "layout(local_size_x = 64) in;\n" + body);
    return check_module(vulkan::inspect_spirv(spirv), device().snapshot(), device().plan(),
                        addresses);
  }
  std::optional<Refused> refusal_of(const vulkan::SpirvFacts& facts) {
    return check_module(facts, device().snapshot(), device().plan(), false);
  }
};

void expect_refused(const std::optional<Refused>& refusal, Verdict verdict,
                    const std::string& words) {
  ASSERT_TRUE(refusal) << words;
  EXPECT_EQ(refusal->verdict, verdict) << words;
  EXPECT_THAT(refusal->message, HasSubstr(words));
}

std::string require(const std::string& extension) {
  return "#extension " + extension + " : require\n";
}

const std::string kFloats = "layout(binding = 0) buffer B { float x[]; };\n";
const std::string kReference =
    "layout(buffer_reference, std430, buffer_reference_align = 4) buffer F { float v; };\n";

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

TEST_F(KernelRulesTest, TakesAPlainKernel) {
  EXPECT_FALSE(module_refusal(kFloats + "void main() { x[gl_GlobalInvocationID.x] = 1.0; }\n"));
}

TEST_F(KernelRulesTest, RefusesClocks) {
  expect_refused(module_refusal("layout(binding = 0) buffer B { uvec2 x[]; };\n"
                                "void main() { x[0] = clock2x32ARB(); }\n",
                                false, require("GL_ARB_shader_clock")),
                 Verdict::invalid_candidate, "clock");
  vulkan::SpirvFacts undeclared;
  undeclared.reads_clock = true;
  expect_refused(refusal_of(undeclared), Verdict::invalid_candidate, "clock");
}

TEST_F(KernelRulesTest, TakesAddressesOnlyWhereAStepPushesOne) {
  const std::string kernel = kReference +
                             "layout(push_constant) uniform P { uint64_t at; uint n; };\n"
                             "void main() { F(at).v = float(n); }\n";
  expect_refused(module_refusal(kernel, false), Verdict::invalid_candidate, "");
  EXPECT_FALSE(module_refusal(kernel, true));
  expect_refused(module_refusal(kReference + "layout(push_constant) uniform P { uint64_t at; };\n"
                                             "layout(binding = 0) buffer B { uint64_t x[]; };\n"
                                             "void main() { F(x[0]).v = F(at).v; }\n",
                                true),
                 Verdict::invalid_candidate, "push {address: NAME}");
}

TEST_F(KernelRulesTest, RefusesImagesAndTakesTypedBuffers) {
  expect_refused(module_refusal("layout(binding = 0, r32f) uniform image2D i;\n"
                                "void main() { imageStore(i, ivec2(0), vec4(1)); }\n"),
                 Verdict::invalid_candidate, "image");
  EXPECT_FALSE(
      module_refusal("layout(binding = 0, r32f) uniform imageBuffer i;\n"
                     "layout(binding = 1) uniform samplerBuffer s;\n"
                     "void main() { imageStore(i, imageSize(i) - 1, texelFetch(s, 0)); }\n"));
}

TEST_F(KernelRulesTest, SaysWhoRefusesACapability) {
  expect_refused(module_refusal(kFloats + "void main() { atomicMax(x[0], 1.0); }\n", false,
                                require("GL_EXT_shader_atomic_float2")),
                 Verdict::unsupported,
                 "SPIR-V capability AtomicFloat32MinMaxEXT, which candidates cannot use: a rule of "
                 "kbench's");
  vulkan::SpirvFacts facts;
  facts.capabilities = {9};  // Float16
  vulkan::DevicePlan plan = device().plan();
  plan.float16 = false;
  expect_refused(check_module(facts, device().snapshot(), plan, false), Verdict::unsupported,
                 "needs 16-bit floats, which this device");
}

TEST_F(KernelRulesTest, TakesFloatAtomicsWhereTheDeviceHasThem) {
  const vulkan::SpirvFacts facts = vulkan::inspect_spirv(
      compile(require("GL_EXT_shader_atomic_float") + "layout(local_size_x = 64) in;\n" + kFloats +
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
  const auto refusal = [&](const vulkan::SpirvFacts& declared) {
    return check_declared(declared, device().snapshot(), device().plan());
  };
  vulkan::SpirvFacts declared;
  declared.capabilities = {1, 5430};
  expect_refused(refusal(declared), Verdict::unsupported,
                 "SPIR-V capability CooperativeMatrixReductionsNV");
  declared = {};
  declared.extensions = {"SPV_NV_cooperative_matrix2"};
  expect_refused(refusal(declared), Verdict::unsupported,
                 "SPIR-V extension SPV_NV_cooperative_matrix2");
  EXPECT_FALSE(refusal({}));
}

TEST_F(KernelRulesTest, RefusesAnArrayOfBuffersAtOneBinding) {
  expect_refused(module_refusal("layout(binding = 0) buffer B { float x[]; } all[2];\n"
                                "void main() { all[1].x[0] = 1.0; }\n"),
                 Verdict::invalid_candidate, "binding 0 as an array");
}

TEST_F(KernelRulesTest, ExtensionsAndInstructionSetsAreAnAllowList) {
  vulkan::SpirvFacts facts;
  facts.extensions = {"SPV_KHR_16bit_storage", "SPV_KHR_physical_storage_buffer"};
  facts.instruction_sets = {"GLSL.std.450"};
  EXPECT_FALSE(refusal_of(facts));
  facts.extensions.push_back("SPV_EXT_something_new");
  expect_refused(refusal_of(facts), Verdict::unsupported, "extension SPV_EXT_something_new");
  facts.extensions.clear();
  facts.instruction_sets.push_back("OpenCL.std");
  expect_refused(refusal_of(facts), Verdict::unsupported, "instruction set OpenCL.std");
}

TEST_F(KernelRulesTest, TakesNarrowTypesAndSubgroupsOfTheDevice) {
  const auto taken = [&](bool offered, const std::string& extensions, const std::string& body) {
    const auto refusal = module_refusal(body, false, extensions);
    EXPECT_EQ(!refusal, offered) << (refusal ? refusal->message : body);
  };
  const vulkan::DevicePlan& plan = device().plan();
  taken(plan.storage_16bit && plan.float16,
        require("GL_EXT_shader_16bit_storage") +
            require("GL_EXT_shader_explicit_arithmetic_types_float16"),
        "layout(binding = 0) buffer B { float16_t x[]; };\n"
        "void main() { x[0] = x[1] * x[2]; }\n");
  taken(plan.storage_8bit && plan.int8,
        require("GL_EXT_shader_8bit_storage") +
            require("GL_EXT_shader_explicit_arithmetic_types_int8"),
        "layout(binding = 0) buffer B { uint8_t x[]; };\n"
        "void main() { x[0] = x[1] + x[2]; }\n");
  taken(device().snapshot().subgroup_operations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT,
        require("GL_KHR_shader_subgroup_arithmetic"),
        kFloats + "void main() { x[0] = subgroupAdd(x[gl_LocalInvocationIndex]); }\n");
}

}  // namespace
}  // namespace kbench::runner
