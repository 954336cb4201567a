// Convolution for few output channels a group: an invocation computes all CHANNELS of them at
// PIXELS pixels, reading each input element once for all; weights and taps wait in shared memory.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "tensor.glsl"
#include "conv_window.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, weight;
#if BIAS
  uint64_t bias;
#endif
  uint64_t y;
  Input geometry;
  uint channels;            // of the input, all groups
  uint group_channels;      // of the input, a group
  uint group_out_channels;  // of the output, a group
  uint out_channels;
  uint taps;  // group_channels * window
  uint pixels;
  uint pixel_blocks;  // of THREADS * PIXELS
  uint groups;
}
p;

const uint kTaps = 64;  // staged at a time

shared float weights[kTaps][CHANNELS];
shared ivec2 tap_table[kTaps];

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint first_pixel = group % p.pixel_blocks * (THREADS * PIXELS) + gl_LocalInvocationID.x;
  const uint part = group / p.pixel_blocks;
  const uint m0 = part * CHANNELS;

  Pixel pixel[PIXELS];
  uint64_t origin[PIXELS];
  float acc[PIXELS][CHANNELS];
  [[unroll]] for (uint i = 0; i < PIXELS; ++i) {
    pixel[i] = pixel_of(p.geometry, min(first_pixel + i * THREADS, p.pixels - 1));
    origin[i] = origin_of(p.geometry, p.x, pixel[i], p.channels, part * p.group_channels);
    [[unroll]] for (uint c = 0; c < CHANNELS; ++c) acc[i][c] = 0.0;
  }
  for (uint begin = 0; begin < p.taps; begin += kTaps) {
    const uint count = min(kTaps, p.taps - begin);
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < kTaps * CHANNELS; i += THREADS) {
      const uint tap = i % kTaps, c = i / kTaps;
      if (tap < count) {
        weights[tap][c] =
            FloatsIn(advance(p.weight, uint64_t(m0 + c) * p.taps + begin + tap)).at[0];
      }
      if (c == 0) tap_table[tap] = tap_of(p.geometry, begin + tap, p.taps);
    }
    barrier();
    for (uint tap = 0; tap < count; ++tap) {
      float v[PIXELS];
      [[unroll]] for (uint i = 0; i < PIXELS; ++i) {
        v[i] = read_tap(p.geometry, origin[i], pixel[i], tap_table[tap]);
      }
      [[unroll]] for (uint c = 0; c < CHANNELS; ++c) {
        const float w = weights[tap][c];
        [[unroll]] for (uint i = 0; i < PIXELS; ++i) acc[i][c] = fma(w, v[i], acc[i][c]);
      }
    }
  }
  const uint plane = uint(p.geometry.out_height) * uint(p.geometry.out_width);
  [[unroll]] for (uint i = 0; i < PIXELS; ++i) {
    if (first_pixel + i * THREADS >= p.pixels) continue;
    [[unroll]] for (uint c = 0; c < CHANNELS; ++c) {
      float v = acc[i][c];
#if BIAS
      v += FloatsIn(p.bias).at[m0 + c];
#endif
      const uint64_t at = (uint64_t(pixel[i].image) * p.out_channels + m0 + c) * plane;
      FloatsOut(advance(p.y, at + pixel[i].at)).at[0] = v;
    }
  }
}
