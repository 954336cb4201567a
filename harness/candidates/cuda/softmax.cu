// Softmax over the last dimension of [ROWS, COLS]: a row's statistics in one reading, then the
// quotients, from registers for a short row and from a second reading for a long one, which goes
// backwards: the end of the row is what the cache still holds. A block holds TEAMS rows along y, of
// THREADS threads each; more than one row only where a row is one warp's.
#include "softmax_row.cuh"

float4 quotients(float4 v, float largest, float scale) {
  const float4 e = minus_then_exp(v, largest);
  return make_float4(e.x * scale, e.y * scale, e.z * scale, e.w * scale);
}

__global__ void __launch_bounds__(THREADS* TEAMS)
    softmax(const KB_REAL* __restrict__ x, KB_REAL* __restrict__ y) {
  static_assert(TEAMS == 1 || THREADS == 32);
  const size_t number = size_t{blockIdx.x} * TEAMS + threadIdx.y;
  if (number >= ROWS) return;
  const KB_REAL* from = x + number * COLS;
  KB_REAL* to = y + number * COLS;
  const Row row = read_row(from);
  const float scale = 1.0f / row.sum;
  const int t = threadIdx.x;
  if constexpr (kKept) {
#pragma unroll
    for (int i = 0; i < kPiecesEach; ++i) {
      const int piece = i * THREADS + t;
      if (piece < kPieces) {
        stream_piece<COLS>(to, piece, quotients(row.kept[i], row.largest, scale));
      }
    }
  } else {
    for (int back = t; back < kPieces; back += 4 * THREADS) {
      float4 v[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int i = back + u * THREADS;
        if (i < kPieces) v[u] = load_piece<COLS>(from, kPieces - 1 - i, kLowest);
      }
#pragma unroll
      for (int u = 0; u < 4; ++u) {
        const int i = back + u * THREADS;
        if (i < kPieces) {
          stream_piece<COLS>(to, kPieces - 1 - i, quotients(v[u], row.largest, scale));
        }
      }
    }
  }
}
