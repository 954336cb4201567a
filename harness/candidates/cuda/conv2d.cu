// 2-D convolution with bias and what follows it, as a matrix product that never builds its second
// factor: output channels x pixels, summed over input channels and taps. Pixels are counted through
// the whole batch, so that no tile is cut at an image's end. A thread gathers for one pixel of the
// tile. In float32 a step of the product takes TAP_ROWS rows of one input channel's taps: which tap
// is which is then known to the compiler, and each is copied from a fixed distance. Halves are
// multiplied on tensor cores, 32 taps a step. The weight comes transposed by a setup step,
// [IN_C * KERNEL * KERNEL, PADDED_C], padded with zeros to whole tiles.
//
// y = conv(x) + bias, or with ADD_AFTER_RELU: relu(conv(x) + bias) + added.
// Grid: pixel tiles, channel tiles.
#if KB_DTYPE_F32
#define BK (TAP_ROWS * KERNEL)
#else
#define BK 32
#endif
#include "memory.cuh"
#include "products.cuh"

constexpr int kPixels = OUT_H * OUT_W;
static_assert(kThreads == BN, "a thread gathers for one pixel");

#if KB_DTYPE_F32
constexpr int kParts = KERNEL / TAP_ROWS;  // steps of one input channel
constexpr int kSteps = IN_C * kParts;
static_assert(KERNEL % TAP_ROWS == 0);
#else
constexpr int kTaps = KERNEL * KERNEL;
constexpr int kDepth = IN_C * kTaps;
constexpr int kSteps = (kDepth + BK - 1) / BK;
#endif

void fetch_weight(Stage& stage, const KB_REAL* weight, int first_channel, int step) {
  each_copy<BK, BM, 16 / sizeof(KB_REAL)>([&](int k, int channel) {
    const KB_REAL* from = weight + (step * BK + k) * PADDED_C + first_channel + channel;
#if KB_DTYPE_F32
    copy_async<16>(&stage.a[k][channel], from, true);
#else
    copy_async<16>(&stage.a[k * kStrideA + channel], from, step * BK + k < kDepth);
#endif
  });
}

// Where a thread's pixel takes its taps from: the image, the patch's first position in it, and
// which columns of the patch lie inside.
struct Patch {
  const KB_REAL* image;
  int row, col;
  bool inside;
  unsigned cols;

  Patch(const KB_REAL* x, int pixel) {
    inside = pixel < BATCH * kPixels;
    image = x + size_t(pixel / kPixels) * (IN_C * IN_H * IN_W);
    row = pixel % kPixels / OUT_W * STRIDE - PADDING;
    col = pixel % kPixels % OUT_W * STRIDE - PADDING;
    cols = 0;
    for (int dx = 0; dx < KERNEL; ++dx) cols |= unsigned(col + dx >= 0 && col + dx < IN_W) << dx;
  }

#if KB_DTYPE_F32
  void fetch(Stage& stage, int step) const {
    const int first_row = row + step % kParts * TAP_ROWS;
    const float* plane = image + step / kParts * (IN_H * IN_W);
#pragma unroll
    for (int dy = 0; dy < TAP_ROWS; ++dy) {
      const int at = first_row + dy;
      const bool row_inside = inside && (PADDING == 0 || (at >= 0 && at < IN_H));
      const float* from = plane + (at * IN_W + col);
#pragma unroll
      for (int dx = 0; dx < KERNEL; ++dx) {
        const bool valid = row_inside && (PADDING == 0 || (cols >> dx & 1));
        copy_async<4>(&stage.b[dy * KERNEL + dx][threadIdx.x], from + dx, valid);
      }
    }
  }
#else
  void fetch(Stage& stage, int step) const {
    Half taps[BK];
#pragma unroll
    for (int i = 0; i < BK; ++i) {
      const int k = step * BK + i;
      const int dy = k % kTaps / KERNEL;
      const int dx = k % KERNEL;
      const int at = row + dy;
      const bool valid =
          inside && k < kDepth && (PADDING == 0 || (at >= 0 && at < IN_H && (cols >> dx & 1)));
      const KB_REAL* from = image + (k / kTaps * IN_H + at) * IN_W + col + dx;
      taps[i] = valid ? *reinterpret_cast<const Half*>(from) : Half(0);
    }
#pragma unroll
    for (int i = 0; i < BK; i += 8) {
      uint4 eight;
      eight.x = taps[i] | unsigned(taps[i + 1]) << 16;
      eight.y = taps[i + 2] | unsigned(taps[i + 3]) << 16;
      eight.z = taps[i + 4] | unsigned(taps[i + 5]) << 16;
      eight.w = taps[i + 6] | unsigned(taps[i + 7]) << 16;
      *reinterpret_cast<uint4*>(&stage.b[threadIdx.x * kDeepStride + i]) = eight;
    }
  }
#endif
};

__global__ void __launch_bounds__(kThreads)
    conv2d(const KB_REAL* __restrict__ x, const KB_REAL* __restrict__ weight,
           const KB_REAL* __restrict__ bias,
#if ADD_AFTER_RELU
           const KB_REAL* __restrict__ added,
#endif
           KB_REAL* __restrict__ y) {
  __shared__ __align__(16) Stage stages[STAGES];
  const int first_pixel = blockIdx.x * BN;
  const int first_channel = blockIdx.y * BM;
  const Patch patch(x, first_pixel + threadIdx.x);
  Accumulators acc{};
  multiply<TRANSPOSED, TRANSPOSED>(acc, stages, kSteps, [&](Stage& stage, int step) {
    fetch_weight(stage, weight, first_channel, step);
    patch.fetch(stage, step);
  });

  const auto finish = [=](float v, int channel) {
#if ADD_AFTER_RELU
    return fmaxf(v + load(bias + channel), 0.0f) + load(added + channel);
#else
    return v + load(bias + channel);
#endif
  };
  each_piece(acc, [&](int row, int col, float4 sums) {
    const int channel = first_channel + row;
    const int pixel = first_pixel + col;
    if (channel >= OUT_C) return;
    const float v[4] = {finish(sums.x, channel), finish(sums.y, channel), finish(sums.z, channel),
                        finish(sums.w, channel)};
    if constexpr (kPixels % 4 == 0) {
      // Four neighbouring pixels belong to one image.
      if (pixel >= BATCH * kPixels) return;
      const size_t plane = size_t(pixel / kPixels) * OUT_C + channel;
      stream_store4(y + plane * kPixels + pixel % kPixels, make_float4(v[0], v[1], v[2], v[3]));
    } else {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int p = pixel + e;
        if (p >= BATCH * kPixels) continue;
        const size_t plane = size_t(p / kPixels) * OUT_C + channel;
        store(y + plane * kPixels + p % kPixels, v[e]);
      }
    }
  });
}
