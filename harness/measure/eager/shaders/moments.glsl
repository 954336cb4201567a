// Mean and variance merged pairwise: (count, mean, sum of squared deviations).
#define ACC vec3

/// Chan, Golub and LeVeque's update.
ACC combine(ACC a, ACC b) {
  const float count = a.x + b.x;
  if (count == 0.0) return vec3(0.0);
  const float share = b.x / count;
  const float delta = b.y - a.y;
  return vec3(count, a.y + delta * share, a.z + b.z + delta * delta * a.x * share);
}

/// (mean, 1 / sqrt(var + eps)) with the biased variance.
vec2 mean_and_scale(ACC acc, float eps) {
  return vec2(acc.y, inversesqrt(acc.z / acc.x + eps));
}
