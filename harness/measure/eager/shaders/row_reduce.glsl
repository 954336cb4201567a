// Reducing over the invocations that share a row. The includer defines
//   THREADS  invocations a workgroup
//   LANES    of them a row, a power of two; a workgroup holds THREADS / LANES rows
//   ACC      the accumulator's type (float, vec2, vec3, uvec2)
//   ACC combine(ACC a, ACC b), associative and commutative
// Right for any subgroup size that divides THREADS: where a row takes the whole workgroup,
// subgroups reduce by shuffles and then meet in shared memory; smaller rows are reduced in shared
// memory alone.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require

const uint kRows = THREADS / LANES;

#if LANES == 1
ACC row_reduce(ACC value) { return value; }
#else
shared ACC reduce_space[THREADS];

/// The row's combined value, in every invocation of the row. All invocations must call it.
ACC row_reduce(ACC value) {
#if LANES == THREADS
  for (uint distance = gl_SubgroupSize / 2; distance > 0; distance >>= 1) {
    value = combine(value, subgroupShuffleXor(value, distance));
  }
  if (gl_NumSubgroups > 1) {
    barrier();  // an earlier reduction's readers are done
    if (subgroupElect()) reduce_space[gl_SubgroupID] = value;
    barrier();
    value = reduce_space[0];
    for (uint i = 1; i < gl_NumSubgroups; ++i) value = combine(value, reduce_space[i]);
  }
  return value;
#else
  const uint at = gl_LocalInvocationIndex;
  const uint lane = at % LANES;
  barrier();
  reduce_space[at] = value;
  barrier();
  for (uint distance = LANES / 2; distance > 0; distance >>= 1) {
    if (lane < distance) reduce_space[at] = combine(reduce_space[at], reduce_space[at + distance]);
    barrier();
  }
  return reduce_space[at - lane];
#endif
}
#endif
