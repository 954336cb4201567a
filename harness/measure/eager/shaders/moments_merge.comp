// Merges each statistic's split moments: parts[statistic][split] to (mean, scale).
#version 450
#extension GL_GOOGLE_include_directive : require
#define LANES THREADS
#include "tensor.glsl"
#include "moments.glsl"
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t parts, stats;
  uint splits;
  uint groups;
  float eps;
}
p;

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint64_t parts = ADVANCE(f32, p.parts, uint64_t(group) * p.splits * 3ul);
  ACC acc = vec3(0.0);
  for (uint i = gl_LocalInvocationIndex; i < p.splits; i += THREADS) {
    acc = combine(acc, vec3(LOAD(f32, parts, 3 * i), LOAD(f32, parts, 3 * i + 1),
                            LOAD(f32, parts, 3 * i + 2)));
  }
  acc = row_reduce(acc);
  if (gl_LocalInvocationIndex == 0) {
    const vec2 stats = mean_and_scale(acc, p.eps);
    STORE(f32, p.stats, 2 * group, stats.x);
    STORE(f32, p.stats, 2 * group + 1, stats.y);
  }
}
