// inspect_spirv: what a module declares and does, from one walk over its instructions.
#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "harness/measure/vulkan/features.h"
#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {
namespace {

class Inspector {
 public:
  explicit Inspector(const SpirvModule& module) : module_(module), sizes_(module) {}
  SpirvFacts inspect();

 private:
  void visit(const Instruction& instruction);
  void enter(const Instruction& entry_point);
  void set_local_size(const Instruction& mode);
  void read_variable(const Instruction& variable);
  void read_buffer(uint32_t variable, uint32_t type);
  void read_image(uint32_t variable, uint32_t type);
  void read_atomic(uint32_t pointer, uint32_t type, bool adds);
  void follow_addresses(const Instruction& instruction);
  bool holds_address(uint32_t type);
  bool find_address(const Instruction& type);
  void override_local_size();

  const SpirvModule& module_;
  TypeSizes sizes_;
  SpirvFacts facts_;
  std::set<uint32_t> bindings_;
  uint32_t entry_points_ = 0, entry_ = 0, local_sizes_ = 0;
  std::unordered_set<uint32_t> may_be_pushed_;  ///< values that what a step gives may reach
  std::unordered_map<uint32_t, bool> holds_address_;
};

SpirvFacts Inspector::inspect() {
  for (const Instruction& instruction : module_.instructions()) visit(instruction);
  if (entry_points_ == 0) refuse("has no compute shader");
  if (entry_points_ > 1) {
    refuse("has " + std::to_string(entry_points_) + " entry points, a kernel's module has one");
  }
  override_local_size();
  if (local_sizes_ != 1) refuse("does not give its workgroup size exactly once");
  if (std::count(facts_.local_size, facts_.local_size + 3, 0u) > 0) {
    refuse("has a workgroup without invocations");
  }
  facts_.bindings.assign(bindings_.begin(), bindings_.end());
  facts_.uses_float16 = std::count(facts_.capabilities.begin(), facts_.capabilities.end(),
                                   uint32_t{spv::CapabilityFloat16}) > 0;
  return std::move(facts_);
}

void Inspector::visit(const Instruction& instruction) {
  switch (instruction.op()) {
    case spv::OpCapability:
      facts_.capabilities.push_back(instruction[0]);
      break;
    case spv::OpExtension:
      facts_.extensions.push_back(instruction.text(0));
      break;
    case spv::OpExtInstImport:
      facts_.instruction_sets.push_back(instruction.text(1));
      break;
    case spv::OpEntryPoint:
      enter(instruction);
      break;
    case spv::OpExecutionMode:
    case spv::OpExecutionModeId:
      set_local_size(instruction);
      break;
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse:
    case spv::OpSpecConstant:
      refuse("has specialization constants that are not frozen");
    case spv::OpVariable:
      read_variable(instruction);
      break;
    case spv::OpReadClockKHR:
      facts_.reads_clock = true;
      break;
    case spv::OpAtomicLoad:
    case spv::OpAtomicExchange:
    case spv::OpAtomicFAddEXT:
      read_atomic(instruction[2], instruction[0], instruction.op() == spv::OpAtomicFAddEXT);
      break;
    case spv::OpAtomicStore:
      if (const Instruction* value = module_.definition(instruction[3])) {
        read_atomic(instruction[0], value->result_type(), false);
      }
      break;
    default:
      break;
  }
  follow_addresses(instruction);
}

void Inspector::enter(const Instruction& entry_point) {
  if (entry_point[0] != spv::ExecutionModelGLCompute) {
    refuse("has an entry point that is not a compute shader");
  }
  ++entry_points_;
  entry_ = entry_point[1];
  facts_.entry = entry_point.text(2);
}

void Inspector::set_local_size(const Instruction& mode) {
  const bool by_id = mode.op() == spv::OpExecutionModeId;
  const uint32_t kind = by_id ? spv::ExecutionModeLocalSizeId : spv::ExecutionModeLocalSize;
  if (mode[0] != entry_ || mode[1] != kind) return;
  ++local_sizes_;
  for (size_t axis = 0; axis < 3; ++axis) {
    uint64_t size = mode[2 + axis];
    if (by_id) {
      const auto constant = module_.constant(static_cast<uint32_t>(size));
      if (!constant || *constant > UINT32_MAX)
        refuse("has a workgroup size that is no plain constant");
      size = *constant;
    }
    facts_.local_size[axis] = static_cast<uint32_t>(size);
  }
}

/// A constant decorated WorkgroupSize overrides the workgroup's size.
void Inspector::override_local_size() {
  const Instruction* found = nullptr;
  for (const Instruction& each : module_.instructions()) {
    const uint32_t id = each.result();
    if (id == 0 || module_.decoration(id, spv::DecorationBuiltIn) != spv::BuiltInWorkgroupSize) {
      continue;
    }
    if (found) refuse("gives its workgroup size twice");
    found = &each;
  }
  if (!found) return;
  const bool composite = found->op() == spv::OpConstantComposite && found->size() == 5;
  for (size_t axis = 0; axis < 3; ++axis) {
    const auto size = composite ? module_.constant((*found)[2 + axis]) : std::nullopt;
    if (!size || *size > UINT32_MAX) refuse("has a workgroup size that is no plain constant");
    facts_.local_size[axis] = static_cast<uint32_t>(*size);
  }
  local_sizes_ = 1;
}

void Inspector::read_variable(const Instruction& variable) {
  const Instruction* pointer = module_.type(variable[0], spv::OpTypePointer);
  if (!pointer) malformed("a variable's type is not a pointer");
  const uint32_t id = variable[1], type = (*pointer)[2];
  if ((*pointer)[1] != variable[2]) malformed("a variable and its type differ in storage class");
  switch (variable[2]) {
    case spv::StorageClassInput:
    case spv::StorageClassPushConstant:
      break;
    case spv::StorageClassPrivate:
    case spv::StorageClassFunction:
      facts_.stack_bytes = saturating_add(facts_.stack_bytes, sizes_.packed(type));
      break;
    case spv::StorageClassWorkgroup:
      facts_.shared_bytes = saturating_add(facts_.shared_bytes, sizes_.packed(type));
      break;
    case spv::StorageClassStorageBuffer:
    case spv::StorageClassUniform:
      read_buffer(id, type);
      break;
    case spv::StorageClassUniformConstant:
      read_image(id, type);
      break;
    default:
      facts_.other_resources = true;
  }
}

void Inspector::read_buffer(uint32_t variable, uint32_t type) {
  const uint32_t binding =
      module_.decoration(variable, spv::DecorationBinding).value_or(UINT32_MAX);
  for (const Instruction* array = module_.definition(type);
       array && (array->op() == spv::OpTypeArray || array->op() == spv::OpTypeRuntimeArray);
       array = module_.definition(type)) {
    facts_.binding_array = binding;
    type = (*array)[1];
  }
  if (module_.decoration(variable, spv::DecorationDescriptorSet).value_or(0) == 0) {
    bindings_.insert(binding);
  }
}

/// Texel buffers are the only images that kbench binds; others are refused.
void Inspector::read_image(uint32_t variable, uint32_t type) {
  const Instruction* image = module_.definition(type);
  for (; image && (image->op() == spv::OpTypeArray || image->op() == spv::OpTypeRuntimeArray);
       image = module_.definition((*image)[1])) {
    facts_.binding_array =
        module_.decoration(variable, spv::DecorationBinding).value_or(UINT32_MAX);
  }
  if (image && image->op() == spv::OpTypeSampledImage) image = module_.definition((*image)[1]);
  if (!image || image->op() != spv::OpTypeImage || (*image)[2] != spv::DimBuffer) {
    facts_.other_resources = true;
  }
}

/// Atomic loads, stores, exchanges and adds of floats need features of the device that no
/// capability tells: of an add, in which memory it is; of the others, none at all.
void Inspector::read_atomic(uint32_t pointer, uint32_t type, bool adds) {
  const Instruction* number = module_.type(type, spv::OpTypeFloat);
  if (!number) return;
  const uint32_t bits = (*number)[1];
  const auto storage = module_.storage_class(pointer);
  const bool shared = storage == spv::StorageClassWorkgroup;
  const bool buffer = storage == spv::StorageClassStorageBuffer ||
                      storage == spv::StorageClassPhysicalStorageBuffer ||
                      storage == spv::StorageClassUniform;
  if ((bits == 16 || bits == 32 || bits == 64) && (shared || buffer)) {
    facts_.float_atomics |=
        bits == 16 ? float16_atomic(shared, adds) : float_atomic(shared, bits == 64, adds);
  } else {
    facts_.other_float_atomics = true;
  }
}

/// Marks values that may come from push constants, and finds pointers that do not. A value stands
/// before its uses except at phis, which count as marked.
void Inspector::follow_addresses(const Instruction& instruction) {
  const uint32_t type = instruction.result_type();
  if (type == 0) return;
  bool reached = false;
  switch (instruction.op()) {
    case spv::OpFunctionParameter:
    case spv::OpFunctionCall:
    case spv::OpPhi:
      reached = true;
      break;
    case spv::OpLoad: {
      const auto storage = module_.storage_class(instruction[2]);
      reached = storage == spv::StorageClassPushConstant || storage == spv::StorageClassFunction ||
                storage == spv::StorageClassPrivate || storage == spv::StorageClassWorkgroup;
      if (!reached && holds_address(type)) facts_.foreign_addresses = true;
      break;
    }
    default:
      for (const uint32_t operand : instruction.from(2)) {
        if (may_be_pushed_.contains(operand)) reached = true;
      }
  }
  if (reached) may_be_pushed_.insert(instruction.result());
  const bool converts = instruction.op() == spv::OpConvertUToPtr ||
                        (instruction.op() == spv::OpBitcast && holds_address(type));
  if (converts && !reached) facts_.foreign_addresses = true;
}

/// Whether a loaded value of the type is or contains a pointer.
bool Inspector::holds_address(uint32_t type) {
  const auto known = holds_address_.find(type);
  if (known != holds_address_.end()) return known->second;
  const Instruction* found = module_.definition(type);
  return holds_address_[type] = found && find_address(*found);
}

bool Inspector::find_address(const Instruction& type) {
  if (type.op() == spv::OpTypePointer) return true;
  if (type.op() == spv::OpTypeArray) return holds_address(type[1]);
  if (type.op() != spv::OpTypeStruct) return false;
  const auto members = type.from(1);
  return std::any_of(members.begin(), members.end(),
                     [this](uint32_t member) { return holds_address(member); });
}

}  // namespace

SpirvFacts declared_by(const Spirv& spirv) {
  SpirvFacts facts;
  const std::span<const uint32_t> words(spirv);
  size_t at = kSpirvHeaderWords;
  try {
    while (at < words.size()) {
      const uint32_t length = words[at] >> 16, op = words[at] & 0xffff;
      const bool declares = op == spv::OpCapability || op == spv::OpExtension;
      if (!declares || length == 0 || length > words.size() - at) break;
      const Instruction each(op, words.subspan(at + 1, length - 1));
      if (op == spv::OpCapability) facts.capabilities.push_back(each[0]);
      if (op == spv::OpExtension) facts.extensions.push_back(each.text(0));
      at += length;
    }
  } catch (const Error&) {  // an instruction is cut short: what came before it counts
  }
  return facts;
}

SpirvFacts inspect_spirv(const Spirv& spirv) {
  const SpirvModule module(spirv);
  return Inspector(module).inspect();
}

}  // namespace kbench::vulkan
