// Largest element of each window of three dimensions, where NaN wins, or with AVERAGE the mean.
// Neighbouring invocations take neighbouring columns of the output.
//   KERNEL_D, KERNEL_H, KERNEL_W  the window
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "tensor.glsl"
#include "scalar_math.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  int extent[3];  // depth, height, width
  int out_extent[3];
  int stride[3];
  int padding[3];
  int dilation[3];
  uint items;  // invocations with work
  uint groups;
}
p;

#if UNROLL
#define LOOP [[unroll]] for
#else
#define LOOP [[dont_unroll]] for
#endif

#if AVERAGE
const float kFirst = 0.0;
float join(float sum, float v) { return sum + v; }
// Padding counts; what of a last window hangs over the padding's end does not.
int counted(int d, int kernel, int first) { return min(kernel, p.extent[d] + p.padding[d] - first); }
float result(float sum, int x0, int y0, int z0) {
  return sum / float(counted(0, KERNEL_D, z0) * counted(1, KERNEL_H, y0) * counted(2, KERNEL_W, x0));
}
#else
#define kFirst (-INFINITY)
float join(float best, float v) { return v > best || is_nan(v) ? v : best; }
float result(float best, int x0, int y0, int z0) { return best; }
#endif

void main() {
  const uint group = group_index();
  const uint item = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || item >= p.items) return;
  const uint row = item / uint(p.out_extent[2]);
  const uint slab = row / uint(p.out_extent[1]);
  const uint volume = slab / uint(p.out_extent[0]);
  const int x0 = int(item - row * p.out_extent[2]) * p.stride[2] - p.padding[2];
  const int y0 = int(row - slab * p.out_extent[1]) * p.stride[1] - p.padding[1];
  const int z0 = int(slab - volume * p.out_extent[0]) * p.stride[0] - p.padding[0];
  const uint64_t x = ADVANCE(
      X, p.x, uint64_t(volume) * uint(p.extent[0]) * uint(p.extent[1] * p.extent[2]));

  float acc = kFirst;
  LOOP(int k = 0; k < KERNEL_D; ++k) {
    const int z = z0 + k * p.dilation[0];
    LOOP(int i = 0; i < KERNEL_H; ++i) {
      const int y = y0 + i * p.dilation[1];
      if (z >= 0 && z < p.extent[0] && y >= 0 && y < p.extent[1]) {
        const int at = (z * p.extent[1] + y) * p.extent[2];
        LOOP(int j = 0; j < KERNEL_W; ++j) {
          const int column = x0 + j * p.dilation[2];
          if (column >= 0 && column < p.extent[2]) acc = join(acc, LOAD(X, x, at + column));
        }
      }
    }
  }
  STORE(Y, ADVANCE(Y, p.y, item), 0, result(acc, x0, y0, z0));
}
