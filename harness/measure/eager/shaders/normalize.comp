// y = (x - mean) * scale * weight + bias. x is rows of `length` elements. PER_CHANNEL, row r has
// the weight and bias r % channels, and the statistic of that number or, PER_SAMPLE, the statistic
// r / statistic_rows; otherwise it has the statistic r and a weight and bias an element.
// PER_COLUMN, each element of a row has a statistic too.
//   AFFINE  1 where there are weight and bias
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_2
#define WEIGHT STORED_3
#define BIASES STORED_4
#include "pieces.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, stats, y;
#if AFFINE
  uint64_t weight, bias;
#endif
  uint pieces;  // of WIDTH elements, in all
  uint row_pieces;
  uint channels;
  uint statistic_rows;
  uint groups;
}
p;

PIECE normalized(PIECE x, uint piece) {
  const uint row = piece / p.row_pieces;
#if PER_COLUMN
  const uint place = piece - row * p.row_pieces;
#if WIDTH == 4
  const vec4 first = LOAD4(f32, p.stats, 2 * place), second = LOAD4(f32, p.stats, 2 * place + 1);
  const PIECE d = (x - vec4(first.xz, second.xz)) * vec4(first.yw, second.yw);
#else
  const PIECE d = (x - LOAD(f32, p.stats, 2 * place)) * LOAD(f32, p.stats, 2 * place + 1);
#endif
#if AFFINE
  return d * LOAD_PIECE(WEIGHT, p.weight, place) + LOAD_PIECE(BIASES, p.bias, place);
#else
  return d;
#endif
#else
#if PER_CHANNEL
  const uint channel = row % p.channels;
#endif
#if PER_SAMPLE
  const uint statistic = row / p.statistic_rows;
#elif PER_CHANNEL
  const uint statistic = channel;
#else
  const uint statistic = row;
#endif
  const float mean = LOAD(f32, p.stats, 2 * statistic);
  const float scale = LOAD(f32, p.stats, 2 * statistic + 1);
  const PIECE y = (x - mean) * scale;
#if !AFFINE
  return y;
#elif PER_CHANNEL
  return y * LOAD(WEIGHT, p.weight, channel) + LOAD(BIASES, p.bias, channel);
#else
  const uint at = piece - row * p.row_pieces;
  return y * LOAD_PIECE(WEIGHT, p.weight, at) + LOAD_PIECE(BIASES, p.bias, at);
#endif
#endif
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint first = group * (THREADS * PIECES);
  const uint count = min(p.pieces - first, THREADS * PIECES);
  const uint64_t x = ADVANCE(X, p.x, uint64_t(first) * WIDTH);
  const uint64_t y = ADVANCE(Y, p.y, uint64_t(first) * WIDTH);
  if (count == THREADS * PIECES) {
    PIECE v[PIECES];
    [[unroll]] for (uint i = 0; i < PIECES; ++i) {
      v[i] = LOAD_PIECE(X, x, gl_LocalInvocationID.x + i * THREADS);
    }
    [[unroll]] for (uint i = 0; i < PIECES; ++i) {
      const uint at = gl_LocalInvocationID.x + i * THREADS;
      STORE_PIECE(Y, y, at, normalized(v[i], first + at));
    }
  } else {
    for (uint at = gl_LocalInvocationID.x; at < count; at += THREADS) {
      STORE_PIECE(Y, y, at, normalized(LOAD_PIECE(X, x, at), first + at));
    }
  }
}
