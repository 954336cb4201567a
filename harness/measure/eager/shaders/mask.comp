// y = x * mask, the mask being a byte an element, 0 or 1.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_2
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, mask, y;
  uint quads;  // whole groups of four elements
  uint rest;   // elements after them
  uint groups;
}
p;

layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer BytesIn {
  uint at[];  // four elements each
};

vec4 unpacked(uint bytes) {
  return vec4(bytes & 1u, bytes >> 8 & 1u, bytes >> 16 & 1u, bytes >> 24 & 1u);
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint first = group * (THREADS * QUADS);
  const uint64_t x = ADVANCE(X, p.x, uint64_t(first) * 4ul);
  BytesIn mask = BytesIn(p.mask + uint64_t(first) * 4ul);
  const uint64_t y = ADVANCE(Y, p.y, uint64_t(first) * 4ul);
  const uint count = min(p.quads - first, THREADS * QUADS);
  if (count == THREADS * QUADS) {
    vec4 v[QUADS];
    uint m[QUADS];
    [[unroll]] for (uint i = 0; i < QUADS; ++i) {
      v[i] = LOAD4(X, x, gl_LocalInvocationID.x + i * THREADS);
      m[i] = mask.at[gl_LocalInvocationID.x + i * THREADS];
    }
    [[unroll]] for (uint i = 0; i < QUADS; ++i) {
      STORE4(Y, y, gl_LocalInvocationID.x + i * THREADS, v[i] * unpacked(m[i]));
    }
  } else {
    for (uint i = gl_LocalInvocationID.x; i < count; i += THREADS) {
      STORE4(Y, y, i, LOAD4(X, x, i) * unpacked(mask.at[i]));
    }
  }
  if (group == p.groups - 1 && gl_LocalInvocationID.x < p.rest) {
    // Tensors end on a word: the bytes of the mask after the last element may be read.
    const uint64_t tail = uint64_t(p.quads) * 4ul;
    const vec4 m = unpacked(BytesIn(p.mask + tail).at[0]);
    const uint64_t at = tail + gl_LocalInvocationID.x;
    STORE(Y, ADVANCE(Y, p.y, at), 0,
          LOAD(X, ADVANCE(X, p.x, at), 0) * m[gl_LocalInvocationID.x]);
  }
}
