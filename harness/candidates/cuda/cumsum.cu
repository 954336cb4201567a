// Running sums along the rows of x [ROWS, COLS], each read once and written once, one block a row.
// A step takes four runs of neighbouring float4s, one float4 a thread in each: a thread sums its
// float4s, a scan by shuffles makes these run through the warp, for all four runs at once, and the
// warps' totals meet in shared memory. Totals are kept twice over, so that one barrier a step is
// enough.
#include "rows.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRuns = 4;

__global__ void __launch_bounds__(kThreads)
    cumsum(const KB_REAL* __restrict__ x, KB_REAL* __restrict__ y) {
  constexpr int kPieces = (COLS + 3) / 4;
  __shared__ float totals[2][kRuns][kWarps];
  const KB_REAL* from = x + size_t{blockIdx.x} * COLS;
  KB_REAL* to = y + size_t{blockIdx.x} * COLS;
  const int t = threadIdx.x;
  const int lane = t % 32;
  const int warp = t / 32;

  float carry = 0.0f;
  int stage = 0;
  for (int first = 0; first < kPieces; first += kRuns * kThreads) {
    float4 v[kRuns];
#pragma unroll
    for (int u = 0; u < kRuns; ++u) {
      const int piece = first + u * kThreads + t;
      v[u] = piece < kPieces ? load_piece<COLS>(from, piece, 0.0f) : float4{};
    }
    float before[kRuns];  // what comes before this thread's float4 in its run
#pragma unroll
    for (int u = 0; u < kRuns; ++u) {
      v[u].y += v[u].x;
      v[u].z += v[u].y;
      v[u].w += v[u].z;
      float sum = v[u].w;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) {
        const float other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
      }
      if (lane == 31) totals[stage][u][warp] = sum;
      before[u] = sum - v[u].w;
    }
    __syncthreads();
#pragma unroll
    for (int u = 0; u < kRuns; ++u) {
      float run = 0.0f;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        if (w == warp) before[u] += run;
        run += totals[stage][u][w];
      }
      const float base = before[u] + carry;
      const int piece = first + u * kThreads + t;
      if (piece < kPieces) {
        stream_piece<COLS>(to, piece,
                           make_float4(v[u].x + base, v[u].y + base, v[u].z + base, v[u].w + base));
      }
      carry += run;
    }
    stage ^= 1;
  }
}
