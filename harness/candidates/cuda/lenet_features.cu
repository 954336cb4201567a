// LeNet-5's convolutional part in one launch: convolution, ReLU and pooling, twice, for IMAGES
// images a block, with everything between in shared memory. A thread computes the four convolution
// outputs that one pooled value needs from one 6x6 patch in registers, for several channels at
// once; ReLU comes after the maximum, which gives the same. Weights come transposed by a setup
// step, channels last (six padded to eight).
#include "memory.cuh"

constexpr int kImages = 2;
constexpr int kThreads = kImages * 25 * 4;  // positions x groups of channels in the second half

// The 6x6 patch of a plane at an even position; 2x2 outputs of a 5x5 convolution lie in it.
struct Patch {
  float at[6][6];

  Patch(const float* plane, int width, int row, int col) {
#pragma unroll
    for (int i = 0; i < 6; ++i) {
#pragma unroll
      for (int j = 0; j < 6; j += 2) {  // rows start at even floats
        const float2 pair =
            *reinterpret_cast<const float2*>(&plane[(2 * row + i) * width + 2 * col + j]);
        at[i][j] = pair.x;
        at[i][j + 1] = pair.y;
      }
    }
  }
};

// The four outputs of kChannels channels.
template <int kChannels>
struct Sums {
  float at[4][kChannels] = {};

  // Tap (i, j), whose weights stand side by side.
  void add(const Patch& patch, int i, int j, const float* weights) {
#pragma unroll
    for (int c = 0; c < kChannels; c += 2) {
      const float2 w = *reinterpret_cast<const float2*>(weights + c);
#pragma unroll
      for (int o = 0; o < 4; ++o) {
        const float v = patch.at[i + o / 2][j + o % 2];
        at[o][c] = fmaf(v, w.x, at[o][c]);
        at[o][c + 1] = fmaf(v, w.y, at[o][c + 1]);
      }
    }
  }
  float pooled(int c, float bias) const {
    return fmaxf(fmaxf(fmaxf(at[0][c], at[1][c]), fmaxf(at[2][c], at[3][c])) + bias, 0.0f);
  }
};

// x is [BATCH, 32, 32], weight1 [25, 8], weight2 [150, 16], y [BATCH, 400].
__global__ void __launch_bounds__(kThreads, 2)
    lenet_features(const KB_REAL* __restrict__ x, const KB_REAL* __restrict__ weight1,
                   const KB_REAL* __restrict__ bias1, const KB_REAL* __restrict__ weight2,
                   const KB_REAL* __restrict__ bias2, KB_REAL* __restrict__ y) {
  __shared__ __align__(16) float image[kImages][32 * 32];
  __shared__ __align__(16) float half_way[kImages][6][14 * 14];
  __shared__ __align__(16) float w1[25 * 8];
  __shared__ __align__(16) float w2[150 * 16];
  const int t = threadIdx.x;
  const int first_image = blockIdx.x * kImages;

  for (int i = t; i < kImages * 256; i += kThreads) {
    const int n = i / 256;
    float4 v{};
    if (first_image + n < BATCH) {
      v = load4(x + size_t(first_image + n) * 1024 + i % 256 * 4);
    }
    reinterpret_cast<float4*>(image[n])[i % 256] = v;
  }
  for (int i = t; i < 25 * 8; i += kThreads) w1[i] = load(weight1 + i);
  for (int i = t; i < 150 * 4; i += kThreads) {
    reinterpret_cast<float4*>(w2)[i] = load4(weight2 + 4 * i);
  }
  __syncthreads();

  // 1 -> 6 channels, 32 -> 28 -> 14: a thread makes all channels of a position.
  for (int p = t; p < kImages * 196; p += kThreads) {
    // Else the weights, the same in each turn, are all kept in registers, more than there are.
    asm volatile("" ::: "memory");
    const int n = p / 196;
    const int position = p % 196;
    const Patch patch(image[n], 32, position / 14, position % 14);
    Sums<6> sums;
#pragma unroll
    for (int tap = 0; tap < 25; ++tap) sums.add(patch, tap / 5, tap % 5, &w1[tap * 8]);
#pragma unroll
    for (int c = 0; c < 6; ++c) half_way[n][c][position] = sums.pooled(c, load(bias1 + c));
  }
  __syncthreads();

  // 6 -> 16 channels, 14 -> 10 -> 5: a thread makes four channels of a position.
  const int n = t / 100;
  const int position = t % 25;
  const int first = t / 25 % 4 * 4;
  Sums<4> sums;
  for (int c = 0; c < 6; ++c) {
    const Patch patch(half_way[n][c], 14, position / 5, position % 5);
#pragma unroll
    for (int tap = 0; tap < 25; ++tap) {
      sums.add(patch, tap / 5, tap % 5, &w2[(c * 25 + tap) * 16 + first]);
    }
  }
  if (first_image + n >= BATCH) return;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    store(y + size_t(first_image + n) * 400 + (first + c) * 25 + position,
          sums.pooled(c, load(bias2 + first + c)));
  }
}
