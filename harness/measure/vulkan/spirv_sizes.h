// How many bytes the types of a SPIR-V module take.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "harness/measure/vulkan/spirv_module.h"

namespace kbench::vulkan {

/// Sizes end at 2^64 - 1; a type without a size (a runtime array, an image) has that one. Throws
/// Error(kCompile) at an array whose length is not a plain constant.
class TypeSizes {
 public:
  explicit TypeSizes(const SpirvModule& module) : module_(module) {}
  /// Without padding: what a variable takes at the least.
  uint64_t packed(uint32_t type) { return size(type, Layout::packed); }
  /// By its Offset and Stride decorations: how far its last member reaches.
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
