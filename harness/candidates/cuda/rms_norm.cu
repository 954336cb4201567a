// y = x / sqrt(mean(x^2) + eps), the mean over CHANNELS of x [BATCH, CHANNELS, PLANE]. x is read
// once: four threads share four neighbouring positions, each keeps every fourth channel of them in
// registers, and their sums of squares meet in shared memory. Neighbouring threads read
// neighbouring float4s at every channel.
#include "rows.cuh"

constexpr int kWidth = 64;
constexpr int kLanes = 4;
constexpr int kPieces = (PLANE + 3) / 4;
constexpr int kEach = (CHANNELS + kLanes - 1) / kLanes;
static_assert(kEach <= 24, "more channels than registers hold");

__global__ void __launch_bounds__(kWidth* kLanes)
    rms_norm(const KB_REAL* __restrict__ x, KB_REAL* __restrict__ y) {
  __shared__ float4 squares[kLanes][kWidth];
  const size_t position = size_t{blockIdx.x} * kWidth + threadIdx.x;
  const int lane = threadIdx.y;
  const bool inside = position < size_t{BATCH} * kPieces;
  const int piece = position % kPieces;
  const size_t start = position / kPieces * (size_t{CHANNELS} * PLANE);

  float4 v[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int channel = i * kLanes + lane;
    v[i] = float4{};
    if (inside && channel < CHANNELS) {
      v[i] = load_piece<PLANE>(x + start + size_t(channel) * PLANE, piece, 0.0f);
    }
  }
  float4 sum{};
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    sum.x += v[i].x * v[i].x;
    sum.y += v[i].y * v[i].y;
    sum.z += v[i].z * v[i].z;
    sum.w += v[i].w * v[i].w;
  }
  squares[lane][threadIdx.x] = sum;
  __syncthreads();
  if (!inside) return;
  sum = squares[0][threadIdx.x];
#pragma unroll
  for (int other = 1; other < kLanes; ++other) {
    const float4 s = squares[other][threadIdx.x];
    sum = make_float4(sum.x + s.x, sum.y + s.y, sum.z + s.z, sum.w + s.w);
  }
  constexpr float kPart = 1.0f / CHANNELS;
  const float4 scale = make_float4(rsqrtf(sum.x * kPart + 1e-5f), rsqrtf(sum.y * kPart + 1e-5f),
                                   rsqrtf(sum.z * kPart + 1e-5f), rsqrtf(sum.w * kPart + 1e-5f));
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int channel = i * kLanes + lane;
    if (channel < CHANNELS) {
      stream_piece<PLANE>(
          y + start + size_t(channel) * PLANE, piece,
          make_float4(v[i].x * scale.x, v[i].y * scale.y, v[i].z * scale.z, v[i].w * scale.w));
    }
  }
}
