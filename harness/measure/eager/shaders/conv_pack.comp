// A convolution's weight as the rows that the other kernels read: [phase][out channel][taps], each
// row in the order that tap_of() counts, zero past its last tap and for channels that there are not.
//   BACKWARDS  1 where the window is read from its end
// The weight is [out channels, channels a group, window]; of a transposed convolution, or BACKWARDS,
// [channels, out channels a group, window].
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "tensor.glsl"
#include "conv_window.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t weight, rows;
  Input geometry;
  uint group_channels;
  uint group_out_channels;
  uint out_channels;
  uint row;  // elements
  uint elements;
  uint groups;
}
p;

#if VOLUME
const uint kWindow = KERNEL_D * KERNEL_H * KERNEL_W;
#else
const uint kWindow = KERNEL_H * KERNEL_W;
#endif

#if TRANSPOSED
uint weight_tap(PhaseDim dim, uint t, int stride, int dilation) {
  return uint(dim.last - int(t) * tap_step(stride, dilation));
}
#endif

/// The position in the weight's window that position `within` of the phase's is.
uint weight_position(uint within) {
#if TRANSPOSED
  uint at = weight_tap(phase_h, within / phase_w.taps % phase_h.taps, STRIDE_H, DILATION_H);
  at = at * KERNEL_W + weight_tap(phase_w, within % phase_w.taps, STRIDE_W, DILATION_W);
#if VOLUME
  const uint slab = within / phase_w.taps / phase_h.taps;
  at += weight_tap(phase_d, slab, STRIDE_D, DILATION_D) * (KERNEL_H * KERNEL_W);
#endif
  return at;
#elif BACKWARDS
  return kWindow - 1 - within;
#else
  return within;
#endif
}


void main() {
  const uint group = group_index();
  const uint element = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || element >= p.elements) return;
  const uint tap = element % p.row;
  const uint out_channel = element / p.row % p.out_channels;
#if TRANSPOSED
  set_phase(p.geometry, element / p.row / p.out_channels);
#endif
  const uint window = window_size();
#if CHANNELS_LAST
  const uint channel = tap % CHANNELS_LAST, within = tap / CHANNELS_LAST;
#else
  const uint channel = window == 0 ? 0 : tap / window, within = window == 0 ? 0 : tap % window;
#endif
  float v = 0.0;
  if (channel < p.group_channels && within < window) {
#if TRANSPOSED || BACKWARDS
    const uint part = out_channel / p.group_out_channels;
    const uint pair = (part * p.group_channels + channel) * p.group_out_channels +
                      out_channel % p.group_out_channels;
#else
    const uint pair = out_channel * p.group_channels + channel;
#endif
    const uint64_t at = uint64_t(pair) * kWindow + weight_position(within);
    v = LOAD(X, ADVANCE(X, p.weight, at), 0);
  }
  STORE(Y, ADVANCE(Y, p.rows, element), 0, v);
}
