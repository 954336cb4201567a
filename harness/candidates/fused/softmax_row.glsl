// A row's maximum and its sum of exponentials relative to it, by one workgroup, reading the row
// once. Short rows stay in registers (KEPT). Longer ones are taken as they stream by: whenever a
// larger maximum turns up, the sum so far is scaled down to it.
#define PIECES ((COLS + 3) / 4)
#define PIECES_EACH ((PIECES + THREADS - 1) / THREADS)
#define KEPT (PIECES_EACH <= 8)

struct RowStatistics {
  float largest;
  float sum;
};

#if KEPT
vec4 kept[PIECES_EACH];  // piece i * THREADS + t; beyond the row's end the lowest float
#endif

float largest_of(vec4 v) { return max(max(v.x, v.y), max(v.z, v.w)); }
float sum_of(vec4 v) { return (v.x + v.y) + (v.z + v.w); }

vec4 load_or_lowest(uint64_t row, uint piece) {
  return piece < PIECES ? load_piece(row, piece, COLS, kLowest) : vec4(kLowest);
}

RowStatistics row_statistics(uint64_t row) {
  uint t = gl_LocalInvocationIndex;
  RowStatistics result;
#if KEPT
  float largest = kLowest;
  [[unroll]] for (uint i = 0; i < PIECES_EACH; ++i) {
    kept[i] = load_or_lowest(row, i * THREADS + t);
  }
  [[unroll]] for (uint i = 0; i < PIECES_EACH; ++i) largest = max(largest, largest_of(kept[i]));
  result.largest = workgroup_max(largest);
  float sum = 0.0;
  [[unroll]] for (uint i = 0; i < PIECES_EACH; ++i) sum += sum_of(exp(kept[i] - result.largest));
  result.sum = workgroup_sum(sum);
#else
  float largest = kLowest;
  float sum = 0.0;
  for (uint i = t; i < PIECES; i += 4 * THREADS) {
    vec4 v[4];
    [[unroll]] for (uint u = 0; u < 4; ++u) v[u] = load_or_lowest(row, i + u * THREADS);
    float before = largest;
    [[unroll]] for (uint u = 0; u < 4; ++u) largest = max(largest, largest_of(v[u]));
    sum *= exp(before - largest);
    [[unroll]] for (uint u = 0; u < 4; ++u) sum += sum_of(exp(v[u] - largest));
  }
  result.largest = workgroup_max(largest);
  result.sum = workgroup_sum(sum * exp(largest - result.largest));
#endif
  return result;
}
