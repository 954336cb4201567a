// Sums and maxima over a workgroup, by halving in shared memory: no assumption about the subgroup
// size. Every thread gets the result, and every thread of the workgroup must call.
shared float reduce_scratch[THREADS];

#define REDUCE(value, combine)                                                     \
  uint t = gl_LocalInvocationIndex;                                                \
  barrier(); /* an earlier result may still be being read */                       \
  reduce_scratch[t] = value;                                                       \
  barrier();                                                                       \
  for (uint half_way = THREADS / 2; half_way > 0; half_way /= 2) {                 \
    if (t < half_way) {                                                            \
      reduce_scratch[t] = combine(reduce_scratch[t], reduce_scratch[t + half_way]); \
    }                                                                              \
    barrier();                                                                     \
  }                                                                                \
  return reduce_scratch[0];

float add(float a, float b) { return a + b; }
float workgroup_sum(float value) { REDUCE(value, add) }
float workgroup_max(float value) { REDUCE(value, max) }
