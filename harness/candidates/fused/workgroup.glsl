// Sums and maxima over a workgroup of up to 1024 threads: first inside each subgroup, of any
// size, then over one value a subgroup in shared memory. Every thread gets the result, and every
// thread of the workgroup must call.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_arithmetic : require

shared float subgroup_results[256];  // enough down to subgroups of four

float workgroup_sum(float value) {
  value = subgroupAdd(value);
  barrier();  // an earlier result may still be being read
  if (subgroupElect()) subgroup_results[gl_SubgroupID] = value;
  barrier();
  float total = 0.0;
  for (uint i = 0; i < gl_NumSubgroups; ++i) total += subgroup_results[i];
  return total;
}

float workgroup_max(float value) {
  value = subgroupMax(value);
  barrier();
  if (subgroupElect()) subgroup_results[gl_SubgroupID] = value;
  barrier();
  float largest = subgroup_results[0];
  for (uint i = 1; i < gl_NumSubgroups; ++i) largest = max(largest, subgroup_results[i]);
  return largest;
}
