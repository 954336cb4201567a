// Cross entropy, first launch: the loss of each row of x [ROWS, COLS], ln(sum(exp(x))) - x[target].
// Rows are laid out over a block as in softmax.cu.
#include "softmax_row.cuh"

__global__ void __launch_bounds__(THREADS* TEAMS)
    row_losses(const KB_REAL* __restrict__ x, const long long* __restrict__ target,
               float* __restrict__ loss) {
  static_assert(TEAMS == 1 || THREADS == 32);
  const size_t number = size_t{blockIdx.x} * TEAMS + threadIdx.y;
  if (number >= ROWS) return;
  const KB_REAL* from = x + number * COLS;
  const Row row = read_row(from);
  if (threadIdx.x == 0) {
    loss[number] = logf(row.sum) + row.largest - load(from + target[number]);
  }
}
