// kbench's own shaders with cooperative matrices, from the NV extension that glslang knows to
// KHR's, which drivers of every vendor have and which alone has bfloat16.
#pragma once

#include "harness/measure/vulkan/spirv.h"

namespace kbench::vulkan {

/// Whether the module declares NV's cooperative matrices.
bool has_nv_matrices(const Spirv& spirv);

/// The module with KHR's matrices. NV's types say neither what a matrix is used for nor that its
/// elements are bfloat16, so a shader declares the number of rows as a specialization constant,
/// whose constant_id says both: 0, 1, 2 for the uses A, B and accumulator, 8 more where elements
/// declared as float16 are bfloat16. Those constants become plain ones. Throws Error(kCompile) for
/// a matrix that is not declared so.
Spirv to_khr_matrices(const Spirv& nv);

}  // namespace kbench::vulkan
