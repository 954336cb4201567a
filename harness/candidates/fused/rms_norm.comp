// y = x / sqrt(mean(x^2) + eps), the mean over CHANNELS of x [BATCH, CHANNELS, PLANE]. A thread
// keeps all channels of one position in registers, so x is read once; neighbouring threads read
// neighbouring floats at every channel. Too many channels for registers are read a second time.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "address.glsl"
#include "common.glsl"

#define KEPT (CHANNELS <= 96)
layout(local_size_x = 256) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

float inverse_rms(float squares) { return inversesqrt(squares / float(CHANNELS) + 1e-5); }

void main() {
  uint64_t position = uint64_t(folded_group()) * 256 + gl_LocalInvocationIndex;
  if (position >= uint64_t(BATCH) * PLANE) return;
  uint image = uint(position / PLANE);
  uint64_t start = (uint64_t(image) * CHANNELS * PLANE + position % PLANE) * BYTES;
  float squares = 0.0;
#if KEPT
  float v[CHANNELS];
  [[unroll]] for (uint c = 0; c < CHANNELS; ++c) v[c] = LOAD(x + start, uint64_t(c) * PLANE);
  [[unroll]] for (uint c = 0; c < CHANNELS; ++c) squares = fma(v[c], v[c], squares);
  float scale = inverse_rms(squares);
  [[unroll]] for (uint c = 0; c < CHANNELS; ++c) {
    STORE(y + start, uint64_t(c) * PLANE, v[c] * scale);
  }
#else
  for (uint c = 0; c < CHANNELS; ++c) {
    float v = LOAD(x + start, uint64_t(c) * PLANE);
    squares = fma(v, v, squares);
  }
  float scale = inverse_rms(squares);
  for (uint c = 0; c < CHANNELS; ++c) {
    STORE(y + start, uint64_t(c) * PLANE, LOAD(x + start, uint64_t(c) * PLANE) * scale);
  }
#endif
}
