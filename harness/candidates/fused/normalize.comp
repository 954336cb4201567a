// Normalisation, second launch: y = (x - mean) / sqrt(variance + eps) * weight + bias. Each
// workgroup first merges the segments' moments of the planes its own shares statistics with: planes
// first_plane, first_plane + STEP, ... With PER_CHANNEL (batch norm) these are a channel's planes
// through the batch and weight and bias are one number; without (layer norm) it is this plane alone
// and every element has its own.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"
#include "workgroup.glsl"
#include "segments.glsl"

layout(local_size_x = THREADS) in;
layout(std430, set = 0, binding = 0) restrict readonly buffer Moments { vec2 moments[]; };
layout(push_constant) uniform Push {
  uint64_t x, weight, bias, y;  // addresses
};

#if PER_CHANNEL
#define SHARERS (PLANES / CHANNELS)
#define STEP CHANNELS
#else
#define SHARERS 1
#define STEP 0
#endif

vec2 mean_and_scale(uint first_plane) {
  const uint partials = SHARERS * SEGMENTS;
  const float count = float(SHARERS) * float(PLANE);
  float sum = 0.0;
  for (uint i = gl_LocalInvocationIndex; i < partials; i += THREADS) {
    vec2 partial = moments[(first_plane + i / SEGMENTS * STEP) * SEGMENTS + i % SEGMENTS];
    sum += partial.x * (float(segment_length(i % SEGMENTS)) / count);
  }
  float mean = workgroup_sum(sum);

  float squares = 0.0;
  for (uint i = gl_LocalInvocationIndex; i < partials; i += THREADS) {
    vec2 partial = moments[(first_plane + i / SEGMENTS * STEP) * SEGMENTS + i % SEGMENTS];
    float d = partial.x - mean;
    squares += partial.y + d * d * float(segment_length(i % SEGMENTS));
  }
  return vec2(mean, inversesqrt(workgroup_sum(squares) / count + 1e-5));
}

void main() {
  uint plane = plane_number();
  uint segment = gl_WorkGroupID.x;
  if (plane >= PLANES) return;
  uint64_t start = uint64_t(plane) * PLANE * BYTES;
  uint first = segment * (SEGMENT / 4);
  uint pieces = segment_pieces(segment);

#if PER_CHANNEL
  uint channel = plane % CHANNELS;
  vec2 statistics = mean_and_scale(channel);
  vec4 w = vec4(statistics.y * LOAD(weight, channel));
  vec4 b = vec4(LOAD(bias, channel) - statistics.x * w.x);
#else
  vec2 statistics = mean_and_scale(plane);
#endif
  for (uint i = gl_LocalInvocationIndex; i < pieces; i += 4 * THREADS) {
    vec4 v[4];
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      uint piece = i + u * THREADS;
      if (piece < pieces) v[u] = load_piece(x + start, first + piece, PLANE, 0.0);
    }
    [[unroll]] for (uint u = 0; u < 4; ++u) {
      uint piece = i + u * THREADS;
      if (piece < pieces) {
#if !PER_CHANNEL
        vec4 w = statistics.y * load_piece(weight, first + piece, PLANE, 0.0);
        vec4 b = load_piece(bias, first + piece, PLANE, 0.0) - statistics.x * w;
#endif
        store_piece(y + start, first + piece, PLANE, fma(v[u], w, b));
      }
    }
  }
}
