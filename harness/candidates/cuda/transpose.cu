// result[c][r] = x[r][c] for x [ROWS, COLS] into [PADDED_COLS, PADDED_ROWS], zero where x has
// nothing: brings weights, once, into the order a kernel wants to read them in.
#include "memory.cuh"

__global__ void __launch_bounds__(256)
    transpose(const KB_REAL* __restrict__ x, KB_REAL* __restrict__ result) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= PADDED_COLS * PADDED_ROWS) return;
  const int c = i / PADDED_ROWS;
  const int r = i % PADDED_ROWS;
  store(result + i, r < ROWS && c < COLS ? load(x + r * COLS + c) : 0.0f);
}
