// Largest element of each window, where NaN wins, or with AVERAGE the mean. An invocation takes
// one output column and ROWS output rows, and reduces each input row once along x before the
// windows share it along y. Neighbouring invocations take neighbouring columns.
//   KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, DILATION_H, DILATION_W  the window
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "tensor.glsl"
#include "scalar_math.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  int height, width;
  int out_height, out_width;
  int pad_h, pad_w;
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

#if AVERAGE
const float kFirst = 0.0;
float join(float sum, float v) { return sum + v; }
// Padding counts; what of a last window hangs over the padding's end does not.
float result(float sum, int x0, int y0) {
  return sum / float(min(KERNEL_H, p.height + p.pad_h - y0) * min(KERNEL_W, p.width + p.pad_w - x0));
}
#else
#define kFirst (-INFINITY)
float join(float best, float v) { return v > best || is_nan(v) ? v : best; }
float result(float best, int x0, int y0) { return best; }
#endif

void main() {
  const uint group = group_index();
  const uint item = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || item >= p.items) return;
  const uint column = item % uint(p.out_width);
  const uint block = item / uint(p.out_width) % p.row_blocks;
  const uint plane = item / uint(p.out_width) / p.row_blocks;
  const int first_row = int(block) * ROWS;
  const int x0 = int(column) * STRIDE_W - p.pad_w;
  const int y0 = first_row * STRIDE_H - p.pad_h;
  const uint64_t x = ADVANCE(X, p.x, uint64_t(plane) * uint(p.height) * uint(p.width));
  const uint64_t y =
      ADVANCE(Y, p.y, uint64_t(plane) * uint(p.out_height) * uint(p.out_width));

  float best[ROWS];
  [[unroll]] for (int r = 0; r < ROWS; ++r) best[r] = kFirst;
  LOOP(int i = 0; i < kSpan; ++i) {
    float along = kFirst;
    if (y0 + i >= 0 && y0 + i < p.height) {
      LOOP(int k = 0; k < KERNEL_W; ++k) {
        const int at = x0 + k * DILATION_W;
        if (at >= 0 && at < p.width) {
          along = join(along, LOAD(X, x, (y0 + i) * p.width + at));
        }
      }
    }
    [[unroll]] for (int r = 0; r < ROWS; ++r) {
      const int tap = i - r * STRIDE_H;
      if (tap >= 0 && tap % DILATION_H == 0 && tap / DILATION_H < KERNEL_H) {
        best[r] = join(best[r], along);
      }
    }
  }
  [[unroll]] for (int r = 0; r < ROWS; ++r) {
    if (first_row + r < p.out_height) {
      STORE(Y, y, (first_row + r) * p.out_width + int(column),
            result(best[r], x0, y0 + r * STRIDE_H));
    }
  }
}
