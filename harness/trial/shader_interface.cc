// Reads a module's variables: which resources it declares, and how far its push block reaches.

#include <algorithm>
#include <glslang/SPIRV/spirv.hpp>
#include <map>
#include <span>
#include <utility>

#include "harness/trial/kernel_rules.h"

namespace kbench::trial {
namespace {

/// The declarations of a module that matter here, by result id.
struct Declarations {
  struct Type {
    uint32_t op = 0;
    std::vector<uint32_t> operands;  ///< after the result id
  };
  struct Variable {
    uint32_t id = 0, type = 0, storage = 0;
  };
  std::map<uint32_t, Type> types;
  std::map<uint32_t, uint64_t> constants;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> offsets;  ///< (struct, member) -> bytes
  std::map<uint32_t, uint32_t> strides, sets;
  std::map<uint32_t, bool> buffer_blocks;
  std::vector<Variable> variables;
  std::vector<std::string> entries;

  void add(uint32_t op, std::span<const uint32_t> words) {
    if (op >= spv::OpTypeVoid && op <= spv::OpTypeFunction && !words.empty()) {
      types[words[0]] = {op, {words.begin() + 1, words.end()}};
    } else if ((op == spv::OpConstant || op == spv::OpSpecConstant) && words.size() >= 3) {
      constants[words[1]] = words[2];
    } else if (op == spv::OpEntryPoint && words.size() >= 3) {
      if (words[0] == spv::ExecutionModelGLCompute) entries.push_back(text(words.subspan(2)));
    } else if (op == spv::OpVariable && words.size() >= 3) {
      variables.push_back({words[1], words[0], words[2]});
    } else if (op == spv::OpMemberDecorate && words.size() >= 4 &&
               words[2] == spv::DecorationOffset) {
      offsets[{words[0], words[1]}] = words[3];
    } else if (op == spv::OpDecorate && words.size() >= 2) {
      if (words[1] == spv::DecorationBufferBlock) buffer_blocks[words[0]] = true;
      if (words.size() < 3) return;
      if (words[1] == spv::DecorationArrayStride) strides[words[0]] = words[2];
      if (words[1] == spv::DecorationDescriptorSet) sets[words[0]] = words[2];
    }
  }

  /// A literal string: bytes packed into words, ended by a zero.
  static std::string text(std::span<const uint32_t> words) {
    std::string result;
    for (const uint32_t word : words) {
      for (int shift = 0; shift < 32; shift += 8) {
        const char c = static_cast<char>(word >> shift & 0xff);
        if (c == 0) return result;
        result += c;
      }
    }
    return result;
  }

  uint64_t size_of(uint32_t id) const {
    const auto found = types.find(id);
    if (found == types.end()) return 0;
    const auto& [op, operands] = found->second;
    switch (op) {
      case spv::OpTypeInt:
      case spv::OpTypeFloat:
        return operands[0] / 8;
      case spv::OpTypePointer:
        return 8;
      case spv::OpTypeVector:
      case spv::OpTypeMatrix:
        return size_of(operands[0]) * operands[1];
      case spv::OpTypeArray: {
        const auto stride = strides.find(id);
        const auto length = constants.find(operands[1]);
        if (stride == strides.end() || length == constants.end()) return 0;
        return stride->second * length->second;
      }
      case spv::OpTypeStruct: {
        uint64_t end = 0;
        for (uint32_t member = 0; member < operands.size(); ++member) {
          const auto offset = offsets.find({id, member});
          if (offset != offsets.end()) {
            end = std::max(end, offset->second + size_of(operands[member]));
          }
        }
        return end;
      }
      default:
        return 0;
    }
  }

  uint32_t pointee(uint32_t pointer) const {
    const auto found = types.find(pointer);
    const bool known = found != types.end() && found->second.op == spv::OpTypePointer;
    return known ? found->second.operands[1] : 0;
  }
};

}  // namespace

ShaderInterface inspect_interface(const vulkan::Spirv& spirv) {
  Declarations declared;
  constexpr size_t kHeaderWords = 5;
  for (size_t i = kHeaderWords; i < spirv.size();) {
    const uint32_t op = spirv[i] & 0xffff, count = spirv[i] >> 16;
    if (count == 0 || i + count > spirv.size()) break;
    declared.add(op, std::span(spirv).subspan(i + 1, count - 1));
    i += count;
  }
  ShaderInterface interface;
  interface.entries = declared.entries;
  for (const Declarations::Variable& variable : declared.variables) {
    const uint32_t type = declared.pointee(variable.type);
    if (variable.storage == spv::StorageClassPushConstant) {
      interface.push_bytes = std::max(interface.push_bytes, declared.size_of(type));
    }
    const bool old_style_buffer =
        variable.storage == spv::StorageClassUniform && declared.buffer_blocks.contains(type);
    if (variable.storage == spv::StorageClassUniformConstant ||
        (variable.storage == spv::StorageClassUniform && !old_style_buffer)) {
      interface.other_resources = true;
    }
    const auto set = declared.sets.find(variable.id);
    if (set != declared.sets.end() && set->second != 0) interface.other_sets = true;
  }
  return interface;
}

}  // namespace kbench::trial
