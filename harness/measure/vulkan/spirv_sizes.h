// How many bytes the types of a SPIR-V module take.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "harness/measure/vulkan/spirv_module.h"

namespace kbench::vulkan {

/// In bytes, 2^64 - 1 at most, which a type without a size (a runtime array, an image) has. Throws
/// Error(kCompile) at an array whose length is not a plain constant.
class TypeSizes {
 public:
  explicit TypeSizes(const SpirvModule& module) : module_(module) {}
  /// Without padding: the least that a variable takes.
  uint64_t packed(uint32_t type) { return size(type, Layout::packed); }
  /// With its Offset and Stride decorations: the end of its last member.
  uint64_t laid_out(uint32_t type) { return size(type, Layout::decorated); }

 private:
  enum class Layout { packed, decorated };
  uint64_t size(uint32_t type, Layout layout);
  uint64_t compute(const Instruction& type, Layout layout);
  uint64_t array(const Instruction& type, Layout layout);
  uint64_t structure(const Instruction& type, Layout layout);

  const SpirvModule& module_;
  std::map<std::pair<uint32_t, Layout>, uint64_t> known_;
};

uint64_t saturating_add(uint64_t a, uint64_t b);

}  // namespace kbench::vulkan
