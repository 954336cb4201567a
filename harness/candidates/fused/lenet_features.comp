// LeNet-5's convolutional part in one launch: convolution, ReLU and pooling, twice, for two images
// a workgroup, with everything between in shared memory. A thread computes the four convolution
// outputs that one pooled value needs from one 6x6 patch in registers, for several channels at
// once; ReLU comes after the maximum, which gives the same. Weights come transposed by a setup
// step, channels last (six padded to eight), so that four channels are one vec4.
#version 450
#extension GL_EXT_control_flow_attributes : require

#define IMAGES 2
#define THREADS 200  // two images x 25 positions x 4 groups of channels in the second half
layout(local_size_x = THREADS) in;
// x is [BATCH, 32, 32], weight1 [25, 8], weight2 [150, 16], y [BATCH, 400].
layout(std430, set = 0, binding = 0) restrict readonly buffer X { KB_REAL x[]; };
layout(std430, set = 0, binding = 1) restrict readonly buffer Weight1 { vec4 weight1[]; };
layout(std430, set = 0, binding = 2) restrict readonly buffer Bias1 { KB_REAL bias1[]; };
layout(std430, set = 0, binding = 3) restrict readonly buffer Weight2 { vec4 weight2[]; };
layout(std430, set = 0, binding = 4) restrict readonly buffer Bias2 { KB_REAL bias2[]; };
layout(std430, set = 0, binding = 5) restrict writeonly buffer Y { float y[]; };

#define BIAS(bias, channel) KB_TO_FLOAT(bias[channel])

shared float image[IMAGES][32 * 32];
shared float pooled[IMAGES][6][14 * 14];
shared vec4 w1[25 * 2];
shared vec4 w2[150 * 4];

// The 6x6 patch at an even position of a plane; 2x2 outputs of a 5x5 convolution lie in it.
float patch_[36];

#define LOAD_PATCH(plane, width, row, col)                             \
  [[unroll]] for (uint i = 0; i < 6; ++i) {                            \
    [[unroll]] for (uint j = 0; j < 6; ++j) {                          \
      patch_[i * 6 + j] = plane[(2 * (row) + i) * width + 2 * (col) + j]; \
    }                                                                  \
  }

// Adds tap (i, j)'s products for the four outputs in the patch.
void accumulate(inout vec4 sums[4], uint i, uint j, vec4 w) {
  sums[0] = fma(vec4(patch_[i * 6 + j]), w, sums[0]);
  sums[1] = fma(vec4(patch_[i * 6 + j + 1]), w, sums[1]);
  sums[2] = fma(vec4(patch_[i * 6 + j + 6]), w, sums[2]);
  sums[3] = fma(vec4(patch_[i * 6 + j + 7]), w, sums[3]);
}

vec4 relu_of_largest(vec4 sums[4], vec4 bias) {
  return max(max(max(sums[0], sums[1]), max(sums[2], sums[3])) + bias, vec4(0.0));
}

void main() {
  uint t = gl_LocalInvocationIndex;
  uint first_image = gl_WorkGroupID.x * IMAGES;

  for (uint i = t; i < IMAGES * 1024; i += THREADS) {
    uint n = first_image + i / 1024;
    image[i / 1024][i % 1024] = 0.0;
    if (n < BATCH) image[i / 1024][i % 1024] = KB_TO_FLOAT(x[n * 1024 + i % 1024]);
  }
  for (uint i = t; i < 25 * 2; i += THREADS) w1[i] = weight1[i];
  for (uint i = t; i < 150 * 4; i += THREADS) w2[i] = weight2[i];
  barrier();

  // 1 -> 6 channels, 32 -> 28 -> 14: a thread makes all channels of a position.
  for (uint p = t; p < IMAGES * 196; p += THREADS) {
    uint n = p / 196;
    uint at = p % 196;
    LOAD_PATCH(image[n], 32, at / 14, at % 14)
    vec4 low[4] = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
    vec4 high[4] = low;
    [[unroll]] for (uint i = 0; i < 5; ++i) {
      [[unroll]] for (uint j = 0; j < 5; ++j) {
        accumulate(low, i, j, w1[(i * 5 + j) * 2]);
        accumulate(high, i, j, w1[(i * 5 + j) * 2 + 1]);
      }
    }
    vec4 v = relu_of_largest(low, vec4(BIAS(bias1, 0), BIAS(bias1, 1), BIAS(bias1, 2),
                                       BIAS(bias1, 3)));
    [[unroll]] for (uint c = 0; c < 4; ++c) pooled[n][c][at] = v[c];
    v = relu_of_largest(high, vec4(BIAS(bias1, 4), BIAS(bias1, 5), 0.0, 0.0));
    [[unroll]] for (uint c = 0; c < 2; ++c) pooled[n][4 + c][at] = v[c];
  }
  barrier();

  // 6 -> 16 channels, 14 -> 10 -> 5: a thread makes four channels of a position.
  uint n = t / 100;
  uint at = t % 25;
  uint group = t / 25 % 4;
  vec4 sums[4] = vec4[4](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
  for (uint c = 0; c < 6; ++c) {
    LOAD_PATCH(pooled[n][c], 14, at / 5, at % 5)
    [[unroll]] for (uint i = 0; i < 5; ++i) {
      [[unroll]] for (uint j = 0; j < 5; ++j) {
        accumulate(sums, i, j, w2[(c * 25 + i * 5 + j) * 4 + group]);
      }
    }
  }
  if (first_image + n >= BATCH) return;
  uint c = group * 4;
  vec4 v = relu_of_largest(sums, vec4(BIAS(bias2, c), BIAS(bias2, c + 1), BIAS(bias2, c + 2),
                                      BIAS(bias2, c + 3)));
  [[unroll]] for (uint i = 0; i < 4; ++i) y[(first_image + n) * 400 + (c + i) * 25 + at] = v[i];
}
