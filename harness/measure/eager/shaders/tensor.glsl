// Tensors by device address, and which workgroup this is. Every kernel takes 64-bit addresses in
// its push block, so a tensor may be of any size; element offsets within a stretch, tile or block
// are 32-bit, its own offset is 64-bit. An array's index counts as signed, and drivers work out its
// bytes in 32 bits: what may reach 2^32 bytes from the array's start goes through advance().
#ifndef TENSOR_GLSL
#define TENSOR_GLSL
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require

layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer FloatsIn {
  float at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict readonly buffer Vec4sIn {
  vec4 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 4) restrict writeonly buffer FloatsOut {
  float at[];
};
layout(buffer_reference, std430, buffer_reference_align = 16) restrict writeonly buffer Vec4sOut {
  vec4 at[];
};

/// The address `elements` float32 elements after `base`.
uint64_t advance(uint64_t base, uint64_t elements) { return base + elements * 4ul; }
uint64_t advance(uint64_t base, uint elements) { return base + uint64_t(elements) * 4ul; }

/// Workgroups are numbered along x, then y: a count over the limit of x wraps into rows. The last
/// row may run past the count, so a kernel leaves when group_index() reaches it.
uint group_index() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

uint ceil_div(uint a, uint b) { return (a + b - 1) / b; }

#endif
