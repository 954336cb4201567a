// A transposed convolution's weight, [channels, out channels a group, window], as the rows that the
// other kernels read: [phase][out channel][taps], each row in the order that tap_of() counts and
// zero past its last tap.
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

uint weight_tap(PhaseDim dim, uint t, int stride, int dilation) {
  return uint(dim.last - int(t) * tap_step(stride, dilation));
}

void main() {
  const uint group = group_index();
  const uint element = group * THREADS + gl_LocalInvocationID.x;
  if (group >= p.groups || element >= p.elements) return;
  const uint tap = element % p.row;
  const uint out_channel = element / p.row % p.out_channels;
  set_phase(p.geometry, element / p.row / p.out_channels);
  float v = 0.0;
  const uint window = window_size();
  if (tap < p.group_channels * window) {
    const uint within = tap % window;
    uint at = weight_tap(phase_h, within / phase_w.taps % phase_h.taps, STRIDE_H, DILATION_H);
    at = at * KERNEL_W + weight_tap(phase_w, within % phase_w.taps, STRIDE_W, DILATION_W);
    uint size = KERNEL_H * KERNEL_W;
#if VOLUME
    const uint slab = within / phase_w.taps / phase_h.taps;
    at += weight_tap(phase_d, slab, STRIDE_D, DILATION_D) * size;
    size *= KERNEL_D;
#endif
    const uint part = out_channel / p.group_out_channels;
    const uint channel = part * p.group_channels + tap / window;
    const uint pair = channel * p.group_out_channels + out_channel % p.group_out_channels;
    v = LOAD(X, ADVANCE(X, p.weight, uint64_t(pair) * size + at), 0);
  }
  STORE(Y, ADVANCE(Y, p.rows, element), 0, v);
}
