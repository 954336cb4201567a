// Running sums along the rows of x [ROWS, COLS], each read once and written once, one workgroup a
// row. A step takes four blocks of neighbouring vec4s, one vec4 a thread in each: a thread sums its
// vec4s, a subgroup scan makes these run through the subgroup for all four blocks at once (one
// component a block), and the subgroups' totals meet in shared memory. Totals are kept twice over,
// so that one barrier a step is enough. Works for any subgroup size.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#include "address.glsl"
#include "common.glsl"

#define THREADS 256
#define PIECES ((COLS + 3) / 4)
layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

shared vec4 subgroup_totals[2][THREADS / 4];  // enough down to subgroups of four

void main() {
  uint row = folded_group();
  if (row >= ROWS) return;
  uint64_t start = uint64_t(row) * COLS * BYTES;
  // The scan's order must be the subgroup's own.
  uint t = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;

  float carry = 0.0;
  uint stage = 0;
  for (uint i = 0; i < PIECES; i += 4 * THREADS) {
    vec4 v[4];
    vec4 mine;
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      uint piece = i + u * THREADS + t;
      v[u] = piece < PIECES ? load_piece(x + start, piece, COLS, 0.0) : vec4(0.0);
    }
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      v[u].y += v[u].x;
      v[u].z += v[u].y;
      v[u].w += v[u].z;
      mine[u] = v[u].w;
    }
    vec4 before = subgroupExclusiveAdd(mine);
    vec4 total = subgroupAdd(mine);
    if (subgroupElect()) subgroup_totals[stage][gl_SubgroupID] = total;
    barrier();
    total = vec4(0.0);
    for (uint s = 0; s < gl_NumSubgroups; ++s) {
      if (s == gl_SubgroupID) before += total;
      total += subgroup_totals[stage][s];
    }
    stage ^= 1;
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      uint piece = i + u * THREADS + t;
      if (piece < PIECES) store_piece(y + start, piece, COLS, v[u] + (before[u] + carry));
      carry += total[u];
    }
  }
}
