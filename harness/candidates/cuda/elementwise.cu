// y = activation(x). A block owns PIECES * 256 neighbouring KB_REAL4s, a thread PIECES of them, all
// loaded before the first is needed. What does not fill a KB_REAL4 at the very end is done one by
// one.
#include "activation.cuh"

constexpr int kThreads = 256;

template <Activation A>
__global__ void __launch_bounds__(kThreads)
    elementwise(const KB_REAL* __restrict__ x, KB_REAL* __restrict__ y, size_t count) {
  const size_t first = size_t{blockIdx.x} * (PIECES * kThreads) + threadIdx.x;
  const size_t whole = count / 4;
  const KB_REAL4* from = reinterpret_cast<const KB_REAL4*>(x);
  KB_REAL4* to = reinterpret_cast<KB_REAL4*>(y);
  if (first + (PIECES - 1) * kThreads < whole) {
    float4 v[PIECES];
#pragma unroll
    for (int p = 0; p < PIECES; ++p) v[p] = KB_TO_FLOAT4(from[first + p * kThreads]);
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      to[first + p * kThreads] = KB_FROM_FLOAT4(activate<A>(v[p]));
    }
    return;
  }
  for (int p = 0; p < PIECES; ++p) {
    const size_t piece = first + p * kThreads;
    if (piece < whole) {
      to[piece] = KB_FROM_FLOAT4(activate<A>(KB_TO_FLOAT4(from[piece])));
    } else if (piece == whole) {
      for (size_t i = 4 * piece; i < count; ++i) {
        y[i] = KB_FROM_FLOAT(activate<A>(KB_TO_FLOAT(x[i])));
      }
    }
  }
}
