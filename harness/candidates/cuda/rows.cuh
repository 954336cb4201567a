// Rows of elements, moved four at a time, and sums and maxima over the threads that share a row.
#pragma once
#include "memory.cuh"

constexpr float kLowest = -3.402823466e38f;

// Elements 4 i .. 4 i + 3 of a row of kLength, `fill` beyond its end. Rows of a multiple of four
// all start where four elements may be moved at once.
template <int kLength, class T>
float4 load_piece(const T* __restrict__ row, int i, float fill) {
  if constexpr (kLength % 4 == 0) {
    return load4(row + 4 * i);
  } else {
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = 4 * i + j < kLength ? load(row + 4 * i + j) : fill;
    return make_float4(v[0], v[1], v[2], v[3]);
  }
}

// With kStream, what is written is not read again soon: it may leave the cache first.
template <int kLength, bool kStream = false, class T>
void store_piece(T* __restrict__ row, int i, float4 v) {
  if constexpr (kLength % 4 == 0) {
    if constexpr (kStream) {
      stream_store4(row + 4 * i, v);
    } else {
      store4(row + 4 * i, v);
    }
  } else {
    const float values[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (4 * i + j < kLength) store(row + 4 * i + j, values[j]);
    }
  }
}

template <int kLength, class T>
void stream_piece(T* __restrict__ row, int i, float4 v) {
  store_piece<kLength, true>(row, i, v);
}

float sum_of(float4 v) { return (v.x + v.y) + (v.z + v.w); }
float largest_of(float4 v) { return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)); }

float warp_sum(float v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}
float warp_max(float v) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, step));
  return v;
}

// Over threadIdx.x of a block kCount wide; every thread gets the result and every thread of the
// block must call. A width of 32 is a warp of its own, of which a block may hold several along y.
template <int kCount>
float group_sum(float value) {
  static_assert(kCount % 32 == 0 && kCount <= 1024);
  value = warp_sum(value);
  if constexpr (kCount > 32) {
    __shared__ float warps[kCount / 32];
    __syncthreads();  // an earlier result may still be being read
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    value = warp_sum(lane < kCount / 32 ? warps[lane] : 0.0f);
  }
  return value;
}
template <int kCount>
float group_max(float value) {
  static_assert(kCount % 32 == 0 && kCount <= 1024);
  value = warp_max(value);
  if constexpr (kCount > 32) {
    __shared__ float warps[kCount / 32];
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    value = warp_max(lane < kCount / 32 ? warps[lane] : kLowest);
  }
  return value;
}
