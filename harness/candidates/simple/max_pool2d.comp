// Max pooling of PLANES planes of IN_H x IN_W, one output a thread. Padding never wins: only
// positions inside the plane are compared.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Y { float y[]; };

void main() {
  uint64_t i = folded_thread();
  if (i >= uint64_t(PLANES) * (OUT_H * OUT_W)) return;
  uint plane = uint(i / (OUT_H * OUT_W));
  int oh = int(uint(i) / OUT_W % OUT_H);
  int ow = int(uint(i) % OUT_W);

  float largest = uintBitsToFloat(0xff800000u);  // minus infinity
  for (int kh = 0; kh < KERNEL; ++kh) {
    int ih = oh * STRIDE - PADDING + kh * DILATION;
    if (ih < 0 || ih >= IN_H) continue;
    for (int kw = 0; kw < KERNEL; ++kw) {
      int iw = ow * STRIDE - PADDING + kw * DILATION;
      if (iw < 0 || iw >= IN_W) continue;
      largest = max(largest, x[(plane * IN_H + ih) * IN_W + iw]);
    }
  }
  y[uint(i)] = largest;
}
