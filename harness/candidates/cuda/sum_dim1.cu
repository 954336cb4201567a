// Sum over dimension 1.
#include "columns.cuh"

__global__ void __launch_bounds__(kWidth* kLanes)
    sum_dim1(const KB_REAL* __restrict__ x, KB_REAL* __restrict__ y) {
  __shared__ float lanes[kLanes][kWidth];
  const Column column(x);
  float total = 0.0f;
  int r = 0;
  for (; r + kUnroll <= column.rows; r += kUnroll) {
    float v[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) v[u] = column[r + u];
    total += ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
  }
  for (; r < column.rows; ++r) total += column[r];

  lanes[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y == 0 && column.inside) {
#pragma unroll
    for (int lane = 1; lane < kLanes; ++lane) total += lanes[lane][threadIdx.x];
    store(y + column.output, total);
  }
}
