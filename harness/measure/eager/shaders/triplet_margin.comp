// losses[row] = max(|a - p + 1e-6| - |a - n + 1e-6| + margin, 0), of the rows' 2-norms.
#version 450
#extension GL_GOOGLE_include_directive : require
#define ANCHOR STORED_0
#define POSITIVE STORED_1
#define NEGATIVE STORED_2
#define ACC vec2
#include "pieces.glsl"
#include "scalar_math.glsl"
vec2 combine(vec2 a, vec2 b) { return a + b; }
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t anchor, positive, negative, losses;
  uint rows;
  uint n;
  uint groups;
  float margin;
}
p;

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint row = group * kRows + gl_LocalInvocationIndex / LANES;
  const uint pieces = row < p.rows ? p.n / WIDTH : 0;
  const uint64_t first = uint64_t(row) * p.n;
  const uint64_t anchor = ADVANCE(ANCHOR, p.anchor, first);
  const uint64_t positive = ADVANCE(POSITIVE, p.positive, first);
  const uint64_t negative = ADVANCE(NEGATIVE, p.negative, first);
  vec2 squares = vec2(0.0);
  for (uint i = gl_LocalInvocationIndex % LANES; i < pieces; i += LANES) {
    const PIECE a = LOAD_PIECE(ANCHOR, anchor, i) + 1e-6;
    const PIECE near = a - LOAD_PIECE(POSITIVE, positive, i);
    const PIECE far = a - LOAD_PIECE(NEGATIVE, negative, i);
    squares += vec2(dot(near, near), dot(far, far));
  }
  squares = row_reduce(squares);
  if (gl_LocalInvocationIndex % LANES == 0 && row < p.rows) {
    const float loss = sqrt(squares.x) - sqrt(squares.y) + p.margin;
    STORE(f32, p.losses, row, loss < 0.0 ? 0.0 : loss);
  }
}
