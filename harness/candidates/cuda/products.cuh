// Products of tiles, for gemm.cu and conv2d.cu: in float32 on the device's ordinary units, of
// halves on its tensor cores. Both headers have Stage, Accumulators, multiply() and each_piece().
#pragma once

// Of A, [ROWS, DEPTH] or TRANSPOSED [DEPTH, ROWS], and of B, [DEPTH, COLS] or [COLS, DEPTH].
enum Layout { PLAIN, TRANSPOSED };

#if KB_DTYPE_F32
#include "gemm_tile.cuh"
#else
#include "gemm_tensor.cuh"
#endif

// Calls f(row, col) for the first of each kPiece neighbours that this thread copies of a tile of
// kHeight rows of kWidth.
template <int kHeight, int kWidth, int kPiece, class F>
void each_copy(F f) {
  constexpr int kAlong = kWidth / kPiece;
  constexpr int kCount = kHeight * kAlong;
#pragma unroll
  for (int c = 0; c < (kCount + kThreads - 1) / kThreads; ++c) {
    const int i = c * kThreads + threadIdx.x;
    if (kCount % kThreads != 0 && i >= kCount) break;
    f(i / kAlong, i % kAlong * kPiece);
  }
}
