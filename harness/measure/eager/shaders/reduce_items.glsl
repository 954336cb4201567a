// What a reduction accumulates. The includer names what it reads X and what it writes Y.
// ARGMAX 0: a float sum, or the largest element where EXTREME; a sum is of squares where SQUARED,
// and its root is taken where ROOT.
// ARGMAX 1: (order key, position) of the first largest element so far; partial results of split
// reductions are stored as such pairs.
//   NEGATED  1 where elements are negated first, for the smallest element or its position
//   FROM_PARTS  the input holds pairs of an earlier launch, not elements
//   TO_PARTS    the output is pairs for a later launch, not int64 positions
#include "scalar_math.glsl"

#if NEGATED
#define SIGNED(value) (-(value))
#else
#define SIGNED(value) (value)
#endif

#if ARGMAX
#define ACC uvec2
const uvec2 kIdentity = uvec2(0u, 0xffffffffu);

layout(buffer_reference, std430, buffer_reference_align = 8) restrict readonly buffer PairsIn {
  uvec2 at[];
};
layout(buffer_reference, std430, buffer_reference_align = 8) restrict writeonly buffer PairsOut {
  uvec2 at[];
};

ACC combine(ACC a, ACC b) { return a.x > b.x || (a.x == b.x && a.y <= b.y) ? a : b; }
/// Positions must come in ascending order.
ACC fold(ACC acc, float value, uint position) {
  const uint key = order_key(SIGNED(value));
  return key > acc.x ? uvec2(key, position) : acc;
}
void write_result(uint64_t base, uint64_t at, ACC acc, float scale) {
#if TO_PARTS
  PairsOut(base + at * 8ul).at[0] = acc;
#else
  PairsOut(base + at * 8ul).at[0] = uvec2(acc.y, 0u);
#endif
}
#elif EXTREME
#define ACC float
#define kIdentity (-INFINITY)
ACC combine(ACC a, ACC b) { return b > a || is_nan(b) ? b : a; }
ACC fold(ACC acc, float value, uint position) { return combine(acc, SIGNED(value)); }
void write_result(uint64_t base, uint64_t at, ACC acc, float scale) {
  STORE(Y, ADVANCE(Y, base, at), 0, SIGNED(acc));
}
#else
#define ACC float
const float kIdentity = 0.0;
ACC combine(ACC a, ACC b) { return a + b; }
ACC fold(ACC acc, float value, uint position) {
#if SQUARED
  return acc + value * value;
#else
  return acc + value;
#endif
}
void write_result(uint64_t base, uint64_t at, ACC acc, float scale) {
#if ROOT
  STORE(Y, ADVANCE(Y, base, at), 0, sqrt(acc));
#else
  STORE(Y, ADVANCE(Y, base, at), 0, acc * scale);
#endif
}
#endif

#if FROM_PARTS
ACC read_folded(ACC acc, uint64_t base, uint64_t at, uint position) {
  return combine(acc, PairsIn(base + at * 8ul).at[0]);
}
#else
ACC read_folded(ACC acc, uint64_t base, uint64_t at, uint position) {
  return fold(acc, LOAD(X, ADVANCE(X, base, at), 0), position);
}
#endif
