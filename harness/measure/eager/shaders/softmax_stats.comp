// The softmax pairs of long contiguous rows, each row split over workgroups: parts[row][split].
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define LANES THREADS
#include "tensor.glsl"
#include "softmax_scan.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, parts;
  uint n;
  uint splits;
  uint split_length;  // a multiple of WIDTH
  uint groups;
}
p;

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint row = group / p.splits;
  const uint begin = group % p.splits * p.split_length;
  const vec2 pair = scan_row(ADVANCE(X, p.x, uint64_t(row) * p.n + begin),
                             min(p.n, begin + p.split_length) - begin);
  if (gl_LocalInvocationIndex == 0) {
    STORE(f32, ADVANCE(f32, p.parts, group * 2ul), 0, pair.x);
    STORE(f32, ADVANCE(f32, p.parts, group * 2ul), 1, pair.y);
  }
}
