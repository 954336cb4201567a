// LeNet-5's three linear layers in one launch, eight images a block: a thread makes one output of a
// layer for all eight, so that a weight is read once for them. Activations stay in shared memory,
// images side by side. Weights come transposed by a setup step, so that neighbouring threads read
// neighbouring floats.
#include "memory.cuh"

constexpr int kImages = 8;
constexpr int kThreads = 128;

struct Images {
  float at[kImages];
};

Images relu(Images v) {
#pragma unroll
  for (int n = 0; n < kImages; ++n) v.at[n] = fmaxf(v.at[n], 0.0f);
  return v;
}

// Output `o` of a layer: weight is [kDepth, kWidth].
template <int kDepth, int kWidth>
Images layer(const Images* inputs, const KB_REAL* __restrict__ weight,
             const KB_REAL* __restrict__ bias, int o) {
  Images sums;
#pragma unroll
  for (int n = 0; n < kImages; ++n) sums.at[n] = load(bias + o);
#pragma unroll 4
  for (int k = 0; k < kDepth; ++k) {
    const float w = load(weight + k * kWidth + o);
#pragma unroll
    for (int n = 0; n < kImages; n += 4) {
      const float4 v = *reinterpret_cast<const float4*>(&inputs[k].at[n]);
      sums.at[n] = fmaf(v.x, w, sums.at[n]);
      sums.at[n + 1] = fmaf(v.y, w, sums.at[n + 1]);
      sums.at[n + 2] = fmaf(v.z, w, sums.at[n + 2]);
      sums.at[n + 3] = fmaf(v.w, w, sums.at[n + 3]);
    }
  }
  return sums;
}

// x is [BATCH, 400], the weights [400, 120], [120, 84] and [84, CLASSES], y [BATCH, CLASSES].
__global__ void __launch_bounds__(kThreads)
    lenet_classifier(const KB_REAL* __restrict__ x, const KB_REAL* __restrict__ weight1,
                     const KB_REAL* __restrict__ bias1, const KB_REAL* __restrict__ weight2,
                     const KB_REAL* __restrict__ bias2, const KB_REAL* __restrict__ weight3,
                     const KB_REAL* __restrict__ bias3, KB_REAL* __restrict__ y) {
  __shared__ __align__(16) Images features[400];
  __shared__ __align__(16) Images hidden1[120];
  __shared__ __align__(16) Images hidden2[84];
  const int t = threadIdx.x;
  const int first_image = blockIdx.x * kImages;
  for (int i = t; i < kImages * 400; i += kThreads) {
    const int n = i / 400;
    features[i % 400].at[n] =
        first_image + n < BATCH ? load(x + size_t(first_image + n) * 400 + i % 400) : 0.0f;
  }
  __syncthreads();
  if (t < 120) hidden1[t] = relu(layer<400, 120>(features, weight1, bias1, t));
  __syncthreads();
  if (t < 84) hidden2[t] = relu(layer<120, 84>(hidden1, weight2, bias2, t));
  __syncthreads();
  for (int o = t; o < CLASSES; o += kThreads) {
    const Images sums = layer<84, CLASSES>(hidden2, weight3, bias3, o);
#pragma unroll
    for (int n = 0; n < kImages; ++n) {
      if (first_image + n >= BATCH) continue;
      store(y + size_t(first_image + n) * CLASSES + o, sums.at[n]);
    }
  }
}
