// Modules with KHR cooperative matrices in the terms of the NV extension that came before it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_module.h"

namespace kbench::vulkan {

/// SPIRV-Tools before 2023.4 does not know SPV_KHR_cooperative_matrix. It does know the NV one,
/// which has the same instructions but for what a matrix is used for and how operands are written.
/// So a module is translated, validated and specialized as an NV one, and translated back. Throws
/// Error(kCompile), saying why, for a matrix that has no translation.
class MatrixTranslation {
 public:
  /// Whether the module declares KHR matrices and so needs this.
  static bool needed(const SpirvModule& module);

  /// Checks use, layout and operands, which NV instructions do not have: scope and use must be
  /// plain constants, a layout may be a specialization constant. `module` must outlive this.
  explicit MatrixTranslation(const SpirvModule& module);
  const Spirv& nv() const { return nv_; }

  /// nv() after passes that left its matrix instructions in place, as a KHR module again.
  Spirv back(const Spirv& nv) const;

 private:
  void translate(const Instruction& instruction);
  void translate_type(const Instruction& type);
  void translate_load(const Instruction& load);
  void translate_store(const Instruction& store);
  void add_flag();
  void carry_layout(uint32_t layout);
  void require_constant(uint32_t id, uint32_t at_most, const char* what) const;

  const SpirvModule& module_;
  Spirv nv_;
  uint32_t next_id_ = 0;
  uint32_t flag_ = 0;  ///< a bool constant, which NV has in place of a layout
  std::unordered_map<uint32_t, const Instruction*> by_result_;
  std::unordered_set<uint32_t> layouts_;  ///< copies of layouts, each before its load or store
};

// kbench's own shaders with cooperative matrices, from the NV extension that glslang knows to
// KHR's, which drivers of every vendor have and which alone has bfloat16.

/// Whether the module declares NV's cooperative matrices.
bool has_nv_matrices(const Spirv& spirv);

/// The module with KHR's matrices. NV's types say neither what a matrix is used for nor that its
/// elements are bfloat16, so a shader declares the number of rows as a specialization constant,
/// whose constant_id says both: 0, 1, 2 for the uses A, B and accumulator, 8 more where elements
/// declared as float16 are bfloat16. Those constants become plain ones. Throws Error(kCompile) for
/// a matrix that is not declared so.
Spirv to_khr_matrices(const Spirv& nv);

}  // namespace kbench::vulkan
