// A convolution's input, transformed along one dimension for minimal filtering:
// [image][channel][row][inner] to [image][point][channel][tile][inner]. A tile is six rows, the
// first of which OUTPUTS * tile - padding; an invocation takes one, WIDTH columns wide.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#include "pieces.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, transformed;
  uint inner;  // pieces of WIDTH elements in a row
  uint tiles;
  uint channels;
  uint rows;
  int padding;
  uint items;
  uint groups;
}
p;

void main() {
  const uint group = group_index();
  const uint item = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || item >= p.items) return;
  const uint piece = item % p.inner, tile = item / p.inner % p.tiles;
  const uint plane = item / p.inner / p.tiles;  // (image, channel)
  const int first = int(tile) * OUTPUTS - p.padding;
  const uint64_t x = ADVANCE(X, p.x, uint64_t(plane) * p.rows * p.inner * WIDTH);
  PIECE d[6];
  [[unroll]] for (int i = 0; i < 6; ++i) {
    const uint row = uint(first + i);
    d[i] = PIECE(0.0);
    if (row < p.rows) d[i] = LOAD_PIECE(X, x, row * p.inner + piece);
  }
  const uint image = plane / p.channels, channel = plane % p.channels;
  const uint volume = p.tiles * p.inner;  // pieces of a channel
  const uint64_t to = (uint64_t(image) * 6 * p.channels + channel) * volume + tile * p.inner + piece;
  const uint64_t step = ADVANCE(f32, 0ul, uint64_t(p.channels) * volume * WIDTH);  // bytes
  uint64_t at = ADVANCE(f32, p.transformed, to * WIDTH);
  // The polynomials that vanish at every other point.
  const PIECE even = d[4] - 4.0 * d[2], odd = d[3] - 4.0 * d[1];
  const PIECE near = d[4] - d[2], far = 2.0 * (d[3] - d[1]);
  STORE_PIECE(f32, at, 0, 4.0 * d[0] - 5.0 * d[2] + d[4]);
  STORE_PIECE(f32, at += step, 0, even + odd);
  STORE_PIECE(f32, at += step, 0, even - odd);
  STORE_PIECE(f32, at += step, 0, near + far);
  STORE_PIECE(f32, at += step, 0, near - far);
  STORE_PIECE(f32, at += step, 0, 4.0 * d[1] - 5.0 * d[3] + d[5]);
}
