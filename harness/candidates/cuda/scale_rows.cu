// output = diag(A) B: every row of B [ROWS, COLS] times one number. A thread scales one float4.
#include "rows.cuh"

__global__ void __launch_bounds__(256)
    scale_rows(const KB_REAL* __restrict__ a, const KB_REAL* __restrict__ b,
               KB_REAL* __restrict__ y) {
  constexpr int kPieces = (COLS + 3) / 4;
  const size_t i = size_t{blockIdx.x} * 256 + threadIdx.x;
  const size_t row = i / kPieces;
  const int piece = i % kPieces;
  if (row >= ROWS) return;
  const float factor = load(a + row);
  const float4 v = load_piece<COLS>(b + row * COLS, piece, 0.0f);
  stream_piece<COLS>(y + row * COLS, piece,
                     make_float4(factor * v.x, factor * v.y, factor * v.z, factor * v.w));
}
