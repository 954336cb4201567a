// The mean of COUNT numbers, by one block.
#include "rows.cuh"

__global__ void __launch_bounds__(THREADS)
    mean(const float* __restrict__ x, KB_REAL* __restrict__ y) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < (COUNT + 3) / 4; i += THREADS) {
    sum += sum_of(load_piece<COUNT>(x, i, 0.0f));
  }
  sum = group_sum<THREADS>(sum);
  if (threadIdx.x == 0) store(y, sum / float(COUNT));
}
