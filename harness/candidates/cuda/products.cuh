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
