// y = ACTIVATION(x). A workgroup owns a block of 4096 elements, a thread four vec4s of it: enough
// loads in flight to keep memory busy. What does not fill a vec4 at the very end is done one by
// one.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

#define THREADS 256
#define PIECES 4
layout(local_size_x = THREADS) in;
layout(push_constant) uniform Push {
  uint64_t x, y;   // addresses
  uint64_t count;  // elements
};

void main() {
  uint64_t first = (uint64_t(folded_group()) * PIECES * THREADS + gl_LocalInvocationIndex) * 4;
  if (first + 4 * THREADS * (PIECES - 1) + 4 <= count) {
    vec4 v[PIECES];
    [[unroll]] for (uint p = 0; p < PIECES; ++p) v[p] = LOAD4(x, first / 4 + p * THREADS);
    [[unroll]] for (uint p = 0; p < PIECES; ++p) {
      STORE4(y, first / 4 + p * THREADS, activate(ACTIVATION, v[p], 0.0));
    }
    return;
  }
  for (uint p = 0; p < PIECES; ++p) {
    for (uint64_t i = first + 4 * THREADS * p; i < first + 4 * THREADS * p + 4; ++i) {
      if (i < count) STORE(y, i, activate(ACTIVATION, vec4(LOAD(x, i)), 0.0).x);
    }
  }
}
