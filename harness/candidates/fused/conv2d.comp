// 2-D convolution with bias and what follows it, as a matrix product that never builds its second
// factor: output channels x pixels, DEPTH = IN_C * KERNEL * KERNEL deep. The pixels' patches are
// gathered from x while the tile is loaded. Pixels are counted through the whole batch, so that no
// tile is cut at an image's end. The weight comes transposed by a setup step, [DEPTH, OUT_C],
// padded with zeros to whole tiles: its loads need no checks.
//
// y = conv(x) + bias, or with ADD_AFTER_RELU: relu(conv(x) + bias) + added. Grid: pixel tiles
// folded into x and y, channel tiles along z.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "gemm_tile.glsl"

layout(std430, set = 0, binding = 0) restrict readonly buffer X { KB_REAL x[]; };
layout(std430, set = 0, binding = 1) restrict readonly buffer Weight { vec4 weight[]; };
layout(std430, set = 0, binding = 2) restrict readonly buffer Bias { KB_REAL bias[]; };
#if OUT_H * OUT_W % 4 == 0
layout(std430, set = 0, binding = 3) restrict writeonly buffer Y { KB_REAL4 y[]; };
#else
layout(std430, set = 0, binding = 3) restrict writeonly buffer Y { KB_REAL y[]; };
#endif
#if ADD_AFTER_RELU
layout(std430, set = 0, binding = 4) restrict readonly buffer Added { KB_REAL added[]; };
#endif

#define DEPTH (IN_C * KERNEL * KERNEL)
#define PIXELS (OUT_H * OUT_W)
#define A_LOADS ((BM * BK / 4 + THREADS - 1) / THREADS)
#define B_LOADS (BK * BN / THREADS)
// A thread gathers for one pixel of the tile, every K_STEP-th step of the depth.
#define K_STEP (THREADS / BN)

vec4 from_a[A_LOADS];
float from_b[B_LOADS];

void fetch_weight(uint first_channel, uint k0) {
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    if (BM * BK / 4 % THREADS != 0 && i >= BM * BK / 4) break;
    uint k = k0 + i / (BM / 4);
    from_a[l] = weight[(k * PADDED_C + first_channel) / 4 + i % (BM / 4)];
  }
}

// `corner` is the patch's first position in the image, `image` the index of the image's first
// element of x.
void fetch_patch(bool inside, uint image, ivec2 corner, uint k0) {
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    uint k = k0 + l * K_STEP + gl_LocalInvocationIndex / BN;
    uint tap = k % (KERNEL * KERNEL);
    ivec2 at = corner + ivec2(tap % KERNEL, tap / KERNEL);
    bool valid = inside;
    if (DEPTH % BK != 0) valid = valid && k < DEPTH;
    if (PADDING != 0) {
      valid = valid && at.x >= 0 && at.x < IN_W && at.y >= 0 && at.y < IN_H;
    }
    uint channel = k / (KERNEL * KERNEL);
    from_b[l] = 0.0;
    if (valid) from_b[l] = KB_TO_FLOAT(x[image + (channel * IN_H + at.y) * IN_W + at.x]);
  }
}

void store_tiles(uint stage) {
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    if (BM * BK / 4 % THREADS != 0 && i >= BM * BK / 4) break;
    uint k = i / (BM / 4);
    tile_a[stage][k][swizzled(k, i % (BM / 4))] = from_a[l];
  }
  uint pixel = gl_LocalInvocationIndex % BN;
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    uint k = l * K_STEP + gl_LocalInvocationIndex / BN;
    tile_b[stage][k][swizzled(k, pixel / 4)][pixel % 4] = from_b[l];
  }
}

vec4 epilogue(vec4 v, uint channel) {
  v += KB_TO_FLOAT(bias[channel]);
#if ADD_AFTER_RELU
  v = max(v, vec4(0.0)) + KB_TO_FLOAT(added[channel]);
#endif
  return v;
}

void main() {
  uint first_pixel = folded_group() * BN;
  if (first_pixel >= BATCH * PIXELS) return;
  uint first_channel = gl_WorkGroupID.z * BM;

  uint mine = first_pixel + gl_LocalInvocationIndex % BN;
  bool inside = mine < BATCH * PIXELS;
  uint image = mine / PIXELS * (IN_C * IN_H * IN_W);
  ivec2 corner = ivec2(mine % PIXELS % OUT_W, mine % PIXELS / OUT_W) * STRIDE - PADDING;

  clear_acc();
  fetch_weight(first_channel, 0);
  fetch_patch(inside, image, corner, 0);
  store_tiles(0);
  barrier();
  uint stage = 0;
  for (uint k0 = BK; k0 < DEPTH; k0 += BK) {
    fetch_weight(first_channel, k0);
    fetch_patch(inside, image, corner, k0);
    multiply_tiles(stage);
    stage ^= 1;
    store_tiles(stage);
    barrier();
  }
  multiply_tiles(stage);

  [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
    uint pixel = first_pixel + tile_col(j);
    [[unroll]] for (uint i = 0; i < TM; ++i) {
      uint channel = first_channel + tile_row(i);
      if (channel >= OUT_C) continue;
      vec4 v = epilogue(acc[i][j], channel);
#if OUT_H * OUT_W % 4 == 0
      // Four neighbouring pixels belong to one plane, whose rows of memory are theirs.
      if (pixel < BATCH * PIXELS) {
        y[((pixel / PIXELS * OUT_C + channel) * PIXELS + pixel % PIXELS) / 4] =
            KB_FROM_FLOAT4(v);
      }
#else
      [[unroll]] for (uint e = 0; e < 4; ++e) {
        uint p = pixel + e;
        if (p < BATCH * PIXELS) {
          y[(p / PIXELS * OUT_C + channel) * PIXELS + p % PIXELS] = KB_FROM_FLOAT(v[e]);
        }
      }
#endif
    }
  }
}
