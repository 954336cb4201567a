// Where the maximum over dimension 1 stands, the first of equals. Each thread keeps its best; those
// that share a column compare value first, row second.
#include "columns.cuh"

__global__ void __launch_bounds__(kWidth* kLanes)
    argmax_dim1(const KB_REAL* __restrict__ x, long long* __restrict__ y) {
  __shared__ float values[kLanes][kWidth];
  __shared__ int rows[kLanes][kWidth];
  const Column column(x);
  float best = column.inside ? column[0] : kLowest;
  int best_r = 0;
  int r = 0;
  for (; r + kUnroll <= column.rows; r += kUnroll) {
    float v[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) v[u] = column[r + u];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (v[u] > best) {
        best = v[u];
        best_r = r + u;
      }
    }
  }
  for (; r < column.rows; ++r) {
    const float v = column[r];
    if (v > best) {
      best = v;
      best_r = r;
    }
  }
  int best_row = best_r * kLanes + threadIdx.y;

  values[threadIdx.y][threadIdx.x] = best;
  rows[threadIdx.y][threadIdx.x] = best_row;
  __syncthreads();
  if (threadIdx.y == 0 && column.inside) {
#pragma unroll
    for (int lane = 1; lane < kLanes && lane < LENGTH; ++lane) {
      const float v = values[lane][threadIdx.x];
      const int row = rows[lane][threadIdx.x];
      if (v > best || (v == best && row < best_row)) {
        best = v;
        best_row = row;
      }
    }
    y[column.output] = best_row;
  }
}
