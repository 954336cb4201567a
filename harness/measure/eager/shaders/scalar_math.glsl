// Functions of one float, with PyTorch's treatment of NaN and infinities.
#ifndef SCALAR_MATH_GLSL
#define SCALAR_MATH_GLSL

#define INFINITY uintBitsToFloat(0x7f800000u)

/// By bits, which no optimiser may assume away.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }

/// The larger; NaN when either is.
float max_nan(float a, float b) { return is_nan(a) ? a : (is_nan(b) ? b : max(a, b)); }

/// The smaller; NaN when either is.
float min_nan(float a, float b) { return is_nan(a) ? a : (is_nan(b) ? b : min(a, b)); }

/// x within [lo, hi]; NaN stays NaN, and hi wins where lo is larger.
float clamp_from(float x, float lo, float hi) {
  const float raised = x < lo ? lo : x;
  return raised > hi ? hi : raised;
}

/// Absolute error below 1e-7, and no overflow.
float hyperbolic_tangent(float x) {
  const float t = exp(-2.0 * abs(x));
  const float y = (1.0 - t) / (1.0 + t);
  return x < 0.0 ? -y : y;
}
float logistic(float x) { return 1.0 / (1.0 + exp(-x)); }

/// Monotone in x: -0 and 0 equal, every NaN above infinity.
uint order_key(float x) {
  const int bits = floatBitsToInt(x);
  const int magnitude = bits & 0x7fffffff;
  int key = bits < 0 ? ~magnitude : magnitude;
  key = magnitude == 0 ? 0 : key;
  key = magnitude > 0x7f800000 ? 0x7fffffff : key;
  return uint(key) ^ 0x80000000u;
}

/// Minimax polynomials in float32: x P(x^2) up to 1, beyond it 1 - exp(-Q(|x|)). Absolute error
/// below 1e-7.
float erf(float x) {
  const float a = min(abs(x), 3.95);
  if (a <= 1.0) {
    const float s = x * x;
    float p = 7.853860734030604e-05;
    p = fma(p, s, -0.0008010193705558777);
    p = fma(p, s, 0.005188327748328447);
    p = fma(p, s, -0.026853812858462334);
    p = fma(p, s, 0.1128358542919159);
    p = fma(p, s, -0.3761262595653534);
    p = fma(p, s, 1.1283791065216064);
    return x * p;
  }
  float q = -0.00018557306611910462;
  q = fma(q, a, 0.0029395984020084143);
  q = fma(q, a, -0.021805284544825554);
  q = fma(q, a, 0.10303729772567749);
  q = fma(q, a, 0.6382257342338562);
  q = fma(q, a, 1.1270400285720825);
  q = fma(q, a, 0.0003537298471201211);
  const float y = 1.0 - exp(-q);
  return is_nan(x) ? x : (x < 0.0 ? -y : y);
}

#endif
