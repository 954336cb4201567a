// with_lengths: constants in place of the instructions that ask how long a bound buffer is.
#include <map>
#include <unordered_map>

#include "harness/measure/vulkan/spirv_interface.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

struct Asked {
  const Resource* resource = nullptr;
  uint64_t bytes = 0;
  uint32_t texel_bytes = 0;
};

/// OpArrayLength: whole elements behind the block's other members.
uint64_t elements(const SpirvModule& module, const Instruction& question, const Asked& of) {
  const Instruction* variable = module.definition(question[2]);
  const Instruction* pointer =
      variable ? module.type(variable->result_type(), spv::OpTypePointer) : nullptr;
  const Instruction* block = pointer ? module.type((*pointer)[2], spv::OpTypeStruct) : nullptr;
  if (!block) malformed("the length of what is no buffer");
  const uint32_t member = question[3];
  const uint64_t offset =
      module.member_decoration((*block)[0], member, spv::DecorationOffset).value_or(0);
  const uint64_t stride =
      module.decoration((*block)[member + 1], spv::DecorationArrayStride).value_or(0);
  return of.bytes < offset || stride == 0 ? 0 : (of.bytes - offset) / stride;
}

}  // namespace

Spirv with_lengths(const Spirv& spirv, const ShaderInterface& interface,
                   const std::vector<uint64_t>& bytes, const std::vector<uint32_t>& texel_bytes) {
  const SpirvModule module(spirv);
  std::unordered_map<uint32_t, Asked> asked;  // by a variable's or a loaded value's id
  for (size_t i = 0; i < interface.resources.size(); ++i) {
    const Resource& resource = interface.resources[i];
    const Asked of = {&resource, bytes.at(i), texel_bytes.at(i)};
    asked[resource.variable] = of;
    for (const uint32_t load : resource.loads) asked[load] = of;
  }
  const auto answer = [&](const Instruction& each) -> std::optional<uint32_t> {
    if (each.op() != spv::OpArrayLength && each.op() != spv::OpImageQuerySize) return std::nullopt;
    const auto of = asked.find(each[2]);
    if (of == asked.end()) malformed("the length of what is no resource");
    const uint64_t length = each.op() == spv::OpArrayLength
                                ? elements(module, each, of->second)
                                : of->second.bytes / std::max(1u, of->second.texel_bytes);
    return static_cast<uint32_t>(length);
  };

  std::map<std::pair<uint32_t, uint32_t>, uint32_t> constants;  // (type, value) -> id
  uint32_t next = module.bound();
  for (const Instruction& each : module.instructions()) {
    if (const auto value = answer(each)) {
      if (constants.emplace(std::pair{each[0], *value}, next).second) ++next;
    }
  }
  bool declared = false;
  Spirv changed = rewritten(module, [&](const Instruction& each, Spirv& to) {
    if (each.op() == spv::OpFunction && !declared) {
      declared = true;
      for (const auto& [constant, id] : constants) {
        append_instruction(to, spv::OpConstant, std::vector{constant.first, id, constant.second});
      }
    }
    const auto value = answer(each);
    if (!value) return false;
    append_instruction(to, spv::OpCopyObject,
                       std::vector{each[0], each[1], constants.at({each[0], *value})});
    return true;
  });
  changed[3] = next;
  return changed;
}

}  // namespace kbench::vulkan
