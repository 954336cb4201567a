// y = f(x), elementwise. FUNCTION names one of the functions below.
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define Y STORED_1
#include "tensor.glsl"
#include "scalar_math.glsl"

layout(local_size_x = THREADS) in;
layout(push_constant, std430) uniform Push {
  uint64_t x, y;
  uint quads;  // whole groups of four elements
  uint rest;   // elements after them
  uint groups;
  float value;  // the operator's number, where it has one
  float second;  // and where it has two
}
p;

float relu(float x) { return is_nan(x) ? x : max(x, 0.0); }
float leaky_relu(float x) { return x > 0.0 ? x : p.value * x; }
float sigmoid(float x) { return 1.0 / (1.0 + exp(-x)); }
float gelu(float x) { return 0.5 * x * (1.0 + erf(x * 0.7071067811865476)); }
float square(float x) { return x * x; }
float cube(float x) { return x * x * x; }
float square_root(float x) { return sqrt(x); }
float add_scalar(float x) { return x + p.value; }
float sub_scalar(float x) { return x - p.value; }
float mul_scalar(float x) { return x * p.value; }
float div_scalar(float x) { return x / p.value; }
float clamp_min(float x) { return x < p.value ? p.value : x; }
float clamp_max(float x) { return x > p.value ? p.value : x; }
float clamp_both(float x) { return clamp_from(x, p.value, p.second); }
float negative(float x) { return -x; }
float elu(float x) { return x > 0.0 ? x : p.value * (exp(x) - 1.0); }
float selu(float x) {
  return 1.0507009873554805 * (x > 0.0 ? x : 1.6732632423543772 * (exp(x) - 1.0));
}
float softplus(float x) { return x > 20.0 ? x : log(1.0 + exp(x)); }
/// tanh(log(1 + e)) is (e^2 + 2 e) / (e^2 + 2 e + 2).
float mish(float x) {
  const float e = exp(min(x, 20.0)), s = e * (e + 2.0);
  return x > 20.0 ? x : x * (s / (s + 2.0));
}
float hardsigmoid(float x) { return clamp_from(x * (1.0 / 6.0) + 0.5, 0.0, 1.0); }
float hardswish(float x) { return x * hardsigmoid(x); }

/// The nearest number without the last `dropped` bits of the mantissa, ties to even.
float without_bits(float x, uint dropped) {
  const uint bits = floatBitsToUint(x);
  const uint rounded = bits + (1u << (dropped - 1)) - 1 + (bits >> dropped & 1u);
  return is_nan(x) ? x : uintBitsToFloat(rounded >> dropped << dropped);
}
float rounded_to_tf32(float x) { return without_bits(x, 13); }
float rounded_to_float8_e4m3(float x) { return without_bits(x, 20); }
float rounded_to_bfloat16(float x) {
  return uintBitsToFloat(single_of_brain(brain_of_single(floatBitsToUint(x))));
}
float rounded_to_float16(float x) {
  return uintBitsToFloat(single_of_half(half_of_single(floatBitsToUint(x))));
}

vec4 apply(vec4 x) { return vec4(FUNCTION(x.x), FUNCTION(x.y), FUNCTION(x.z), FUNCTION(x.w)); }

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint first = group * (THREADS * QUADS);
  const uint64_t x = ADVANCE(X, p.x, uint64_t(first) * 4ul);
  const uint64_t y = ADVANCE(Y, p.y, uint64_t(first) * 4ul);
  const uint count = min(p.quads - first, THREADS * QUADS);
  if (count == THREADS * QUADS) {
    vec4 v[QUADS];
    [[unroll]] for (uint i = 0; i < QUADS; ++i) {
      v[i] = LOAD4(X, x, gl_LocalInvocationID.x + i * THREADS);
    }
    [[unroll]] for (uint i = 0; i < QUADS; ++i) {
      STORE4(Y, y, gl_LocalInvocationID.x + i * THREADS, apply(v[i]));
    }
  } else {
    for (uint i = gl_LocalInvocationID.x; i < count; i += THREADS) {
      STORE4(Y, y, i, apply(LOAD4(X, x, i)));
    }
  }
  if (group == p.groups - 1 && gl_LocalInvocationID.x < p.rest) {
    const uint64_t tail = uint64_t(p.quads) * 4ul + gl_LocalInvocationID.x;
    STORE(Y, ADVANCE(Y, p.y, tail), 0, FUNCTION(LOAD(X, ADVANCE(X, p.x, tail), 0)));
  }
}
