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

/// The nearest number of quarter turns to the angle x, of which only the last two bits are right,
/// and the angle that is left, at most a little over pi / 4.
uint quarter_turns(float x, out float rest) {
  if (abs(x) <= 6000.0) {
    // pi / 2 in three parts, the first two of so few bits that their products are exact.
    const float turns = floor(x * 0.6366197723675814 + 0.5);
    rest = x - turns * 1.5703125;
    rest = rest - turns * 0.0004837512969970703;
    rest = rest - turns * 7.549789954891882e-08;
    return uint(int(turns));
  }
  const uint bits = floatBitsToUint(x), exponent = bits >> 23 & 0xffu;
  if (exponent == 0xffu) {  // no angle
    rest = uintBitsToFloat(0x7fc00000u);
    return 0u;
  }
  // x in quarter turns modulo 4, in fixed point with 62 bits after the point: its mantissa times
  // the 96 bits of 2 / pi that are not whole turns of it and not below these (Payne and Hanek).
  const uint two_over_pi[6] = uint[](0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x7d4d3770u,
                                     0x36d8a566u, 0x4f10e410u);
  const uint mantissa = bits << 8 | 0x80000000u;
  const uint word = (exponent - 126u) >> 5, shift = (exponent - 126u) & 31u;
  uint w[3];
  for (uint i = 0; i < 3; ++i) {
    const uint at = word + i;
    const uint left = at == 0u ? 0u : two_over_pi[at - 1u];
    w[i] = shift == 0u ? left : left << shift | two_over_pi[at] >> (32u - shift);
  }
  uint high, low, last_high, last_low, carry;
  umulExtended(mantissa, w[2], last_high, last_low);
  umulExtended(mantissa, w[1], high, low);
  low = uaddCarry(low, last_high, carry);
  high += carry + mantissa * w[0];
  uint turns = high >> 30;
  high &= 0x3fffffffu;
  const bool beyond = (high & 0x20000000u) != 0u;  // over half: what is left is negative
  if (beyond) {
    turns += 1u;
    high = 0x40000000u - high - (low != 0u ? 1u : 0u);
    low = 0u - low;
  }
  rest = (float(high) * 4294967296.0 + float(low)) * 3.4061215800304386e-19;  // pi / 2 * 2^-62
  const bool negative = (bits & 0x80000000u) != 0u;
  rest = beyond != negative ? -rest : rest;
  return negative ? 0u - turns : turns;
}

/// The sine of so many quarter turns and the rest: near 0 a polynomial of the sine or the cosine.
float sine_of_turns(uint turns, float rest) {
  const float s = rest * rest;
  float y;
  if ((turns & 1u) != 0u) {
    y = fma(s, 2.44677067e-5, -1.38877297e-3);
    y = fma(y, s, 4.16666567e-2);
    y = fma(y, s, -0.5);
    y = fma(y, s, 1.0);
  } else {
    y = fma(s, 2.86567956e-6, -1.98559923e-4);
    y = fma(y, s, 8.33338592e-3);
    y = fma(y, s, -1.66666672e-1);
    y = fma(y * s, rest, rest);
  }
  return (turns & 2u) != 0u ? -y : y;
}

/// Absolute error below 2e-7 for an angle of any size; NaN of infinity. GLSL's own may be off by
/// 2^-11, and by more beyond pi.
float sine(float x) {
  float rest;
  const uint turns = quarter_turns(x, rest);
  return sine_of_turns(turns, rest);
}
float cosine(float x) {
  float rest;
  const uint turns = quarter_turns(x, rest);
  return sine_of_turns(turns + 1u, rest);
}

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
