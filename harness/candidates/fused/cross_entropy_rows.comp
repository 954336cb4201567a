// Cross entropy, first launch: the loss of each row, ln(sum(exp(x))) - x[target], one workgroup a
// row. Targets are 64-bit integers, low word first; only the low word can matter.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "workgroup.glsl"
#include "softmax_row.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) restrict readonly buffer Target { uvec2 target[]; };
layout(std430, set = 0, binding = 1) restrict writeonly buffer Loss { float loss[]; };
layout(push_constant) uniform Push {
  uint64_t x;  // address
};

void main() {
  uint row = folded_group();
  if (row >= ROWS) return;
  uint64_t start = AT(x, uint64_t(row) * COLS);
  RowStatistics statistics = row_statistics(start);
  if (gl_LocalInvocationIndex == 0) {
    loss[row] = log(statistics.sum) + statistics.largest - LOAD(start, target[row].x);
  }
}
