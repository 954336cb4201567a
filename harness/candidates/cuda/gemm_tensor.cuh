// Products of halves on tensor cores, with sums in float32: a block makes a BM x BN tile of the
// result, a warp a part of it in squares of 16 x 8, as mma.sync has them. Tiles of both factors, BK
// deep, pass through shared memory in STAGES stages: while one pair is multiplied, the next is on
// its way from memory, and one barrier a step is enough.
//
// Tiles lie in shared memory as their matrices do, and ldmatrix brings any layout into the
// registers of a warp. Rows are 16 bytes longer than the tile, so that the eight that are read at
// once meet different banks.
//
// THREADS are as many as gemm_tile.cuh takes: (BM / TM) * (BN / TN).
#pragma once
#include "async_copy.cuh"

using Half = unsigned short;  // its bits

constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kWarpCols = kThreads / 64;  // warps along a tile's row; there are two such rows
constexpr int kWarpM = BM / 2;            // of a warp's part
constexpr int kWarpN = BN / kWarpCols;
static_assert(kThreads % 64 == 0 && kWarpM % 16 == 0 && kWarpN % 16 == 0 && BK % 16 == 0);

constexpr int kDeepStride = BK + 8;  // of rows along the depth
constexpr int kStrideA = BM + 8;     // of A's rows across it
constexpr int kStrideB = BN + 8;
struct Stage {  // either layout takes no more than this
  Half a[(BM + 8) * kDeepStride];
  Half b[(BN + 8) * kDeepStride];
};
static_assert(STAGES >= 2 && STAGES * sizeof(Stage) <= 47 * 1024);

struct Accumulators {
  float at[kWarpM / 16][kWarpN / 8][4];
};

int part_row() { return int(threadIdx.x) / 32 / kWarpCols * kWarpM; }
int part_col() { return int(threadIdx.x) / 32 % kWarpCols * kWarpN; }

// Four squares of 8 x 8 halves; a thread gives the address of one of their rows.
template <bool kTurned>
void load_squares(unsigned (&squares)[4], const Half* row) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if constexpr (kTurned) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(squares[0]), "=r"(squares[1]), "=r"(squares[2]), "=r"(squares[3])
                 : "r"(at)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(squares[0]), "=r"(squares[1]), "=r"(squares[2]), "=r"(squares[3])
                 : "r"(at)
                 : "memory");
  }
}

#if KB_DTYPE_F16
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
#else
#define MMA "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
#endif
void add_product(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm(MMA " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <Layout A, Layout B>
void multiply_stage(Accumulators& acc, const Stage& stage) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < BK; k += 16) {
    unsigned a[kWarpM / 16][4];
#pragma unroll
    for (int i = 0; i < kWarpM / 16; ++i) {
      const int row = part_row() + i * 16 + lane / 8 % 2 * 8;
      const int depth = k + lane / 16 * 8;
      if constexpr (A == PLAIN) {
        load_squares<false>(a[i], &stage.a[(row + lane % 8) * kDeepStride + depth]);
      } else {
        load_squares<true>(a[i], &stage.a[(depth + lane % 8) * kStrideA + row]);
      }
    }
#pragma unroll
    for (int j = 0; j < kWarpN / 8; j += 2) {
      unsigned b[4];  // two of 16 x 8, one behind the other
      const int col = part_col() + j * 8 + lane / 16 * 8;
      const int depth = k + lane / 8 % 2 * 8;
      if constexpr (B == TRANSPOSED) {
        load_squares<false>(b, &stage.b[(col + lane % 8) * kDeepStride + depth]);
      } else {
        load_squares<true>(b, &stage.b[(depth + lane % 8) * kStrideB + col]);
      }
#pragma unroll
      for (int i = 0; i < kWarpM / 16; ++i) {
        add_product(acc.at[i][j], a[i], b[0], b[1]);
        add_product(acc.at[i][j + 1], a[i], b[2], b[3]);
      }
    }
  }
}

// Adds `steps` products of tiles; fetch(stage, step) starts the copies of one step's tiles and is
// called once for each, in order.
template <Layout A, Layout B, class Fetch>
void multiply(Accumulators& acc, Stage (&stages)[STAGES], int steps, Fetch fetch) {
#pragma unroll
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < steps) fetch(stages[s], s);
    close_group();
  }
  for (int step = 0; step < steps; ++step) {
    // After this barrier this step's tiles have arrived and no thread reads the last step's.
    wait_for_groups<STAGES - 2>();
    __syncthreads();
    const int next = step + STAGES - 1;
    if (next < steps) fetch(stages[next % STAGES], next);
    close_group();
    multiply_stage<A, B>(acc, stages[step % STAGES]);
  }
}

// Calls f(row, col, sums) for each piece of four neighbouring sums that becomes this thread's. mma
// leaves two neighbours of a row, and two of the row eight below, with each thread: two threads
// side by side swap, and have four of one row each.
template <class F>
void each_piece(const Accumulators& acc, F f) {
  const int lane = threadIdx.x % 32;
  const bool lower = lane % 2 == 1;
#pragma unroll
  for (int i = 0; i < kWarpM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < kWarpN / 8; ++j) {
      const float(&own)[4] = acc.at[i][j];
      const float x = __shfl_xor_sync(~0u, lower ? own[0] : own[2], 1);
      const float y = __shfl_xor_sync(~0u, lower ? own[1] : own[3], 1);
      const int row = part_row() + i * 16 + lane / 4 + (lower ? 8 : 0);
      const int col = part_col() + j * 8 + lane % 4 / 2 * 4;
      f(row, col, lower ? make_float4(x, y, own[2], own[3]) : make_float4(own[0], own[1], x, y));
    }
  }
}
