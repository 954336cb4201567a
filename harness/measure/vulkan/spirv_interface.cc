#include "harness/measure/vulkan/spirv_interface.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "harness/measure/vulkan/spirv_module.h"
#include "harness/measure/vulkan/spirv_names.h"
#include "kbench/error.h"

namespace kbench::vulkan {

namespace {

class Reflection {
 public:
  explicit Reflection(const SpirvModule& module) : module_(module) {}
  ShaderInterface reflect();

 private:
  struct Matrix {
    uint32_t stride = 0;
    bool by_rows = false;
  };

  void read_names();
  void read_variable(const Instruction& variable);
  void read_constant(const Instruction& constant);
  void read_length(uint32_t of);
  void add_leaves(uint32_t type, const std::string& name, uint64_t offset, const Matrix& matrix,
                  std::vector<Leaf>& leaves);
  void add_members(const Instruction& type, const std::string& name, uint64_t offset,
                   std::vector<Leaf>& leaves);
  void add_matrix(const Instruction& type, const std::string& name, uint64_t offset,
                  const Matrix& matrix, std::vector<Leaf>& leaves);
  Scalar scalar(const Instruction& type) const;
  uint64_t length_of(const Instruction& array) const;
  std::string name_of(uint32_t id, uint32_t member = kWhole) const;

  const SpirvModule& module_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> names_;
  std::unordered_map<uint32_t, size_t> resource_of_;  ///< a variable's or a loaded value's id
  ShaderInterface interface_;
};

ShaderInterface Reflection::reflect() {
  read_names();
  for (const Instruction& each : module_.instructions()) {
    switch (each.op()) {
      case spv::OpVariable:
        read_variable(each);
        break;
      case spv::OpSpecConstant:
      case spv::OpSpecConstantTrue:
      case spv::OpSpecConstantFalse:
        read_constant(each);
        break;
      case spv::OpLoad:
      case spv::OpImage:
      case spv::OpCopyObject:
        if (const auto from = resource_of_.find(each[2]); from != resource_of_.end()) {
          interface_.resources[from->second].loads.push_back(each.result());
          resource_of_.emplace(each.result(), from->second);
        }
        break;
      case spv::OpArrayLength:
      case spv::OpImageQuerySize:
        read_length(each[2]);
        break;
      default:
        break;
    }
  }
  std::sort(interface_.constants.begin(), interface_.constants.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  return std::move(interface_);
}

void Reflection::read_names() {
  for (const Instruction& each : module_.instructions()) {
    if (each.op() == spv::OpName) names_[{each[0], kWhole}] = each.text(1);
    if (each.op() == spv::OpMemberName) names_[{each[0], each[1]}] = each.text(2);
  }
}

std::string Reflection::name_of(uint32_t id, uint32_t member) const {
  const auto found = names_.find({id, member});
  return found == names_.end() ? "" : found->second;
}

void Reflection::read_length(uint32_t of) {
  const auto found = resource_of_.find(of);
  if (found == resource_of_.end()) {
    interface_.stray_length = true;
  } else {
    interface_.resources[found->second].asks_length = true;
  }
}

void Reflection::read_constant(const Instruction& constant) {
  const auto number = module_.decoration(constant.result(), spv::DecorationSpecId);
  const Instruction* type = module_.definition(constant.result_type());
  if (!number || !type) return;
  interface_.constants.push_back({*number, scalar(*type), name_of(constant.result())});
}

Scalar Reflection::scalar(const Instruction& type) const {
  switch (type.op()) {
    case spv::OpTypeBool:
      return {Scalar::Kind::boolean, 32};
    case spv::OpTypeInt:
      return {type[2] != 0 ? Scalar::Kind::sint : Scalar::Kind::uint, type[1]};
    case spv::OpTypeFloat:
      return {Scalar::Kind::floating, type[1]};
    case spv::OpTypePointer:
      return {Scalar::Kind::address, 64};
    default:
      malformed("a block's member has a type that blocks cannot have");
  }
}

void Reflection::read_variable(const Instruction& variable) {
  const Instruction* pointer = module_.type(variable[0], spv::OpTypePointer);
  if (!pointer) malformed("a variable's type is not a pointer");
  const uint32_t id = variable[1], type_id = (*pointer)[2];
  const Instruction* type = module_.definition(type_id);
  if (!type) return;
  const uint32_t storage = variable[2];
  if (storage == spv::StorageClassPushConstant) {
    if (type->op() == spv::OpTypeStruct) add_members(*type, "", 0, interface_.push);
    return;
  }
  Resource resource;
  if (storage == spv::StorageClassStorageBuffer || storage == spv::StorageClassUniform) {
    if (type->op() != spv::OpTypeStruct) return;  // an array of buffers
    const bool uniform = storage == spv::StorageClassUniform &&
                         !module_.decoration(type_id, spv::DecorationBufferBlock);
    resource.kind = uniform ? Resource::Kind::uniform_buffer : Resource::Kind::storage_buffer;
    if (uniform) {
      add_members(*type, "", 0, resource.leaves);
      for (const Leaf& leaf : resource.leaves) {
        resource.bytes = std::max(resource.bytes, saturating_add(leaf.offset, leaf.type.bits / 8));
      }
    } else if (type->size() > 1) {
      const auto members = static_cast<uint32_t>(type->size() - 1);
      const auto is_all = [&](spv::Decoration decoration) {
        bool all = true;
        for (uint32_t i = 0; i < members; ++i) {
          all = all && module_.member_decoration(type_id, i, decoration);
        }
        return all || module_.decoration(id, decoration);
      };
      resource.writable = !is_all(spv::DecorationNonWritable);
      resource.readable = !is_all(spv::DecorationNonReadable);
      if (module_.type((*type)[members], spv::OpTypeRuntimeArray)) {
        resource.element_bytes =
            module_.decoration((*type)[members], spv::DecorationArrayStride).value_or(0);
      }
    }
  } else if (storage == spv::StorageClassUniformConstant) {
    if (type->op() == spv::OpTypeSampledImage) type = module_.definition((*type)[1]);
    if (!type || type->op() != spv::OpTypeImage || (*type)[2] != spv::DimBuffer) return;
    const Instruction* component = module_.definition((*type)[1]);
    if (!component) return;
    resource.kind = (*type)[6] == 2 ? Resource::Kind::storage_texels : Resource::Kind::texels;
    resource.writable = (*type)[6] == 2;
    resource.image_format = (*type)[7];
    resource.texel = scalar(*component);
  } else {
    return;
  }
  resource.variable = id;
  resource.set = module_.decoration(id, spv::DecorationDescriptorSet).value_or(0);
  resource.binding = module_.decoration(id, spv::DecorationBinding).value_or(UINT32_MAX);
  resource.block = name_of(type_id);
  resource.name = name_of(id);
  resource_of_.emplace(id, interface_.resources.size());
  interface_.resources.push_back(std::move(resource));
}

/// A length that a specialization constant gives has its default value here. Where it matters the
/// module is frozen already.
uint64_t Reflection::length_of(const Instruction& array) const {
  const auto constant = module_.constant(array[2]);
  if (constant) return *constant;
  const Instruction* found = module_.definition(array[2]);
  return found && found->op() == spv::OpSpecConstant ? (*found)[2] : 0;
}

void Reflection::add_members(const Instruction& type, const std::string& name, uint64_t offset,
                             std::vector<Leaf>& leaves) {
  for (uint32_t member = 0; member + 1 < type.size(); ++member) {
    std::string own = name_of(type[0], member);
    if (own.empty()) own = (name.empty() ? "member " : "") + std::to_string(member);
    const auto at = module_.member_decoration(type[0], member, spv::DecorationOffset);
    const Matrix matrix = {
        module_.member_decoration(type[0], member, spv::DecorationMatrixStride).value_or(0),
        module_.member_decoration(type[0], member, spv::DecorationRowMajor).has_value()};
    add_leaves(type[member + 1], name.empty() ? own : name + "." + own,
               saturating_add(offset, at.value_or(0)), matrix, leaves);
  }
}

void Reflection::add_matrix(const Instruction& type, const std::string& name, uint64_t offset,
                            const Matrix& matrix, std::vector<Leaf>& leaves) {
  const Instruction* column = module_.type(type[1], spv::OpTypeVector);
  const Instruction* number = column ? module_.definition((*column)[1]) : nullptr;
  if (!number) malformed("a matrix without columns");
  const Scalar type_of = scalar(*number);
  for (uint32_t c = 0; c < std::min(type[2], 4u); ++c) {
    for (uint32_t r = 0; r < std::min((*column)[2], 4u); ++r) {
      const uint64_t bytes = type_of.bits / 8;
      const uint64_t at = matrix.by_rows ? uint64_t{r} * matrix.stride + c * bytes
                                         : uint64_t{c} * matrix.stride + r * bytes;
      leaves.push_back(
          {name + "[" + std::to_string(c) + "]." + "xyzw"[r], type_of, saturating_add(offset, at)});
    }
  }
}

// SpirvModule bounds how deeply types are nested, and with that the recursion.
void Reflection::add_leaves(uint32_t id, const std::string& name, uint64_t offset,
                            const Matrix& matrix, std::vector<Leaf>& leaves) {
  const Instruction* type = module_.definition(id);
  if (module_.forward_pointer(id)) {
    leaves.push_back({name, {Scalar::Kind::address, 64}, offset});
    return;
  }
  if (!type) malformed("a block's member without a type");
  if (leaves.size() > kMostLeaves) {
    throw Error(ErrorCode::kCompile, "has a block of more than " + std::to_string(kMostLeaves) +
                                         " numbers; use a buffer");
  }
  switch (type->op()) {
    case spv::OpTypeStruct:
      return add_members(*type, name, offset, leaves);
    case spv::OpTypeMatrix:
      return add_matrix(*type, name, offset, matrix, leaves);
    case spv::OpTypeVector: {
      const Instruction* number = module_.definition((*type)[1]);
      if (!number) malformed("a vector of nothing");
      const Scalar type_of = scalar(*number);
      for (uint32_t i = 0; i < std::min((*type)[2], 4u); ++i) {
        leaves.push_back(
            {name + "." + "xyzw"[i], type_of, saturating_add(offset, i * (type_of.bits / 8))});
      }
      return;
    }
    case spv::OpTypeArray: {
      const uint64_t stride = module_.decoration(id, spv::DecorationArrayStride).value_or(0);
      const uint64_t length = length_of(*type);
      const size_t before = leaves.size();
      for (uint64_t i = 0; i < length; ++i) {
        add_leaves((*type)[1], name + "[" + std::to_string(i) + "]",
                   saturating_add(offset, i * stride), matrix, leaves);
        if (leaves.size() == before) return;  // of structures without members
      }
      return;
    }
    default:
      leaves.push_back({name, scalar(*type), offset});
  }
}

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

std::string name_of(const Scalar& scalar) {
  const std::string bits = scalar.bits == 32 ? "" : std::to_string(scalar.bits) + "_t";
  switch (scalar.kind) {
    case Scalar::Kind::boolean:
      return "bool";
    case Scalar::Kind::sint:
      return "int" + bits;
    case Scalar::Kind::uint:
      return "uint" + bits;
    case Scalar::Kind::floating:
      return scalar.bits == 64 ? "double" : "float" + bits;
    case Scalar::Kind::address:
      return "buffer address";
  }
  return "";
}

ShaderInterface reflect_spirv(const Spirv& spirv) {
  const SpirvModule module(spirv);
  return Reflection(module).reflect();
}

void adopt_names(ShaderInterface& interface, const ShaderInterface& named) {
  const auto adopt = [](std::vector<Leaf>& to, const std::vector<Leaf>& from) {
    if (to.size() != from.size()) return;
    for (size_t i = 0; i < to.size(); ++i) to[i].name = from[i].name;
  };
  adopt(interface.push, named.push);
  for (Resource& to : interface.resources) {
    for (const Resource& from : named.resources) {
      if (from.kind != to.kind || from.set != to.set || from.binding != to.binding ||
          from.writable != to.writable) {
        continue;
      }
      to.block = from.block;
      to.name = from.name;
      adopt(to.leaves, from.leaves);
      break;
    }
  }
}

Spirv rebind_spirv(const Spirv& spirv, const ShaderInterface& interface) {
  const SpirvModule module(spirv);
  std::unordered_map<uint32_t, uint32_t> binding_of;
  for (size_t i = 0; i < interface.resources.size(); ++i) {
    binding_of[interface.resources[i].variable] = static_cast<uint32_t>(i);
  }
  return rewritten(module, [&](const Instruction& each, Spirv& changed) {
    const auto binding = each.op() == spv::OpDecorate ? binding_of.find(each[0]) : binding_of.end();
    if (binding == binding_of.end()) return false;
    const bool number = each[1] == spv::DecorationBinding;
    if (!number && each[1] != spv::DecorationDescriptorSet) return false;
    append_instruction(changed, each.op(),
                       std::vector{each[0], each[1], number ? binding->second : 0});
    return true;
  });
}

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
