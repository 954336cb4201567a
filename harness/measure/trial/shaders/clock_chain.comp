// A chain of dependent multiply-adds, 16 a link: its time is a number of cycles.
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Floats {
  float at[];
};
layout(push_constant, std430) uniform Push {
  uint64_t sink;
  uint links;
  float factor;
};

#define FOUR_TIMES(step) step step step step
void main() {
  const float shift = float(gl_LocalInvocationID.x);
  float v = shift;
  for (uint link = 0u; link < links; ++link) {
    FOUR_TIMES(FOUR_TIMES(v = fma(v, factor, shift);))
  }
  Floats(sink).at[gl_LocalInvocationID.x] = v;  // or the chain would be left out
}
