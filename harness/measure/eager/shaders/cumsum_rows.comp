// Running sums, or with PRODUCT running products, along contiguous rows: a workgroup walks its
// stretch of a row in blocks, scanning each block and carrying its total on.
//   PIECES  pieces of WIDTH elements an invocation holds at a time
//   PARTS   1 where a row is split over workgroups: parts[row][split] holds each stretch's sum
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#extension GL_KHR_shader_subgroup_arithmetic : require
#define LANES THREADS
#define ACC float
#include "pieces.glsl"
#if PRODUCT
const float kFirst = 1.0;
float combine(float a, float b) { return a * b; }
float before_lane(float v) { return subgroupExclusiveMul(v); }
#else
const float kFirst = 0.0;
float combine(float a, float b) { return a + b; }
float before_lane(float v) { return subgroupExclusiveAdd(v); }
#endif
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
#if PARTS
  uint64_t parts;
#endif
  uint n;
  uint splits;
  uint split_length;  // a multiple of WIDTH
  uint groups;
}
p;

#if WIDTH == 4
vec4 running(vec4 v) {
  v.y = combine(v.y, v.x);
  v.w = combine(v.w, v.z);
  v.z = combine(v.z, v.y);
  v.w = combine(v.w, v.y);
  return v;
}
vec4 after(vec4 v, float before) {
  return vec4(combine(v.x, before), combine(v.y, before), combine(v.z, before),
              combine(v.w, before));
}
float last(vec4 v) { return v.w; }
#else
float running(float v) { return v; }
float after(float v, float before) { return combine(v, before); }
float last(float v) { return v; }
#endif

shared float subgroup_total[PIECES][THREADS];  // one a subgroup, of any size

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint row = group / p.splits;
  const uint split = group % p.splits;
  const uint begin = split * p.split_length;
  const uint end = (min(p.n, begin + p.split_length) - begin) / WIDTH;
  // Numbered by subgroup, so that a subgroup's scan runs over neighbours.
  const uint lane = gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID;
  const uint64_t first = uint64_t(row) * p.n + begin;
  const uint64_t x = ADVANCE(X, p.x, first);
  const uint64_t y = ADVANCE(Y, p.y, first);

  float carry = kFirst;
#if PARTS
  const uint64_t parts = ADVANCE(f32, p.parts, uint64_t(row) * p.splits);
  for (uint i = gl_LocalInvocationIndex; i < split; i += THREADS) {
    carry = combine(carry, LOAD(f32, parts, i));
  }
  carry = row_reduce(carry);
#endif
  for (uint block = 0; block < end; block += THREADS * PIECES) {
    PIECE v[PIECES];
    float before[PIECES];  // sum of the block's earlier elements, within the subgroup
    [[unroll]] for (uint i = 0; i < PIECES; ++i) {
      const uint at = block + i * THREADS + lane;
      v[i] = PIECE(kFirst);
      if (at < end) v[i] = LOAD_PIECE(X, x, at);
    }
    barrier();  // the last block's readers of subgroup_total are done
    [[unroll]] for (uint i = 0; i < PIECES; ++i) {
      v[i] = running(v[i]);
      before[i] = before_lane(last(v[i]));
      if (gl_SubgroupInvocationID == gl_SubgroupSize - 1) {
        subgroup_total[i][gl_SubgroupID] = combine(before[i], last(v[i]));
      }
    }
    barrier();
    [[unroll]] for (uint i = 0; i < PIECES; ++i) {
      float earlier = carry;
      for (uint s = 0; s < gl_NumSubgroups; ++s) {
        const float total = subgroup_total[i][s];
        if (s < gl_SubgroupID) earlier = combine(earlier, total);
        carry = combine(carry, total);
      }
      const uint at = block + i * THREADS + lane;
      if (at < end) STORE_PIECE(Y, y, at, after(v[i], combine(earlier, before[i])));
    }
  }
}
