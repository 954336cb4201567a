// Convolution of each channel by itself. An invocation takes one output column and ROWS output
// rows, which share the input rows they see. Neighbouring invocations take neighbouring columns.
//   KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, DILATION_H, DILATION_W  the window
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define WEIGHT STORED_1
#define Y STORED_2
#define BIASES STORED_3
#include "tensor.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, weight, y;
#if BIAS
  uint64_t bias;
#endif
  int height, width;
  int out_height, out_width;
  int pad_h, pad_w;
  uint channels;
  uint row_blocks;  // of ROWS output rows
  uint items;       // invocations with work
  uint groups;
}
p;

#if UNROLL
#define LOOP [[unroll]] for
#else
#define LOOP [[dont_unroll]] for
#endif

// Input rows that ROWS output rows see.
const int kSpan = (ROWS - 1) * STRIDE_H + (KERNEL_H - 1) * DILATION_H + 1;

void main() {
  const uint group = group_index();
  const uint item = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || item >= p.items) return;
  const uint row = item / uint(p.out_width);
  const uint plane = row / p.row_blocks, channel = plane % p.channels;
  const int column = int(item - row * uint(p.out_width));
  const int first_row = int(row - plane * p.row_blocks) * ROWS;
  const int x0 = column * STRIDE_W - p.pad_w;
  const int y0 = first_row * STRIDE_H - p.pad_h;
  const uint64_t x = ADVANCE(X, p.x, uint64_t(plane) * uint(p.height) * uint(p.width));
  const uint64_t y =
      ADVANCE(Y, p.y, uint64_t(plane) * uint(p.out_height) * uint(p.out_width));
  const uint64_t weight = ADVANCE(WEIGHT, p.weight, channel * (KERNEL_H * KERNEL_W));

  float acc[ROWS];
  [[unroll]] for (int r = 0; r < ROWS; ++r) {
#if BIAS
    acc[r] = LOAD(BIASES, p.bias, channel);
#else
    acc[r] = 0.0;
#endif
  }
  LOOP(int i = 0; i < kSpan; ++i) {
    const bool row_inside = PADDED == 0 ? y0 + i < p.height : uint(y0 + i) < uint(p.height);
    LOOP(int k = 0; k < KERNEL_W; ++k) {
      const int at = x0 + k * DILATION_W;
      float v = 0.0;
      if (row_inside && (PADDED == 0 || uint(at) < uint(p.width))) {
        v = LOAD(X, x, (y0 + i) * p.width + at);
      }
      [[unroll]] for (int r = 0; r < ROWS; ++r) {
        const int tap = i - r * STRIDE_H;
        if (tap >= 0 && tap % DILATION_H == 0 && tap / DILATION_H < KERNEL_H) {
          acc[r] = fma(LOAD(WEIGHT, weight, tap / DILATION_H * KERNEL_W + k), v, acc[r]);
        }
      }
    }
  }
  [[unroll]] for (int r = 0; r < ROWS; ++r) {
    if (first_row + r < p.out_height) {
      STORE(Y, y, (first_row + r) * p.out_width + column, acc[r]);
    }
  }
}
