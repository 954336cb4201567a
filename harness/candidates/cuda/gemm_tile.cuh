// The heart of the matrix products: a block makes a BM x BN tile of the result, a thread TM x TN of
// it in registers. Tiles of both factors, BK deep, pass through shared memory in STAGES stages:
// while one pair is multiplied, the next ones are on their way from memory, and one barrier a step
// is enough. Within a step, what the next depth needs is read from shared memory while this one is
// multiplied, also across the barrier.
//
// Both factors are kept depth-first (row k holds column k of A, row k of B), so that a thread reads
// what it needs as float4. Rows are four floats longer than the tile, so that copies that run down
// a column meet different banks.
//
// BM and BN must be multiples of 32, TM and TN of 4, BM / TM of 4 and BN / TN of 8.
#pragma once
#include "async_copy.cuh"

constexpr int kThreadRows = BM / TM;
constexpr int kThreadCols = BN / TN;
constexpr int kThreads = kThreadRows * kThreadCols;
static_assert(BM % 32 == 0 && BN % 32 == 0 && TM % 4 == 0 && TN % 4 == 0);
static_assert(kThreadRows % 4 == 0 && kThreadCols % 8 == 0);

struct Stage {
  float a[BK][BM + 4];
  float b[BK][BN + 4];
};
static_assert(STAGES >= 2 && STAGES * sizeof(Stage) <= 47 * 1024);

// What one depth of a step takes.
struct Fragment {
  float a[TM];
  float b[TN];
};

// Where a thread sits: 4 x 8 neighbours form a block, one warp's, so that its reads of either tile
// name few distinct float4s; within it neighbours share a column in pairs.
int thread_row() {
  const int lane = threadIdx.x % 32;
  return int(threadIdx.x) / 32 / (kThreadCols / 8) * 4 + lane / 16 * 2 + lane % 2;
}
int thread_col() {
  return int(threadIdx.x) / 32 % (kThreadCols / 8) * 8 + int(threadIdx.x) / 2 % 8;
}
// A thread's rows and columns come in groups of four, spread over the tile.
int tile_row(int i) { return (i / 4 * kThreadRows + thread_row()) * 4 + i % 4; }
int tile_col(int j) { return (j / 4 * kThreadCols + thread_col()) * 4 + j % 4; }

void load_fragment(Fragment& f, const Stage& stage, int k) {
#pragma unroll
  for (int i = 0; i < TM; i += 4) {
    *reinterpret_cast<float4*>(&f.a[i]) =
        *reinterpret_cast<const float4*>(&stage.a[k][tile_row(i)]);
  }
#pragma unroll
  for (int j = 0; j < TN; j += 4) {
    *reinterpret_cast<float4*>(&f.b[j]) =
        *reinterpret_cast<const float4*>(&stage.b[k][tile_col(j)]);
  }
}

struct Accumulators {
  float at[TM][TN];
};

// Adds `steps` products of tiles; fetch(stage, step) starts the copies of one step's tiles and is
// called once for each, in order. Stages are the same for all layouts.
template <Layout, Layout, class Fetch>
void multiply(Accumulators& acc, Stage (&stages)[STAGES], int steps, Fetch fetch) {
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < steps) fetch(stages[s], s);
    close_group();
  }
  wait_for_groups<STAGES - 2>();
  __syncthreads();
  __align__(16) Fragment fragments[2];
  load_fragment(fragments[0], stages[0], 0);
  int read = 0;
  int write = STAGES - 1;
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      if (k == BK - 1) {
        // After this barrier the next step's tiles have arrived and no thread reads this step's.
        wait_for_groups<STAGES - 2>();
        __syncthreads();
        read = read + 1 == STAGES ? 0 : read + 1;
      }
      load_fragment(fragments[(k + 1) % 2], stages[read], (k + 1) % BK);
      if (k == 0) {
        if (step + STAGES - 1 < steps) fetch(stages[write], step + STAGES - 1);
        close_group();
        write = write + 1 == STAGES ? 0 : write + 1;
      }
      const Fragment& f = fragments[k % 2];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) acc.at[i][j] = fmaf(f.a[i], f.b[j], acc.at[i][j]);
      }
    }
    if constexpr (BK % 2 == 1) fragments[0] = fragments[1];
  }
}

// Calls f(row, col, sums) for each piece of four neighbouring sums of this thread.
template <class F>
void each_piece(const Accumulators& acc, F f) {
#pragma unroll
  for (int j = 0; j < TN; j += 4) {
#pragma unroll
    for (int i = 0; i < TM; ++i) {
      const float* sums = &acc.at[i][j];
      f(tile_row(i), tile_col(j), make_float4(sums[0], sums[1], sums[2], sums[3]));
    }
  }
}
