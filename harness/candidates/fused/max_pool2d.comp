// Max pooling of PLANES planes. A thread makes STRIP outputs of one column: it takes the maximum of
// each input row it needs once, KERNEL loads, keeps these in registers, and every output is the
// maximum of KERNEL of them. Neighbouring threads own neighbouring columns. Padding never wins:
// only positions inside the plane are compared.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

#define STRIP_ROWS ((STRIP - 1) * STRIDE + (KERNEL - 1) * DILATION + 1)
#define BLOCKS_X ((OUT_W + 63) / 64)
#define BLOCKS_Y ((OUT_H + 4 * STRIP - 1) / (4 * STRIP))
layout(local_size_x = 64, local_size_y = 4) in;
layout(std430, set = 0, binding = 0) restrict readonly buffer X { KB_REAL x[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Y { KB_REAL y[]; };

void main() {
  uint group = folded_group();
  uint plane = group / (BLOCKS_X * BLOCKS_Y);
  if (plane >= PLANES) return;
  int ow = int(group % BLOCKS_X * 64 + gl_LocalInvocationID.x);
  int first_oh = int((group / BLOCKS_X % BLOCKS_Y * 4 + gl_LocalInvocationID.y) * STRIP);
  if (ow >= OUT_W || first_oh >= OUT_H) return;

  int first_iw = ow * STRIDE - PADDING;
  int first_ih = first_oh * STRIDE - PADDING;
  float row_max[STRIP_ROWS];
  [[unroll]] for (int r = 0; r < STRIP_ROWS; ++r) {
    int ih = first_ih + r;
    row_max[r] = kLowest;
    if (ih < 0 || ih >= IN_H) continue;
    [[unroll]] for (int kw = 0; kw < KERNEL; ++kw) {
      int iw = first_iw + kw * DILATION;
      if (iw < 0 || iw >= IN_W) continue;
      row_max[r] = max(row_max[r], KB_TO_FLOAT(x[(plane * IN_H + ih) * IN_W + iw]));
    }
  }
  [[unroll]] for (int s = 0; s < STRIP; ++s) {
    float largest = row_max[s * STRIDE];
    [[unroll]] for (int kh = 1; kh < KERNEL; ++kh) {
      largest = max(largest, row_max[s * STRIDE + kh * DILATION]);
    }
    if (first_oh + s < OUT_H) {
      y[(plane * OUT_H + first_oh + s) * OUT_W + ow] = KB_FROM_FLOAT(largest);
    }
  }
}
