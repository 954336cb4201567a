// 2-D convolution with bias, one output a thread: x is [BATCH, IN_C, IN_H, IN_W], weight is
// [OUT_C, IN_C, KERNEL, KERNEL], y is [BATCH, OUT_C, OUT_H, OUT_W].
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, set = 0, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Y { float y[]; };

void main() {
  uint i = uint(folded_thread());
  if (i >= BATCH * OUT_C * OUT_H * OUT_W) return;
  // Along y's memory order, so that neighbouring threads write neighbouring floats.
  int ow = int(i % OUT_W);
  int oh = int(i / OUT_W % OUT_H);
  uint oc = i / (OUT_W * OUT_H) % OUT_C;
  uint n = i / (OUT_W * OUT_H * OUT_C);

  float sum = bias[oc];
  for (uint c = 0; c < IN_C; ++c) {
    for (int kh = 0; kh < KERNEL; ++kh) {
      int ih = oh * STRIDE - PADDING + kh;
      if (ih < 0 || ih >= IN_H) continue;
      for (int kw = 0; kw < KERNEL; ++kw) {
        int iw = ow * STRIDE - PADDING + kw;
        if (iw < 0 || iw >= IN_W) continue;
        sum += x[((n * IN_C + c) * IN_H + ih) * IN_W + iw] *
               weight[((oc * IN_C + c) * KERNEL + kh) * KERNEL + kw];
      }
    }
  }
  y[i] = sum;
}
