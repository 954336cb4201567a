// Convolution for few output channels a group: an invocation computes all CHANNELS of them at
// PIXELS pixels, reading each input element once for all; weights and taps wait in shared memory.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define WEIGHT STORED_1
#define Y STORED_2
#define BIASES STORED_3
#include "tensor.glsl"
#include "conv_window.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, weight, y;
#if BIAS
  uint64_t bias;
#endif
  Input geometry;
  uint channels;            // of the input, all groups
  uint group_channels;      // of the input, a group
  uint group_out_channels;  // of the output, a group
  uint out_channels;
  uint taps;  // of a row of the weight: group_channels * window
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
  uint rest = group;
#if TRANSPOSED
  // Phases of the same pixels together: they share cache lines of the output.
  const uint phase = rest % kPhases;
  rest /= kPhases;
  set_phase(p.geometry, phase);
  const uint taps = p.group_channels * window_size();
#else
  const uint phase = 0;
  const uint taps = p.taps;
#endif
  const uint first_pixel = rest % p.pixel_blocks * (THREADS * PIXELS) + gl_LocalInvocationID.x;
  const uint part = rest / p.pixel_blocks;
  const uint m0 = part * CHANNELS;

  Pixel pixel[PIXELS];
  uint64_t origin[PIXELS];
  uint mask[PIXELS];
  float acc[PIXELS][CHANNELS];
  [[unroll]] for (uint i = 0; i < PIXELS; ++i) {
    pixel[i] = pixel_of(p.geometry, min(first_pixel + i * THREADS, p.pixels - 1));
    mask[i] = inside_mask(p.geometry, pixel[i]);
    origin[i] = origin_of(p.geometry, p.x, pixel[i], p.channels, part * p.group_channels);
    [[unroll]] for (uint c = 0; c < CHANNELS; ++c) acc[i][c] = 0.0;
  }
  for (uint begin = 0; begin < taps; begin += kTaps) {
    const uint count = min(kTaps, taps - begin);
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < kTaps * CHANNELS; i += THREADS) {
      const uint tap = i % kTaps, c = i / kTaps;
      if (tap < count) {
        const uint64_t row = uint64_t(phase) * p.out_channels + m0 + c;
        weights[tap][c] = LOAD(WEIGHT, ADVANCE(WEIGHT, p.weight, row * p.taps + begin + tap), 0);
      }
      if (c == 0) tap_table[tap] = tap_of(p.geometry, begin + tap, taps);
    }
    barrier();
    for (uint tap = 0; tap < count; ++tap) {
      float v[PIXELS];
      [[unroll]] for (uint i = 0; i < PIXELS; ++i) {
        v[i] = read_tap(p.geometry, origin[i], pixel[i], mask[i], tap_table[tap]);
      }
      [[unroll]] for (uint c = 0; c < CHANNELS; ++c) {
        const float w = weights[tap][c];
        [[unroll]] for (uint i = 0; i < PIXELS; ++i) acc[i][c] = fma(w, v[i], acc[i][c]);
      }
    }
  }
  const uint plane = out_plane(p.geometry);
  [[unroll]] for (uint i = 0; i < PIXELS; ++i) {
    if (first_pixel + i * THREADS >= p.pixels || pixel[i].at == kNowhere) continue;
    [[unroll]] for (uint c = 0; c < CHANNELS; ++c) {
      float v = acc[i][c];
#if BIAS
      v += LOAD(BIASES, p.bias, m0 + c);
#endif
      const uint64_t at = (uint64_t(pixel[i].image) * p.out_channels + m0 + c) * plane;
      STORE(Y, ADVANCE(Y, p.y, at + pixel[i].at), 0, v);
    }
  }
}
