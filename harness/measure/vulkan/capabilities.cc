#include "harness/measure/vulkan/capabilities.h"

// doc.h needs it first.
#include "harness/measure/vulkan/spirv_names.h"
//
#include <glslang/SPIRV/doc.h>

#include "harness/measure/vulkan/features.h"

namespace kbench::vulkan {
namespace {

struct Known {
  const char* name;
  bool offered;
};

/// In buffers or in shared memory.
bool adds_to_floats(const DevicePlan& plan, bool wide) {
  return plan.float_atomics & (float_atomic(false, wide, true) | float_atomic(true, wide, true));
}

bool adds_to_halves(const DevicePlan& plan) {
  return plan.float_atomics & (float16_atomic(false, true) | float16_atomic(true, true));
}

std::optional<Known> look_up(uint32_t capability, const DevicePlan& plan,
                             VkSubgroupFeatureFlags subgroup) {
  switch (capability) {
    case spv::CapabilityMatrix:
    case spv::CapabilityShader:
      return Known{"shaders", true};
    case spv::CapabilityInt64:
      return Known{"64-bit integers", true};
    case spv::CapabilityPhysicalStorageBufferAddresses:
      return Known{"buffer device addresses", true};
    case spv::CapabilityFloat64:
      return Known{"64-bit floats", plan.float64};
    case spv::CapabilityFloat16:
      return Known{"16-bit floats", plan.float16};
    case spv::CapabilityInt16:
      return Known{"16-bit integers", plan.int16};
    case spv::CapabilityInt8:
      return Known{"8-bit integers", plan.int8};
    case spv::CapabilityStorageBuffer16BitAccess:
      return Known{"16-bit storage", plan.storage_16bit};
    case spv::CapabilityStorageBuffer8BitAccess:
      return Known{"8-bit storage", plan.storage_8bit};
    case spv::CapabilitySampledBuffer:
    case spv::CapabilityImageBuffer:
    case spv::CapabilityImageQuery:
    case spv::CapabilitySampled1D:
    case spv::CapabilityImage1D:
      return Known{"typed buffers", true};  // images themselves are refused where declared
    case spv::CapabilityStorageImageExtendedFormats:
      return Known{"typed buffers of any format", plan.storage_image_formats};
    case spv::CapabilityStorageImageReadWithoutFormat:
      return Known{"reading from typed buffers without a format", plan.storage_image_read};
    case spv::CapabilityStorageImageWriteWithoutFormat:
      return Known{"writing to typed buffers without a format", plan.storage_image_write};
    case spv::CapabilityVulkanMemoryModel:
      return Known{"the Vulkan memory model", plan.memory_model};
    case spv::CapabilityVulkanMemoryModelDeviceScope:
      return Known{"the Vulkan memory model at device scope", plan.memory_model_device_scope};
    case spv::CapabilityCooperativeMatrixNV:
      return Known{"cooperative matrices (VK_NV_cooperative_matrix)", plan.cooperative_matrix_nv};
    case kCooperativeMatrixKhr:
      return Known{"cooperative matrices (VK_KHR_cooperative_matrix)", plan.cooperative_matrix};
    case spv::CapabilityAtomicFloat32AddEXT:
      return Known{"atomic adds to 32-bit floats", adds_to_floats(plan, false)};
    case spv::CapabilityAtomicFloat16AddEXT:
      return Known{"atomic adds to 16-bit floats", adds_to_halves(plan)};
    case spv::CapabilityAtomicFloat64AddEXT:
      return Known{"atomic adds to 64-bit floats", adds_to_floats(plan, true)};
    case spv::CapabilityGroupNonUniform:
      return Known{"subgroup operations", (subgroup & VK_SUBGROUP_FEATURE_BASIC_BIT) != 0};
    case spv::CapabilityGroupNonUniformVote:
      return Known{"subgroup vote", (subgroup & VK_SUBGROUP_FEATURE_VOTE_BIT) != 0};
    case spv::CapabilityGroupNonUniformArithmetic:
      return Known{"subgroup arithmetic", (subgroup & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0};
    case spv::CapabilityGroupNonUniformBallot:
      return Known{"subgroup ballot", (subgroup & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0};
    case spv::CapabilityGroupNonUniformShuffle:
      return Known{"subgroup shuffle", (subgroup & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0};
    case spv::CapabilityGroupNonUniformShuffleRelative:
      return Known{"subgroup relative shuffle",
                   (subgroup & VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT) != 0};
    case spv::CapabilityGroupNonUniformClustered:
      return Known{"clustered subgroup operations",
                   (subgroup & VK_SUBGROUP_FEATURE_CLUSTERED_BIT) != 0};
    case spv::CapabilityGroupNonUniformQuad:
      return Known{"subgroup quad operations", (subgroup & VK_SUBGROUP_FEATURE_QUAD_BIT) != 0};
    default:
      return std::nullopt;
  }
}

/// Names of capabilities of matrices that glslang does not know yet.
const char* matrix_extension(uint32_t capability) {
  switch (capability) {
    case kBfloat16Type:
      return "BFloat16TypeKHR";
    case kBfloat16Matrix:
      return "BFloat16CooperativeMatrixKHR";
    case 5394:
      return "CooperativeVectorNV";
    case 5430:
      return "CooperativeMatrixReductionsNV";
    case 5431:
      return "CooperativeMatrixConversionsNV";
    case 5432:
      return "CooperativeMatrixPerElementOperationsNV";
    case 5433:
      return "CooperativeMatrixTensorAddressingNV";
    case 5434:
      return "CooperativeMatrixBlockLoadsNV";
    default:
      return nullptr;
  }
}

/// As the specification has it: "ImageCubeArray".
std::string spirv_name(uint32_t capability) {
  if (const char* name = matrix_extension(capability)) {
    return "SPIR-V capability " + std::string(name);
  }
  const std::string name = spv::CapabilityString(static_cast<int>(capability));
  const bool known = !name.empty() && name != "Bad" && name.find(' ') == std::string::npos;
  return "SPIR-V capability " + (known ? name : std::to_string(capability));
}

}  // namespace

std::optional<MissingCapability> missing_capability(uint32_t capability, const DevicePlan& plan,
                                                    const DeviceSnapshot& snapshot) {
  const std::optional<Known> known = look_up(capability, plan, snapshot.subgroup_operations);
  if (!known) return MissingCapability{spirv_name(capability), false};
  if (known->offered) return std::nullopt;
  return MissingCapability{known->name, true};
}

std::optional<MissingCapability> missing_float_atomic(const SpirvFacts& facts,
                                                      const DevicePlan& plan) {
  if (facts.other_float_atomics) {
    return MissingCapability{"atomics on floats in typed buffers", false};
  }
  const uint32_t missing = facts.float_atomics & ~plan.float_atomics;
  for (size_t i = 0; i < kFloatAtomics.size(); ++i) {
    if ((missing >> i & 1) == 0) continue;
    const FloatAtomic& each = kFloatAtomics[i];
    return MissingCapability{std::string(each.text) + " (" + each.feature + ")", true};
  }
  return std::nullopt;
}

}  // namespace kbench::vulkan
