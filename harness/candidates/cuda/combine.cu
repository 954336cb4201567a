// y = activation(bias + the sum of PARTS partial products), parts [PARTS, ROWS, COLS]. A thread
// makes four neighbouring outputs.
#include "activation.cuh"
#include "rows.cuh"

template <Activation A>
__global__ void __launch_bounds__(256)
    combine(const float* __restrict__ parts, const KB_REAL* __restrict__ bias,
            KB_REAL* __restrict__ y) {
  constexpr int kPieces = (COLS + 3) / 4;
  const int i = blockIdx.x * 256 + threadIdx.x;
  const int row = i / kPieces;
  const int piece = i % kPieces;
  if (row >= ROWS) return;
  float4 sum = load_piece<COLS>(bias, piece, 0.0f);
#pragma unroll
  for (int s = 0; s < PARTS; ++s) {
    const float4 v = load_piece<COLS>(parts + (size_t(s) * ROWS + row) * COLS, piece, 0.0f);
    sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
  }
  store_piece<COLS>(y + size_t(row) * COLS, piece, activate<A>(sum));
}
