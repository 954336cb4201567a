// From the products of each point to a convolution's output, with its bias:
// [image][point][channel][tile][inner] to [image][channel][row][inner], OUTPUTS rows a tile. An
// invocation takes one tile, WIDTH columns wide.
#version 450
#extension GL_GOOGLE_include_directive : require
#define Y STORED_1
#define BIASES STORED_2
#include "pieces.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t products, y;
#if BIAS
  uint64_t bias;
#endif
  uint inner;  // pieces of WIDTH elements in a row
  uint tiles;
  uint channels;
  uint rows;
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
  const uint image = plane / p.channels, channel = plane % p.channels;
  const uint volume = p.tiles * p.inner;  // pieces of a channel
  const uint64_t from =
      (uint64_t(image) * 6 * p.channels + channel) * volume + tile * p.inner + piece;
  const uint64_t step = ADVANCE(f32, 0ul, uint64_t(p.channels) * volume * WIDTH);  // bytes
  const uint64_t base = ADVANCE(f32, p.products, from * WIDTH);
  PIECE m[6];
  [[unroll]] for (int i = 0; i < 6; ++i) m[i] = LOAD_PIECE(f32, base + step * i, 0);

  // Powers of the points: even ones add the opposite points, odd ones subtract them.
  const PIECE even1 = m[1] + m[2], odd1 = m[1] - m[2];
  const PIECE even2 = m[3] + m[4], odd2 = m[3] - m[4];
  PIECE result[4] = PIECE[4](m[0] + even1 + even2, odd1 + 2.0 * odd2, even1 + 4.0 * even2,
                             odd1 + 8.0 * odd2);
  result[OUTPUTS - 1] += m[5];
  PIECE bias = PIECE(0.0);
#if BIAS
  bias = PIECE(LOAD(BIASES, p.bias, channel));
#endif
  const uint64_t y = ADVANCE(Y, p.y, uint64_t(plane) * p.rows * p.inner * WIDTH);
  [[unroll]] for (int i = 0; i < OUTPUTS; ++i) {
    const uint row = tile * OUTPUTS + i;
    if (row < p.rows) STORE_PIECE(Y, y, row * p.inner + piece, result[i] + bias);
  }
}
