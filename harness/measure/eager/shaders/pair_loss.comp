// Sums a loss of two tensors' elements over stretches: parts[stretch]. LOSS names one of the
// functions below.
#version 450
#extension GL_GOOGLE_include_directive : require
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
  Vec4sIn a = Vec4sIn(advance(p.a, uint64_t(begin) * 4ul));
  Vec4sIn b = Vec4sIn(advance(p.b, uint64_t(begin) * 4ul));
  const uint count = min(p.quads - begin, p.split_quads);
  vec4 chain[2] = vec4[2](vec4(0.0), vec4(0.0));
  uint i = gl_LocalInvocationIndex;
  for (; i + THREADS < count; i += 2 * THREADS) {
    const vec4 u = a.at[i], v = b.at[i], r = a.at[i + THREADS], s = b.at[i + THREADS];
    chain[0] += losses(u, v);
    chain[1] += losses(r, s);
  }
  if (i < count) chain[0] += losses(a.at[i], b.at[i]);
  const vec4 sums = chain[0] + chain[1];
  float sum = (sums.x + sums.y) + (sums.z + sums.w);
  if (group == p.groups - 1 && gl_LocalInvocationIndex < p.rest) {
    const uint64_t tail = uint64_t(p.quads) * 4ul + gl_LocalInvocationIndex;
    sum += LOSS(FloatsIn(advance(p.a, tail)).at[0], FloatsIn(advance(p.b, tail)).at[0]);
  }
  sum = row_reduce(sum);
  if (gl_LocalInvocationIndex == 0) FloatsOut(p.parts).at[group] = sum;
}
