// Mean and variance of each statistic: over `segments` stretches of `length` elements, one every
// `segment_stride` elements, the first at statistic * stride. (A layer norm's row is one segment; a
// batch norm's channel has one a sample.) A statistic may be split over workgroups, which then
// write (count, mean, squares) to parts[statistic][split]; unsplit, (mean, scale) to stats.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define LANES THREADS
#include "pieces.glsl"
#include "moments.glsl"
#include "row_reduce.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, result;
  uint segments;
  uint length_pieces;  // pieces of WIDTH elements in a segment
  uint stride;
  uint segment_stride;
  uint splits;
  uint split_pieces;
  uint groups;
  float eps;
}
p;

#if WIDTH == 4
float first_of(vec4 v) { return v.x; }
float total(vec4 v) { return (v.x + v.y) + (v.z + v.w); }
#else
float first_of(float v) { return v; }
float total(float v) { return v; }
#endif
const uint kDepth = BYTES(X) == 2 ? 8 : 4;  // loads in flight: as many bytes

PIECE load(uint64_t base, uint piece) {
  const uint segment = piece / p.length_pieces;
  const uint at = (piece - segment * p.length_pieces) * WIDTH;
  return LOAD_PIECE(X, ADVANCE(X, base, uint64_t(segment) * p.segment_stride + at), 0);
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint statistic = group / p.splits;
  const uint begin = group % p.splits * p.split_pieces;
  const uint end = min(p.segments * p.length_pieces, begin + p.split_pieces);
  const uint64_t base = ADVANCE(X, p.x, uint64_t(statistic) * p.stride);

  // Sums of deviations from this invocation's first element: without the cancellation of raw sums
  // of squares, and without a division an element.
  uint i = begin + gl_LocalInvocationIndex;
  ACC acc = vec3(0.0);
  if (i < end) {
    const float shift = first_of(load(base, i));
    PIECE sum = PIECE(0.0), squares = PIECE(0.0);
    uint pieces = 0;
    for (; i + (kDepth - 1) * THREADS < end; i += kDepth * THREADS) {
      PIECE v[kDepth];
      [[unroll]] for (uint j = 0; j < kDepth; ++j) v[j] = load(base, i + j * THREADS);
      [[unroll]] for (uint j = 0; j < kDepth; ++j) {
        const PIECE d = v[j] - shift;
        sum += d;
        squares += d * d;
      }
      pieces += kDepth;
    }
    for (; i < end; i += THREADS) {
      const PIECE d = load(base, i) - shift;
      sum += d;
      squares += d * d;
      ++pieces;
    }
    const float count = float(pieces * WIDTH);
    const float mean = total(sum) / count;
    acc = vec3(count, shift + mean, total(squares) - total(sum) * mean);
  }
  acc = row_reduce(acc);
  if (gl_LocalInvocationIndex == 0) {
#if FINISH
    const vec2 stats = mean_and_scale(acc, p.eps);
    STORE(f32, p.result, 2 * group, stats.x);
    STORE(f32, p.result, 2 * group + 1, stats.y);
#else
    STORE(f32, p.result, 3 * group, acc.x);
    STORE(f32, p.result, 3 * group + 1, acc.y);
    STORE(f32, p.result, 3 * group + 2, acc.z);
#endif
  }
}
