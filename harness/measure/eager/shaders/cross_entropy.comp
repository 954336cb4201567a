// losses[row] = log(sum over j of exp(x[row, j])) - x[row, target[row]].
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#include "tensor.glsl"
#include "softmax_scan.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, targets, losses;
  uint rows;
  uint classes;
  uint groups;
}
p;

layout(buffer_reference, std430, buffer_reference_align = 8) restrict readonly buffer IndexIn {
  uvec2 at[];  // int64, low word first
};

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint row = group * kRows + gl_LocalInvocationIndex / LANES;
  const uint64_t x = ADVANCE(X, p.x, uint64_t(row) * p.classes);
  const vec2 pair = scan_row(x, row < p.rows ? p.classes : 0);
  if (gl_LocalInvocationIndex % LANES == 0 && row < p.rows) {
    const uvec2 target = IndexIn(p.targets).at[row];
    // A target outside the classes has no loss: NaN rather than a stray read.
    float loss = uintBitsToFloat(0x7fc00000u);
    if (target.y == 0u && target.x < p.classes) {
      loss = log(pair.y) + (pair.x - LOAD(X, x, target.x));
    }
    STORE(f32, p.losses, row, loss);
  }
}
