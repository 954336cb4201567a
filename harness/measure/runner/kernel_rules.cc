#include "harness/measure/runner/kernel_rules.h"

#include <algorithm>
#include <array>
#include <glslang/SPIRV/spirv.hpp>
#include <string>
#include <string_view>

#include "harness/measure/vulkan/capabilities.h"

namespace kbench::runner {
namespace {

Refused refusal_of(const vulkan::MissingCapability& missing,
                   const vulkan::DeviceSnapshot& snapshot) {
  return {Verdict::unsupported,
          "needs " + missing.name +
              (missing.by_device ? ", which this device (" + snapshot.name + ") does not offer"
                                 : ", which candidates cannot use: a rule of kbench's, whatever "
                                   "the device offers")};
}

std::optional<Refused> check_capability(uint32_t capability, const vulkan::DeviceSnapshot& snapshot,
                                        const vulkan::DevicePlan& plan, bool addresses) {
  if (capability == spv::CapabilityShaderClockKHR) {
    return invalid("reads a clock, which candidates may not");
  }
  if (capability == spv::CapabilityPhysicalStorageBufferAddresses && !addresses) {
    return invalid(
        "uses buffer addresses, but no step pushes it one: push {address: NAME}, or "
        "bind the buffer");
  }
  // An allow-list: a capability that kbench does not enable (clocks, images) is missing on every
  // device.
  if (const auto missing = vulkan::missing_capability(capability, plan, snapshot)) {
    return refusal_of(*missing, snapshot);
  }
  return std::nullopt;
}

/// Extensions that add nothing beyond their capabilities, which are checked, or notes for tools.
constexpr std::array<std::string_view, 17> kExtensions = {
    "SPV_KHR_storage_buffer_storage_class",
    "SPV_KHR_16bit_storage",
    "SPV_KHR_8bit_storage",
    "SPV_KHR_physical_storage_buffer",
    "SPV_EXT_physical_storage_buffer",
    "SPV_KHR_vulkan_memory_model",
    "SPV_KHR_cooperative_matrix",
    "SPV_NV_cooperative_matrix",
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float16_add",
    "SPV_KHR_variable_pointers",
    "SPV_KHR_float_controls",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_KHR_non_semantic_info",
    "SPV_GOOGLE_decorate_string",
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_user_type",
};

std::optional<Refused> check_extensions(const vulkan::SpirvFacts& facts) {
  const auto needs = [](const std::string& what) {
    return unsupported("needs " + what + ", which candidates cannot use");
  };
  for (const std::string& name : facts.extensions) {
    if (std::ranges::find(kExtensions, name) == kExtensions.end()) {
      return needs("SPIR-V extension " + name);
    }
  }
  for (const std::string& name : facts.instruction_sets) {
    if (name != "GLSL.std.450") return needs("SPIR-V instruction set " + name);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refused> check_declared(const vulkan::SpirvFacts& declared,
                                      const vulkan::DeviceSnapshot& snapshot,
                                      const vulkan::DevicePlan& plan) {
  for (const uint32_t capability : declared.capabilities) {
    if (auto refusal = check_capability(capability, snapshot, plan, true)) return refusal;
  }
  return check_extensions(declared);
}

std::optional<Refused> check_module(const vulkan::SpirvFacts& facts,
                                    const vulkan::DeviceSnapshot& snapshot,
                                    const vulkan::DevicePlan& plan, bool addresses) {
  if (facts.reads_clock) {
    return invalid("reads a clock, which candidates may not");
  }
  // Before the capabilities, as its message says more.
  if (const auto missing = vulkan::missing_float_atomic(facts, plan)) {
    return refusal_of(*missing, snapshot);
  }
  for (const uint32_t capability : facts.capabilities) {
    if (auto refusal = check_capability(capability, snapshot, plan, addresses)) return refusal;
  }
  if (facts.other_resources) {
    return invalid(
        "declares an image or a sampler; what is bound are buffers, typed buffers and "
        "uniform blocks");
  }
  if (facts.binding_array) {
    return invalid("declares binding " + std::to_string(*facts.binding_array) +
                   " as an array of buffers; a binding is one buffer");
  }
  if (facts.foreign_addresses) {
    return invalid(
        "makes a buffer address of something else than a push constant: push {address: NAME}");
  }
  return check_extensions(facts);
}

}  // namespace kbench::runner
