// Normalisation, first launch: mean and sum of squared deviations of every segment. Squares are
// taken around the segment's first value, which is near enough to the mean that nothing cancels,
// and one reading is enough.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "workgroup.glsl"
#include "segments.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) restrict writeonly buffer Moments { vec2 moments[]; };
layout(push_constant) uniform Push {
  uint64_t x;  // address
};

void main() {
  uint plane = plane_number();
  uint segment = gl_WorkGroupID.x;
  if (plane >= PLANES) return;
  uint64_t start = AT(x, uint64_t(plane) * PLANE);
  uint first = segment * (SEGMENT / 4);
  uint pieces = segment_pieces(segment);

  float shift = LOAD(start, segment * SEGMENT);
  vec4 sum = vec4(0.0);
  vec4 squares = vec4(0.0);
  for (uint i = gl_LocalInvocationIndex; i < pieces; i += 4 * THREADS) {
    vec4 v[4];
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      bool inside = i + u * THREADS < pieces;
      v[u] = inside ? load_piece(start, first + i + u * THREADS, PLANE, shift) : vec4(shift);
    }
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      vec4 d = v[u] - shift;
      sum += d;
      squares += d * d;
    }
  }
  float count = float(segment_length(segment));
  float s = workgroup_sum(dot(sum, vec4(1.0)));
  float q = workgroup_sum(dot(squares, vec4(1.0)));
  if (gl_LocalInvocationIndex == 0) {
    moments[plane * SEGMENTS + segment] = vec2(shift + s / count, q - s * s / count);
  }
}
