// What a candidate's kernel may do: an allow-list of SPIR-V capabilities and the one interface
// there is (storage buffers 0, 1, 2, ... of set 0, and a push block), and the device's limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/trial/candidate_program.h"
#include "harness/vulkan/compiler.h"
#include "harness/vulkan/plan.h"
#include "harness/vulkan/snapshot.h"

namespace kbench::trial {

/// Why a module must not or cannot run, whatever step launches it; nothing when it may.
/// `addresses`: a step pushes it a buffer address.
std::optional<Refusal> check_module(const vulkan::SpirvFacts& facts,
                                    const vulkan::DeviceSnapshot& snapshot,
                                    const vulkan::DevicePlan& plan, bool addresses);

/// What a module declares beside its facts.
struct ShaderInterface {
  uint64_t push_bytes = 0;           ///< of its push block, as far as its members reach
  bool other_sets = false;           ///< a resource outside set 0
  bool other_resources = false;      ///< an image, sampler or uniform buffer
  std::vector<std::string> entries;  ///< names of its compute entry points
};
ShaderInterface inspect_interface(const vulkan::Spirv& spirv);

/// Why a module does not fit the bindings and push block a step gives it.
std::optional<Refusal> check_interface(const vulkan::SpirvFacts& facts,
                                       const ShaderInterface& interface, size_t bindings,
                                       size_t push_bytes);

/// True when the module uses KHR cooperative matrices, which older validators do not know.
bool uses_cooperative_matrix(const vulkan::SpirvFacts& facts);

}  // namespace kbench::trial
