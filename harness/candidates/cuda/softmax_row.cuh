// A row's maximum and its sum of exponentials relative to it, reading the row once. THREADS threads
// share the row [COLS]. Short rows stay in registers. Longer ones are taken as they stream by:
// whenever a larger maximum turns up, the sum so far is scaled down to it.
#pragma once
#include "rows.cuh"

constexpr int kPieces = (COLS + 3) / 4;
constexpr int kPiecesEach = (kPieces + THREADS - 1) / THREADS;
constexpr bool kKept = kPiecesEach <= 8;

struct Row {
  float largest;
  float sum;
  float4 kept[kKept ? kPiecesEach : 1];  // piece i * THREADS + t; the lowest float beyond the end
};

float4 minus_then_exp(float4 v, float largest) {
  return make_float4(expf(v.x - largest), expf(v.y - largest), expf(v.z - largest),
                     expf(v.w - largest));
}

float4 load_or_lowest(const KB_REAL* __restrict__ x, int piece) {
  return piece < kPieces ? load_piece<COLS>(x, piece, kLowest)
                         : make_float4(kLowest, kLowest, kLowest, kLowest);
}

Row read_row(const KB_REAL* __restrict__ x) {
  const int t = threadIdx.x;
  Row row;
  float largest = kLowest;
  float sum = 0.0f;
  if constexpr (kKept) {
#pragma unroll
    for (int i = 0; i < kPiecesEach; ++i) row.kept[i] = load_or_lowest(x, i * THREADS + t);
#pragma unroll
    for (int i = 0; i < kPiecesEach; ++i) largest = fmaxf(largest, largest_of(row.kept[i]));
    row.largest = group_max<THREADS>(largest);
#pragma unroll
    for (int i = 0; i < kPiecesEach; ++i) sum += sum_of(minus_then_exp(row.kept[i], row.largest));
    row.sum = group_sum<THREADS>(sum);
  } else {
    for (int i = t; i < kPieces; i += 4 * THREADS) {
      float4 v[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) v[u] = load_or_lowest(x, i + u * THREADS);
      const float before = largest;
#pragma unroll
      for (int u = 0; u < 4; ++u) largest = fmaxf(largest, largest_of(v[u]));
      sum *= expf(before - largest);
#pragma unroll
      for (int u = 0; u < 4; ++u) sum += sum_of(minus_then_exp(v[u], largest));
    }
    row.largest = group_max<THREADS>(largest);
    row.sum = group_sum<THREADS>(sum * expf(largest - row.largest));
  }
  return row;
}
