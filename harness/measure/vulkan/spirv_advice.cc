#include "harness/measure/vulkan/spirv_advice.h"

#include <glslang/SPIRV/GLSL.std.450.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "harness/measure/vulkan/spirv_flow.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"

namespace kbench::vulkan {
namespace {

/// The variable that a pointer points into; the pointer itself where none is found.
uint32_t variable_of(const SpirvModule& module, uint32_t pointer) {
  for (;;) {
    const Instruction* made = module.definition(pointer);
    if (made == nullptr) return pointer;
    const bool part = made->op() == spv::OpAccessChain ||
                      made->op() == spv::OpInBoundsAccessChain || made->op() == spv::OpCopyObject;
    if (!part) return pointer;
    pointer = (*made)[2];
  }
}

bool shares_without_barrier(const SpirvModule& module) {
  std::set<uint32_t> stored, loaded;
  for (const Instruction& each : module.instructions()) {
    if (each.op() == spv::OpControlBarrier) return false;
    const bool store = each.op() == spv::OpStore, load = each.op() == spv::OpLoad;
    if (!store && !load) continue;
    const uint32_t pointer = each[store ? 0 : 2];
    if (module.storage_class(pointer) != spv::StorageClassWorkgroup) continue;
    (store ? stored : loaded).insert(variable_of(module, pointer));
  }
  return std::ranges::any_of(stored, [&](uint32_t variable) { return loaded.contains(variable); });
}

/// Adds the numbers that a type is made of.
void add_types(const SpirvModule& module, uint32_t id, std::vector<ElementType>& types) {
  const Instruction* type = module.definition(id);
  if (type == nullptr) return;
  switch (type->op()) {
    case spv::OpTypeStruct:
      for (uint32_t member = 1; member < type->size(); ++member) {
        add_types(module, (*type)[member], types);
      }
      return;
    case spv::OpTypeArray:
    case spv::OpTypeRuntimeArray:
    case spv::OpTypeMatrix:
      return add_types(module, (*type)[1], types);
    case spv::OpTypeVector: {
      add_types(module, (*type)[1], types);
      if (!types.empty()) types.back().together = (*type)[2];
      return;
    }
    case spv::OpTypeFloat:
      types.push_back({{Scalar::Kind::floating, (*type)[1]}, 1});
      return;
    case spv::OpTypeInt:
      types.push_back({{(*type)[2] != 0 ? Scalar::Kind::sint : Scalar::Kind::uint, (*type)[1]}, 1});
      return;
    default:  // An address.
      types.push_back({{Scalar::Kind::address, 64}, 1});
  }
}

}  // namespace

SpirvAdvice advise(const Spirv& spirv) {
  const SpirvModule module(spirv);
  SpirvAdvice advice;
  advice.shared_without_barrier = shares_without_barrier(module);
  const SkippedBarriers skipped = skipped_barriers(module);
  advice.barrier_behind_return = skipped.behind_return;
  advice.barrier_in_branch = skipped.in_branch;
  return advice;
}

std::map<uint32_t, ElementType> element_types(const Spirv& spirv) {
  const SpirvModule module(spirv);
  std::map<uint32_t, ElementType> found;
  for (const Instruction& each : module.instructions()) {
    if (each.op() != spv::OpVariable) continue;
    const Instruction* pointer = module.type(each[0], spv::OpTypePointer);
    const Instruction* block = pointer ? module.type((*pointer)[2], spv::OpTypeStruct) : nullptr;
    const bool storage = each[2] == spv::StorageClassStorageBuffer ||
                         (each[2] == spv::StorageClassUniform && block != nullptr &&
                          module.decoration((*pointer)[2], spv::DecorationBufferBlock));
    if (!storage || block == nullptr) continue;
    std::vector<ElementType> types;
    add_types(module, (*block)[0], types);
    const bool one = !types.empty() && std::ranges::all_of(types, [&](const ElementType& type) {
      return type.number == types.front().number;
    });
    if (one) found[each.result()] = types.front();
  }
  return found;
}

bool reads_bits(const Spirv& spirv) {
  const SpirvModule module(spirv);
  uint32_t functions = 0;  // The id of GLSL.std.450.
  for (const Instruction& each : module.instructions()) {
    if (each.op() == spv::OpExtInstImport && each.text(1) == "GLSL.std.450") functions = each[0];
    if (each.op() == spv::OpBitcast) return true;
    if (each.op() != spv::OpExtInst || each[2] != functions) continue;
    if (each[3] >= GLSLstd450PackSnorm4x8 && each[3] <= GLSLstd450UnpackDouble2x32) return true;
  }
  return false;
}

}  // namespace kbench::vulkan
