// Normalisation, first launch: mean and sum of squared deviations of every segment, into moments
// [PLANES, SEGMENTS]. Squares are taken around the segment's first value, which is near enough to
// the mean that nothing cancels, and one reading is enough.
#include "segments.cuh"

__global__ void __launch_bounds__(kThreads)
    segment_moments(const KB_REAL* __restrict__ x, float2* __restrict__ moments) {
  const int plane = blockIdx.x;
  const int segment = blockIdx.y;
  const KB_REAL* start = x + size_t(plane) * PLANE;
  const int first = segment * (SEGMENT / 4);
  const int pieces = segment_pieces(segment);

  const float shift = load(start + segment * SEGMENT);
  float sum = 0.0f;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < pieces; i += kUnroll * kThreads) {
    float4 v[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int piece = i + u * kThreads;
      v[u] = piece < pieces ? load_piece<PLANE>(start, first + piece, shift)
                            : make_float4(shift, shift, shift, shift);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const float4 d = make_float4(v[u].x - shift, v[u].y - shift, v[u].z - shift, v[u].w - shift);
      sum += sum_of(d);
      squares += (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w);
    }
  }
  const float count = segment_length(segment);
  sum = group_sum<kThreads>(sum);
  squares = group_sum<kThreads>(squares);
  if (threadIdx.x == 0) {
    moments[plane * SEGMENTS + segment] =
        make_float2(shift + sum / count, squares - sum * sum / count);
  }
}
