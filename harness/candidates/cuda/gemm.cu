// Products of row-major matrices, C [ROWS, COLS] = A [ROWS, DEPTH] times B [DEPTH, COLS], or B
// TRANSPOSED [COLS, DEPTH], as a linear layer's weight is stored. What follows the product runs on
// the sums while they are still in registers. Four kernels:
//   product        C = A B, for a batch
//   root_product   C = A B / sqrt(DEPTH), for a batch, as attention takes its scores
//   linear         C = activation(scale * (A B + bias))
//   partial        sums over a part of the depth, of PARTS parts, into [PARTS, ROWS, COLS]; for a
//                  product of too few tiles to fill a device. combine.cu does the rest.
// Grid: row tiles, column tiles, then batch or parts. Row tiles run fastest, so blocks that run
// together share a piece of B, the larger factor where it is a weight.
#include "activation.cuh"
#include "products.cuh"
#include "rows.cuh"

constexpr int kSteps = (DEPTH + BK - 1) / BK;

#if KB_DTYPE_F32
static_assert(kThreads % BK == 0);

// A tile of a matrix [kRows, DEPTH], kWidth of its rows from `first`: copied float by float, each
// run along the depth down a column of the stage.
template <int kWidth, int kRows>
void fetch_rows(float (&tile)[BK][kWidth + 4], const float* matrix, int first, int k0) {
  static_assert(kWidth * BK % kThreads == 0);
  const int k = threadIdx.x % BK;
  const int row = threadIdx.x / BK;
  const bool valid = DEPTH % BK == 0 || k0 + k < DEPTH;
  const float* from = matrix + size_t(first + row) * DEPTH + (k0 + k);
#pragma unroll
  for (int r = 0; r < kWidth; r += kThreads / BK) {
    copy_async<4>(&tile[k][row + r], from + size_t(r) * DEPTH,
                  valid && (kRows % kWidth == 0 || first + row + r < kRows));
  }
}

// A tile of a matrix [DEPTH, COLS], which is depth-first already: four floats at a time where its
// rows allow.
void fetch_columns(float (&tile)[BK][BN + 4], const float* matrix, int first, int k0) {
  constexpr int kPiece = COLS % 4 == 0 ? 4 : 1;
  constexpr int kAlong = BN / kPiece;
  static_assert(kThreads % kAlong == 0 && BK * kAlong % kThreads == 0);
  const int col = threadIdx.x % kAlong * kPiece;
  const int row = threadIdx.x / kAlong;
  const bool valid = COLS % BN == 0 || first + col < COLS;
  const float* from = matrix + size_t(k0 + row) * COLS + (first + col);
#pragma unroll
  for (int k = 0; k < BK; k += kThreads / kAlong) {
    copy_async<4 * kPiece>(&tile[row + k][col], from + size_t(k) * COLS,
                           valid && (DEPTH % BK == 0 || k0 + row + k < DEPTH));
  }
}

#else

// Of a matrix [kRows, kLength] the tile [kHeight, kWidth] that begins at `row` and `col`, into rows
// of kStride in a stage; as many halves at once as the matrix's rows allow.
template <int kHeight, int kWidth, int kStride, int kRows, int kLength>
void fetch_tile(Half* tile, const KB_REAL* matrix, int row, int col) {
  constexpr int kPiece = kLength % 8 == 0 ? 8 : kLength % 4 == 0 ? 4 : kLength % 2 == 0 ? 2 : 1;
  each_copy<kHeight, kWidth, kPiece>([&](int y, int x) {
    const bool valid =
        (kRows % kHeight == 0 || row + y < kRows) && (kLength % kWidth == 0 || col + x < kLength);
    copy_async<2 * kPiece>(&tile[y * kStride + x], matrix + size_t(row + y) * kLength + (col + x),
                           valid);
  });
}

template <int kWidth, int kRows>
void fetch_rows(Half* tile, const KB_REAL* matrix, int first, int k0) {
  fetch_tile<kWidth, BK, kDeepStride, kRows, DEPTH>(tile, matrix, first, k0);
}

void fetch_columns(Half* tile, const KB_REAL* matrix, int first, int k0) {
  fetch_tile<BK, BN, kStrideB, DEPTH, COLS>(tile, matrix, k0, first);
}

#endif

// Depths first_step * BK and on, `steps` of them; then each piece of four sums goes through
// `finish(piece, col)` into c.
template <Layout B, class T, class Finish>
void run(const KB_REAL* __restrict__ a, const KB_REAL* __restrict__ b, T* __restrict__ c,
         int first_step, int steps, Finish finish) {
  __shared__ __align__(16) Stage stages[STAGES];
  const int first_row = blockIdx.x * BM;
  const int first_col = blockIdx.y * BN;
  Accumulators acc{};
  multiply<PLAIN, B>(acc, stages, steps, [&](Stage& stage, int step) {
    const int k0 = (first_step + step) * BK;
    fetch_rows<BM, ROWS>(stage.a, a, first_row, k0);
    if constexpr (B == TRANSPOSED) {
      fetch_rows<BN, COLS>(stage.b, b, first_col, k0);
    } else {
      fetch_columns(stage.b, b, first_col, k0);
    }
  });
  each_piece(acc, [&](int row, int col, float4 sums) {
    row += first_row;
    col += first_col;
    if (row >= ROWS || col >= COLS) return;
    store_piece<COLS>(c + size_t(row) * COLS, col / 4, finish(sums, col));
  });
}

template <Layout B>
__global__ void __launch_bounds__(kThreads)
    product(const KB_REAL* __restrict__ a, const KB_REAL* __restrict__ b, KB_REAL* __restrict__ c) {
  const size_t batch = blockIdx.z;
  run<B>(a + batch * (size_t(ROWS) * DEPTH), b + batch * (size_t(DEPTH) * COLS),
         c + batch * (size_t(ROWS) * COLS), 0, kSteps, [](float4 v, int) { return v; });
}

template <Layout B>
__global__ void __launch_bounds__(kThreads)
    root_product(const KB_REAL* __restrict__ a, const KB_REAL* __restrict__ b,
                 KB_REAL* __restrict__ c) {
  const size_t batch = blockIdx.z;
  const float scale = rsqrtf(float(DEPTH));
  run<B>(a + batch * (size_t(ROWS) * DEPTH), b + batch * (size_t(DEPTH) * COLS),
         c + batch * (size_t(ROWS) * COLS), 0, kSteps, [scale](float4 v, int) {
           return make_float4(scale * v.x, scale * v.y, scale * v.z, scale * v.w);
         });
}

template <Activation A>
__global__ void __launch_bounds__(kThreads)
    linear(const KB_REAL* __restrict__ x, const KB_REAL* __restrict__ weight,
           const KB_REAL* __restrict__ bias, KB_REAL* __restrict__ y, float scale,
           float parameter) {
  run<TRANSPOSED>(x, weight, y, 0, kSteps, [=](float4 v, int col) {
    const float4 b = load_piece<COLS>(bias, col / 4, 0.0f);
    return activate<A>(make_float4(scale * (v.x + b.x), scale * (v.y + b.y), scale * (v.z + b.z),
                                   scale * (v.w + b.w)),
                       parameter);
  });
}

template <int kParts>
__global__ void __launch_bounds__(kThreads)
    partial(const KB_REAL* __restrict__ x, const KB_REAL* __restrict__ weight,
            float* __restrict__ parts) {
  constexpr int kEach = (kSteps + kParts - 1) / kParts;
  static_assert(kEach * (kParts - 1) < kSteps, "a part is empty");
  const int first = blockIdx.z * kEach;
  run<TRANSPOSED>(x, weight, parts + blockIdx.z * (size_t(ROWS) * COLS), first,
                  min(kEach, kSteps - first), [](float4 v, int) { return v; });
}
