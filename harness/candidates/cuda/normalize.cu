// Normalisation, second launch: y = (x - mean) / sqrt(variance + eps) * weight + bias. Each block
// first merges the segments' moments of the planes its own shares statistics with. By channel
// (batch norm) these are a channel's planes through the batch, and weight and bias are one number;
// otherwise (layer norm) it is this plane alone, and every element has its own.
//
// Blocks go from the last plane to the first: what the first launch read last, the cache may hold.
#include "segments.cuh"

enum Statistics { BY_CHANNEL, BY_PLANE };

// Mean and 1 / sqrt(variance + eps) of kSharers planes: first_plane, first_plane + step, ...
template <int kSharers>
float2 mean_and_scale(const float2* __restrict__ moments, int first_plane, int step) {
  constexpr int kPartials = kSharers * SEGMENTS;
  constexpr float kCount = float(kSharers) * float(PLANE);
  const auto partial = [=](int i) {
    return moments[(first_plane + i / SEGMENTS * step) * SEGMENTS + i % SEGMENTS];
  };
  float sum = 0.0f;
  for (int i = threadIdx.x; i < kPartials; i += kThreads) {
    sum += partial(i).x * (segment_length(i % SEGMENTS) / kCount);
  }
  const float mean = group_sum<kThreads>(sum);
  float squares = 0.0f;
  for (int i = threadIdx.x; i < kPartials; i += kThreads) {
    const float2 p = partial(i);
    const float d = p.x - mean;
    squares += p.y + d * d * segment_length(i % SEGMENTS);
  }
  return make_float2(mean, rsqrtf(group_sum<kThreads>(squares) / kCount + 1e-5f));
}

template <Statistics S>
__global__ void __launch_bounds__(kThreads)
    normalize(const KB_REAL* __restrict__ x, const float2* __restrict__ moments,
              const KB_REAL* __restrict__ weight, const KB_REAL* __restrict__ bias,
              KB_REAL* __restrict__ y) {
  const int plane = PLANES - 1 - blockIdx.x;
  const int segment = SEGMENTS - 1 - blockIdx.y;
  const KB_REAL* from = x + size_t(plane) * PLANE;
  KB_REAL* to = y + size_t(plane) * PLANE;
  const int first = segment * (SEGMENT / 4);
  const int pieces = segment_pieces(segment);

  constexpr int kSharers = S == BY_CHANNEL ? PLANES / CHANNELS : 1;
  const int channel = plane % CHANNELS;
  const float2 statistics = mean_and_scale<kSharers>(moments, S == BY_CHANNEL ? channel : plane,
                                                     S == BY_CHANNEL ? CHANNELS : 0);
  const float mean = statistics.x;
  const float scale = statistics.y;
  const float channel_weight = S == BY_CHANNEL ? load(weight + channel) : 0.0f;
  const float channel_bias = S == BY_CHANNEL ? load(bias + channel) : 0.0f;

  for (int i = threadIdx.x; i < pieces; i += kUnroll * kThreads) {
    float4 v[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int piece = i + u * kThreads;
      if (piece < pieces) v[u] = load_piece<PLANE>(from, first + piece, 0.0f);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int piece = first + i + u * kThreads;
      if (i + u * kThreads >= pieces) continue;
      float4 w = make_float4(channel_weight, channel_weight, channel_weight, channel_weight);
      float4 b = make_float4(channel_bias, channel_bias, channel_bias, channel_bias);
      if constexpr (S == BY_PLANE) {
        w = load_piece<PLANE>(weight, piece, 0.0f);
        b = load_piece<PLANE>(bias, piece, 0.0f);
      }
      stream_piece<PLANE>(
          to, piece,
          make_float4((v[u].x - mean) * scale * w.x + b.x, (v[u].y - mean) * scale * w.y + b.y,
                      (v[u].z - mean) * scale * w.z + b.z, (v[u].w - mean) * scale * w.w + b.w));
    }
  }
}
