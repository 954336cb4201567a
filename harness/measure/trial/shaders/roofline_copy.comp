// Copies quads of float32: what memory gives when nothing else is asked of the device.
// Workgroup g takes quads [g * 256 * QUADS, (g + 1) * 256 * QUADS); all loads are in flight at once.
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Quad { vec4 v; };
layout(push_constant, std430) uniform Push { uint64_t from, to; };

void main() {
  const uint64_t first =
      (uint64_t(gl_WorkGroupID.x) * QUADS * 256ul + gl_LocalInvocationID.x) * 16ul;
  vec4 held[QUADS];
  [[unroll]] for (uint i = 0u; i < QUADS; ++i) held[i] = Quad(from + first + i * 4096ul).v;
  [[unroll]] for (uint i = 0u; i < QUADS; ++i) Quad(to + first + i * 4096ul).v = held[i];
}
