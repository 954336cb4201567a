// Sums a loss of two tensors' elements over stretches: parts[stretch]. LOSS names one of the
// functions below.
#version 450
#extension GL_GOOGLE_include_directive : require
#define A STORED_0
#define B STORED_1
#define LANES THREADS
#define ACC float
#include "tensor.glsl"
float combine(float a, float b) { return a + b; }
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t a, b, parts;
  uint quads;         // whole groups of four elements
  uint rest;          // elements after them
  uint split_quads;   // of a stretch
  uint groups;
}
p;

float smooth_l1(float x, float target) {
  const float d = abs(x - target);
  return d < 1.0 ? 0.5 * d * d : d - 0.5;
}
float kl_div(float log_x, float target) {
  return target == 0.0 ? 0.0 : target * (log(target) - log_x);
}

vec4 losses(vec4 a, vec4 b) {
  return vec4(LOSS(a.x, b.x), LOSS(a.y, b.y), LOSS(a.z, b.z), LOSS(a.w, b.w));
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint begin = group * p.split_quads;
  const uint64_t a = ADVANCE(A, p.a, uint64_t(begin) * 4ul);
  const uint64_t b = ADVANCE(B, p.b, uint64_t(begin) * 4ul);
  const uint count = min(p.quads - begin, p.split_quads);
  vec4 chain[2] = vec4[2](vec4(0.0), vec4(0.0));
  uint i = gl_LocalInvocationIndex;
  for (; i + THREADS < count; i += 2 * THREADS) {
    const vec4 u = LOAD4(A, a, i), v = LOAD4(B, b, i);
    const vec4 r = LOAD4(A, a, i + THREADS), s = LOAD4(B, b, i + THREADS);
    chain[0] += losses(u, v);
    chain[1] += losses(r, s);
  }
  if (i < count) chain[0] += losses(LOAD4(A, a, i), LOAD4(B, b, i));
  const vec4 sums = chain[0] + chain[1];
  float sum = (sums.x + sums.y) + (sums.z + sums.w);
  if (group == p.groups - 1 && gl_LocalInvocationIndex < p.rest) {
    const uint64_t tail = uint64_t(p.quads) * 4ul + gl_LocalInvocationIndex;
    sum += LOSS(LOAD(A, ADVANCE(A, p.a, tail), 0), LOAD(B, ADVANCE(B, p.b, tail), 0));
  }
  sum = row_reduce(sum);
  if (gl_LocalInvocationIndex == 0) STORE(f32, p.parts, group, sum);
}
