// Chains of fused multiply-adds that do not wait for each other: what the arithmetic units give when
// everything is in registers. 2 * CHAINS * UNROLL * turns operations an invocation.
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Word { float v; };
// The factors come from outside, so that no compiler can work the result out.
layout(push_constant, std430) uniform Push {
  uint64_t to;
  float factor, term;
  uint turns, unused;
};

void main() {
  float x[CHAINS];
  [[unroll]] for (uint i = 0u; i < CHAINS; ++i) x[i] = float(gl_LocalInvocationID.x + i);
  for (uint turn = 0u; turn < turns; ++turn) {
    [[unroll]] for (uint j = 0u; j < UNROLL; ++j) {
      [[unroll]] for (uint i = 0u; i < CHAINS; ++i) x[i] = fma(x[i], factor, term);
    }
  }
  float sum = 0.0;
  [[unroll]] for (uint i = 0u; i < CHAINS; ++i) sum += x[i];
  if (sum == -1.0) Word(to).v = sum;  // never, which no compiler knows
}
