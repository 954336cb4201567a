// Max pooling of x [PLANES, IN_H, IN_W]. A thread makes STRIP outputs of one column: it takes the
// maximum of each input row it needs once, KERNEL loads, keeps these in registers, and every output
// is the maximum of KERNEL of them. Neighbouring threads own neighbouring columns. Padding never
// wins: only positions inside the plane are compared. Grid: column blocks, row blocks, planes.
#include "rows.cuh"

constexpr int kStripRows = (STRIP - 1) * STRIDE + (KERNEL - 1) * DILATION + 1;

__global__ void __launch_bounds__(256)
    max_pool2d(const KB_REAL* __restrict__ x, KB_REAL* __restrict__ y) {
  const int ow = blockIdx.x * 64 + threadIdx.x;
  const int first_oh = (blockIdx.y * 4 + threadIdx.y) * STRIP;
  if (ow >= OUT_W || first_oh >= OUT_H) return;
  const KB_REAL* from = x + size_t{blockIdx.z} * (IN_H * IN_W);
  KB_REAL* to = y + size_t{blockIdx.z} * (OUT_H * OUT_W) + ow;

  const int first_iw = ow * STRIDE - PADDING;
  const int first_ih = first_oh * STRIDE - PADDING;
  float row_max[kStripRows];
#pragma unroll
  for (int r = 0; r < kStripRows; ++r) {
    const int ih = first_ih + r;
    row_max[r] = kLowest;
    if (ih < 0 || ih >= IN_H) continue;
#pragma unroll
    for (int kw = 0; kw < KERNEL; ++kw) {
      const int iw = first_iw + kw * DILATION;
      if (iw >= 0 && iw < IN_W) row_max[r] = fmaxf(row_max[r], load(from + ih * IN_W + iw));
    }
  }
#pragma unroll
  for (int s = 0; s < STRIP; ++s) {
    float largest = row_max[s * STRIDE];
#pragma unroll
    for (int kh = 1; kh < KERNEL; ++kh) {
      largest = fmaxf(largest, row_max[s * STRIDE + kh * DILATION]);
    }
    if (first_oh + s < OUT_H) stream_store(to + (first_oh + s) * OUT_W, largest);
  }
}
