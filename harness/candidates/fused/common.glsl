// Shared by the kernels of this set: folded grids, activations.
#extension GL_EXT_control_flow_attributes : require

// Devices allow as few as 65535 workgroups along x, so long grids are folded into x and y; the last
// row of the fold may be partly empty, and callers check their number against what there is to do.
uint folded_group() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

const float kLowest = -3.402823466e38;

// The error function to about 1e-7: x * P(x^2) near zero, 1 - exp(Q(|x|)) beyond, where Q is fitted
// to ln(erfc) on [1, 4]; past 4, erf is 1 in float32.
vec4 erf(vec4 x) {
  vec4 s = x * x;
  vec4 p = vec4(-0.00056541059);
  p = p * s + 0.0049232775;
  p = p * s - 0.026716385;
  p = p * s + 0.11280365;
  p = p * s - 0.37612349;
  p = p * s + 1.1283791;
  vec4 t = min(abs(x), vec4(4.0));
  vec4 q = vec4(-1.3309389e-5);
  q = q * t + 0.00031757203;
  q = q * t - 0.0034368676;
  q = q * t + 0.022621986;
  q = q * t - 0.10331898;
  q = q * t - 0.63909334;
  q = q * t - 1.1259259;
  q = q * t - 0.00075696863;
  return mix(sign(x) * (1.0 - exp(q)), x * p, lessThan(t, vec4(1.0)));
}

// ACTIVATION picks one of these by number.
#define IDENTITY 0
#define RELU 1
#define LEAKY_RELU 2  // parameter: the slope
#define GELU 3
#define SWISH 4  // parameter: a factor on the result

vec4 activate(int activation, vec4 v, float parameter) {
  if (activation == RELU) return max(v, vec4(0.0));
  if (activation == LEAKY_RELU) return max(v, vec4(0.0)) + parameter * min(v, vec4(0.0));
  if (activation == GELU) return 0.5 * v * (1.0 + erf(v * 0.70710678));
  if (activation == SWISH) return parameter * v / (1.0 + exp(-v));
  return v;
}
