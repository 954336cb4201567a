// Shared by the kernels of this set: a thread's number in a folded grid, erf.
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#define THREADS 256  // of a workgroup, in every kernel of this set

// Devices allow as few as 65535 workgroups along x, so long grids are folded into x and y. The last
// row of the fold may be partly empty: callers check their number against what there is to do.
uint folded_group() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }
uint64_t folded_thread() {
  return uint64_t(folded_group()) * THREADS + gl_LocalInvocationIndex;
}

// The error function to about 1e-7: x * P(x^2) near zero, 1 - exp(Q(|x|)) beyond, where Q is fitted
// to ln(erfc) on [1, 4]; past 4, erf is 1 in float32.
float erf(float x) {
  float s = x * x;
  float p = -0.00056541059;
  p = p * s + 0.0049232775;
  p = p * s - 0.026716385;
  p = p * s + 0.11280365;
  p = p * s - 0.37612349;
  p = p * s + 1.1283791;
  float t = min(abs(x), 4.0);
  float q = -1.3309389e-5;
  q = q * t + 0.00031757203;
  q = q * t - 0.0034368676;
  q = q * t + 0.022621986;
  q = q * t - 0.10331898;
  q = q * t - 0.63909334;
  q = q * t - 1.1259259;
  q = q * t - 0.00075696863;
  return t < 1.0 ? x * p : sign(x) * (1.0 - exp(q));
}
