// The running pair of a softmax: (largest element m, sum of exp(x - m)). Elements that are -inf
// add nothing, also where nothing larger has been seen; a NaN makes the sum NaN, and with it the
// whole row.
//   FOLD  elements taken at once: one rescaling for all
#include "scalar_math.glsl"

#define ACC vec2
#define EMPTY_PAIR vec2(-INFINITY, 0.0)

/// exp(from - to) for from <= to, 1 where both are -inf.
float rescale(float from, float to) { return from == to ? 1.0 : exp(from - to); }
/// What to subtract from elements whose largest is m.
float shift_of(float m) { return m == -INFINITY ? 0.0 : m; }

ACC combine(ACC a, ACC b) {
  const float m = max(a.x, b.x);
  return vec2(m, a.y * rescale(a.x, m) + b.y * rescale(b.x, m));
}

/// -inf of a row that holds nothing else.
float log_sum(ACC pair) { return pair.x + log(pair.y); }

/// What an element becomes, given its row's pair: with LOGARITHM log(softmax).
#if LOGARITHM
float scale_of(ACC pair) { return log(pair.y); }
float applied(float x, ACC pair, float scale) { return x - pair.x - scale; }
vec4 applied(vec4 x, ACC pair, float scale) { return x - pair.x - scale; }
#else
float scale_of(ACC pair) { return 1.0 / pair.y; }
float applied(float x, ACC pair, float scale) { return exp(x - pair.x) * scale; }
vec4 applied(vec4 x, ACC pair, float scale) { return exp(x - pair.x) * scale; }
#endif

#ifdef FOLD
ACC fold(ACC acc, float v[FOLD]) {
  float m = acc.x;
  [[unroll]] for (uint i = 0; i < FOLD; ++i) m = max(m, v[i]);
  const float shift = shift_of(m);
  float sum = 0.0;
  [[unroll]] for (uint i = 0; i < FOLD; ++i) sum += exp(v[i] - shift);
  return vec2(m, acc.y * rescale(acc.x, m) + sum);
}
#endif
