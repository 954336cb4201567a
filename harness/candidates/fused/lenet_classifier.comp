// LeNet-5's three linear layers in one launch, eight images a workgroup: a thread makes one output
// of a layer for all eight, so that a weight is read once for them. Activations stay in shared
// memory, images side by side: eight images' values of one feature are two vec4s. Weights come
// transposed by a setup step, so that neighbouring threads read neighbouring floats.
#version 450

#define IMAGES 8
#define THREADS 128
layout(local_size_x = THREADS) in;
// x is [BATCH, 400], the weights [400, 120], [120, 84] and [84, CLASSES], y [BATCH, CLASSES].
layout(std430, set = 0, binding = 0) restrict readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 1) restrict readonly buffer Weight1 { float weight1[]; };
layout(std430, set = 0, binding = 2) restrict readonly buffer Bias1 { KB_REAL bias1[]; };
layout(std430, set = 0, binding = 3) restrict readonly buffer Weight2 { float weight2[]; };
layout(std430, set = 0, binding = 4) restrict readonly buffer Bias2 { KB_REAL bias2[]; };
layout(std430, set = 0, binding = 5) restrict readonly buffer Weight3 { float weight3[]; };
layout(std430, set = 0, binding = 6) restrict readonly buffer Bias3 { KB_REAL bias3[]; };
layout(std430, set = 0, binding = 7) restrict writeonly buffer Y { KB_REAL y[]; };

shared vec4 features[400][2];
shared vec4 hidden1[120][2];
shared vec4 hidden2[84][2];

// low and high: output `o` of a layer for images 0..3 and 4..7.
#define LAYER(inputs, depth, weight, width, bias)  \
  vec4 low = vec4(KB_TO_FLOAT(bias[o]));           \
  vec4 high = low;                                 \
  for (uint k = 0; k < depth; ++k) {               \
    vec4 w = vec4(weight[k * width + o]);          \
    low = fma(inputs[k][0], w, low);               \
    high = fma(inputs[k][1], w, high);             \
  }

void main() {
  uint t = gl_LocalInvocationIndex;
  uint first_image = gl_WorkGroupID.x * IMAGES;
  for (uint i = t; i < IMAGES * 400; i += THREADS) {
    uint n = i / 400;
    float v = first_image + n < BATCH ? x[(first_image + n) * 400 + i % 400] : 0.0;
    features[i % 400][n / 4][n % 4] = v;
  }
  barrier();
  if (t < 120) {
    uint o = t;
    LAYER(features, 400, weight1, 120, bias1)
    hidden1[o][0] = max(low, vec4(0.0));
    hidden1[o][1] = max(high, vec4(0.0));
  }
  barrier();
  if (t < 84) {
    uint o = t;
    LAYER(hidden1, 120, weight2, 84, bias2)
    hidden2[o][0] = max(low, vec4(0.0));
    hidden2[o][1] = max(high, vec4(0.0));
  }
  barrier();
  for (uint o = t; o < CLASSES; o += THREADS) {
    LAYER(hidden2, 84, weight3, CLASSES, bias3)
    for (uint n = 0; n < IMAGES; ++n) {
      if (first_image + n < BATCH) {
        y[(first_image + n) * CLASSES + o] = KB_FROM_FLOAT(n < 4 ? low[n] : high[n - 4]);
      }
    }
  }
}
