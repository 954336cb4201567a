// Elements of a float32 stream: the values kbench::draw_range gives on the host, bit for bit. The
// generator is stated in kbench/random.h; the logarithm and cosine mirror libkbench/core/draw_math.h,
// operation by operation, and `precise` keeps compilers from contracting or reordering them.
#include "trial_common.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t base, words;
  // Bits of lo and range (uniform: float32; randint: i64), or of mean and deviation (float64).
  uint64_t a, b;
  uvec2 seed;
  uint name, task;
  uint iterations, rows, columns;
  uint offsets;  // the name of a second stream
};

uvec4 block_words(uint64_t block, uint stream) {
  return philox(uvec4(uint(block & 0xFFFFFFFFul), uint(block >> 32), stream, task), seed);
}

#ifdef NORMAL
double log_of_fraction(uint m) {
  const uint64_t bits = packUint2x32(unpackDouble2x32(double(m)));
  const uint64_t fraction = bits & 0xFFFFFFFFFFFFFul;
  const uint above = fraction > 0x6A09E667F3BCDul ? 1u : 0u;
  const int exponent = int(uint(bits >> 52)) - 1023 - 24 + int(above);
  const double f = packDouble2x32(unpackUint2x32(fraction | (uint64_t(1023u - above) << 52)));
  precise double s = (f - 1.0lf) / (f + 1.0lf);
  precise double z = s * s;
  precise double p = 1.0lf / 21.0lf;
  p = p * z + 1.0lf / 19.0lf;
  p = p * z + 1.0lf / 17.0lf;
  p = p * z + 1.0lf / 15.0lf;
  p = p * z + 1.0lf / 13.0lf;
  p = p * z + 1.0lf / 11.0lf;
  p = p * z + 1.0lf / 9.0lf;
  p = p * z + 1.0lf / 7.0lf;
  p = p * z + 1.0lf / 5.0lf;
  p = p * z + 1.0lf / 3.0lf;
  p = p * z;
  precise double t = s + s;
  precise double result = double(exponent) * 0.693147180559945309417232lf + (t + t * p);
  return result;
}

double cos_of_turn(uint m) {
  const uint q = (m + (1u << 21)) >> 22;
  precise double r = double(int(m) - int(q << 22)) * (1.0lf / 4194304.0lf);
  precise double a = r * 1.57079632679489661923132lf;
  precise double z = a * a;
  precise double c = 1.0lf / 20922789888000.0lf;
  c = c * z - 1.0lf / 87178291200.0lf;
  c = c * z + 1.0lf / 479001600.0lf;
  c = c * z - 1.0lf / 3628800.0lf;
  c = c * z + 1.0lf / 40320.0lf;
  c = c * z - 1.0lf / 720.0lf;
  c = c * z + 1.0lf / 24.0lf;
  c = c * z - 0.5lf;
  c = c * z + 1.0lf;
  precise double d = 1.0lf / 355687428096000.0lf;
  d = d * z - 1.0lf / 1307674368000.0lf;
  d = d * z + 1.0lf / 6227020800.0lf;
  d = d * z - 1.0lf / 39916800.0lf;
  d = d * z + 1.0lf / 362880.0lf;
  d = d * z - 1.0lf / 5040.0lf;
  d = d * z + 1.0lf / 120.0lf;
  d = d * z - 1.0lf / 6.0lf;
  precise double e = z * d;
  d = a + a * e;
  const double magnitude = (q & 1u) != 0u ? d : c;
  return ((q + 1u) & 2u) != 0u ? -magnitude : magnitude;
}

// What normal_of() is, nearly: within 2^-47 of the larger of mean and deviation * radius. Fewer terms,
// contracted, and no division.
double nearly_normal(uvec2 w, double mean, double deviation, out double scaled) {
  const uint m = (w.x >> 8) + 1u;
  const uvec2 bits = unpackDouble2x32(double(m));
  const uint above = (bits.y & 0xFFFFFu) > 0x6A09Eu ? 1u : 0u;
  const double f = packDouble2x32(uvec2(bits.x, (bits.y & 0xFFFFFu) | ((1023u - above) << 20)));
  const double over = f - 1.0lf, under = f + 1.0lf;
  double inverse = double(1.0 / float(under));
  inverse = fma(inverse, fma(-under, inverse, 1.0lf), inverse);
  double s = over * inverse;
  s = fma(fma(-under, s, over), inverse, s);
  const double z = s * s;
  double p = fma(1.0lf / 17.0lf, z, 1.0lf / 15.0lf);
  p = fma(p, z, 1.0lf / 13.0lf);
  p = fma(p, z, 1.0lf / 11.0lf);
  p = fma(p, z, 1.0lf / 9.0lf);
  p = fma(p, z, 1.0lf / 7.0lf);
  p = fma(p, z, 1.0lf / 5.0lf);
  p = fma(p, z, 1.0lf / 3.0lf);
  const int exponent = int(bits.y >> 20) - 1023 - 24 + int(above);
  const double square =
      -2.0lf * fma(double(exponent), 0.693147180559945309417232lf, fma(s + s, p * z, s + s));

  double root = double(inversesqrt(float(square)));
  double radius = square * root;
  double half_root = 0.5lf * root;
  const double rest = fma(-half_root, radius, 0.5lf);
  radius = fma(radius, rest, radius);
  half_root = fma(half_root, rest, half_root);
  radius = fma(fma(-radius, radius, square), half_root, radius);
  scaled = deviation * radius;

  // The cosine of an even number of quarter turns and a rest is one of that rest, else a sine.
  const uint turn = w.y >> 8;
  const uint q = (turn + (1u << 21)) >> 22;
  const double a = double(int(turn) - int(q << 22)) * (1.57079632679489661923132lf / 4194304.0lf);
  const double y = a * a;
  const bool odd = (q & 1u) != 0u;
  double c = odd ? -1.0lf / 1307674368000.0lf : -1.0lf / 87178291200.0lf;
  c = fma(c, y, odd ? 1.0lf / 6227020800.0lf : 1.0lf / 479001600.0lf);
  c = fma(c, y, odd ? -1.0lf / 39916800.0lf : -1.0lf / 3628800.0lf);
  c = fma(c, y, odd ? 1.0lf / 362880.0lf : 1.0lf / 40320.0lf);
  c = fma(c, y, odd ? -1.0lf / 5040.0lf : -1.0lf / 720.0lf);
  c = fma(c, y, odd ? 1.0lf / 120.0lf : 1.0lf / 24.0lf);
  c = fma(c, y, odd ? -1.0lf / 6.0lf : -0.5lf);
  const double of_rest = odd ? a : 1.0lf;
  const double magnitude = fma(of_rest * y, c, of_rest);
  return fma(scaled, ((q + 1u) & 2u) != 0u ? -magnitude : magnitude, mean);
}

// Whether all that lies within 2^-47 of the larger of two others rounds to the same float32.
bool rounds_surely(double value, double mean, double scaled) {
  const uvec2 bits = unpackDouble2x32(value);
  const uint others = max(unpackDouble2x32(mean).y & 0x7FFFFFFFu,
                          unpackDouble2x32(scaled).y & 0x7FFFFFFFu);
  // 2^-47 of them is less than 2^-36 of a value whose exponent is at most 10 below; half way between
  // two float32 lies bit 28, and 2^16 below and above it are as much.
  const uint size = bits.y & 0x7FFFFFFFu, least = 0x38100000u;  // 2^-126: float32 is thinner below
  const bool large = size >= least && size + (10u << 20) >= others && others < 0x7FF00000u;
  const uint from_half = (bits.x & 0x1FFFFFFFu) - (0x10000000u - 0x10000u);
  return large && from_half > 0x20000u;
}

float normal_of(uvec2 w) {
  const double mean = packDouble2x32(unpackUint2x32(a));
  const double deviation = packDouble2x32(unpackUint2x32(b));
  double about;
  const double nearly = nearly_normal(w, mean, deviation, about);
  if (rounds_surely(nearly, mean, about)) return float(nearly);
  precise double square = -2.0lf * log_of_fraction((w.x >> 8) + 1u);
  precise double radius = sqrt(square);
  precise double scaled = deviation * radius;
  precise double value = scaled * cos_of_turn(w.y >> 8);
  value = mean + value;
  return float(value);
}
#endif

#ifdef RANDINT
int64_t integer_of(uint w) { return int64_t(a) + int64_t((uint64_t(w) * b) >> 32); }
#endif

vec4 drawn_quad(uint64_t quad, uint stream) {
#ifdef NORMAL
  const uvec4 w0 = block_words(quad * 2ul, stream), w1 = block_words(quad * 2ul + 1ul, stream);
  return vec4(normal_of(w0.xy), normal_of(w0.zw), normal_of(w1.xy), normal_of(w1.zw));
#else
  const uvec4 w = block_words(quad, stream);
#ifdef RANDINT
  return vec4(float(integer_of(w.x)), float(integer_of(w.y)), float(integer_of(w.z)),
              float(integer_of(w.w)));
#else
  const float lo = uintBitsToFloat(uint(a & 0xFFFFFFFFul));
  const float range = uintBitsToFloat(uint(b & 0xFFFFFFFFul));
  precise vec4 u = vec4(w >> 8) * 5.9604644775390625e-8;
  precise vec4 scaled = u * range;
  precise vec4 value = scaled + lo;
  return value;
#endif
#endif
}
