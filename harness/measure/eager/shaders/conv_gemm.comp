// Convolution as a matrix product: out channels x (channels * window) times (channels * window) x
// output pixels, the second factor read through the window as its slices are staged. One product a
// channel group. Macros of conv_window.glsl and gemm_tile.glsl, and
//   A_QUADS  1 where taps % 4 == 0: rows of the weight start on 16-byte boundaries
//   C_QUADS  1 where an output plane is a multiple of 4
//   EDGES    0 where a group's output channels and its taps are multiples of the tile's extents
//   FILLED      1 where output that no tap meets has been written before
//   GATHERED  taps of a slice that an invocation reads: BK * BN / THREADS
#version 450
#extension GL_GOOGLE_include_directive : require
#include "tensor.glsl"
#include "gemm_tile.glsl"
#include "conv_window.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t x, weight;
#if BIAS
  uint64_t bias;
#endif
  uint64_t y;
  Input geometry;
  uint channels;            // of the input, all groups
  uint group_channels;      // of the input, a group
  uint group_out_channels;  // of the output, a group
  uint out_channels;
  uint taps;  // of a row of the weight: group_channels * window
  uint pixels;
  uint tiles_m, tiles_n;
  uint images;
  uint splits;       // of the depth, each to outputs of its own, one after another
  uint split_steps;  // slices each takes
  uint groups;
}
p;

uint taps;  // that there are
uint first_step;

const uint kDepthStep = THREADS / BN;  // an invocation reads every kDepthStep-th tap, at one pixel

shared ivec2 tap_table[2][BK];
uint64_t from_a[PIECES_A];  // where the next slice's pieces of the weight lie
uint channels_left;
uint64_t origin;
Pixel pixel;
uint mask;
uint fetched;  // the step in next_a, next_b
vec4 next_a[PIECES_A];
float next_b[GATHERED];

void tabulate(uint step) {
  if (gl_LocalInvocationID.x < BK) {
    tap_table[step % 2][gl_LocalInvocationID.x] =
        tap_of(p.geometry, (first_step + step) * BK + gl_LocalInvocationID.x, taps);
  }
}

#define DEPTH(i) (gl_LocalInvocationID.x / BN + i * kDepthStep)
#define FETCH_A(i)                                                                       \
  next_a[i] = load_piece(from_a[i], piece_at(i, BM, false) + ahead, channels_left, p.taps, \
                         false, A_QUADS != 0, EDGES != 0);                               \
  from_a[i] += BK * 4;
#define FETCH_B(i) \
  next_b[i] = read_tap(p.geometry, origin, pixel, mask, tap_table[step % 2][DEPTH(i)]);
void fetch(uint step) {
  const uvec2 ahead = uvec2(0, (first_step + step) * BK);
  REPEAT(PIECES_A, FETCH_A)
  REPEAT(GATHERED, FETCH_B)
  fetched = step;
}

#define STAGE_A(i) STAGE_PIECE(tile_a, A_STRIDE, piece_at(i, BM, false), false, next_a[i])
#define STAGE_B(i) tile_b[side * (BK * B_STRIDE) + DEPTH(i) * B_STRIDE + n / 4][n % 4] = next_b[i];
void stage(uint side) {
  REPEAT(PIECES_A, STAGE_A)
  const uint n = gl_LocalInvocationID.x % BN;
  REPEAT(GATHERED, STAGE_B)
  // For the next fetch(): that half of the table was last read before the previous barrier.
  tabulate(fetched + 1);
}

float load_bias(uint first, uint row) {
  float v = 0.0;
#if BIAS
  if (EDGES == 0 || row < channels_left) v = FloatsIn(p.bias).at[first + row];
#endif
  return v;
}

/// Address of a pixel in channel 0 of its image in the output at `result`; 0 where the output has
/// no such pixel.
uint64_t address_of(uint64_t result, uint n) {
  const uint plane = out_plane(p.geometry);
#if TRANSPOSED
  const Pixel pixel = pixel_of(p.geometry, n);
  if (n >= p.pixels || pixel.at == kNowhere) return 0ul;
  return advance(result, uint64_t(pixel.image) * p.out_channels * plane + pixel.at);
#else
  const uint image = n / plane;
  return advance(result, uint64_t(image) * p.out_channels * plane + (n - image * plane));
#endif
}

bool stored(uint n, uint64_t to) { return TRANSPOSED != 0 ? to != 0ul : n < p.pixels; }

/// Pixels n to n + 3 of the channel `offset` bytes on; to[i] is the address of pixel n + i.
void store(uint64_t to[4], uint64_t offset, uint row, uint n, vec4 v) {
  if (EDGES == 0 || row < channels_left) {
#if C_QUADS
    if (stored(n, to[0])) Vec4sOut(to[0] + offset).at[0] = v;
#else
    if (stored(n, to[0])) FloatsOut(to[0] + offset).at[0] = v.x;
    if (stored(n + 1, to[1])) FloatsOut(to[1] + offset).at[0] = v.y;
    if (stored(n + 2, to[2])) FloatsOut(to[2] + offset).at[0] = v.z;
    if (stored(n + 3, to[3])) FloatsOut(to[3] + offset).at[0] = v.w;
#endif
  }
}

void main() {
  const uint group = group_index();
  if (group >= p.groups) return;
  const uint m0 = group % p.tiles_m * BM;
  uint rest = group / p.tiles_m;
#if TRANSPOSED
  // Phases of the same pixels together: they share cache lines of the output.
  const uint phase = rest % kPhases;
  rest /= kPhases;
  set_phase(p.geometry, phase);
  taps = p.group_channels * window_size();
#if FILLED
  if (taps == 0) return;
#endif
#else
  const uint phase = 0;
  taps = p.taps;
#endif
  const uint n0 = rest % p.tiles_n * BN;
  rest /= p.tiles_n;
  const uint split = rest % p.splits, part = rest / p.splits;
  first_step = split * p.split_steps;
  channels_left = p.group_out_channels - m0;
  const uint first = part * p.group_out_channels + m0;
  const uint64_t weights =
      advance(p.weight, (uint64_t(phase) * p.out_channels + first) * p.taps + first_step * BK);
#define LOCATE_A(i) from_a[i] = piece_address(weights, p.taps, piece_at(i, BM, false), false);
  REPEAT(PIECES_A, LOCATE_A)
  // Past the last pixel: any pixel will do, its results are not stored.
  pixel = pixel_of(p.geometry, min(n0 + gl_LocalInvocationID.x % BN, p.pixels - 1));
  mask = inside_mask(p.geometry, pixel);
  origin = origin_of(p.geometry, p.x, pixel, p.channels, part * p.group_channels);
  tabulate(0);
  barrier();

  // A phase without taps, or a split past a phase's last, has one slice of zeros.
  const uint steps = ceil_div(taps, BK);
  multiply_slices(clamp(steps - min(steps, first_step), 1u, p.split_steps));

  const uint plane = out_plane(p.geometry);
  const uint64_t result =
      advance(p.y, uint64_t(split) * p.out_channels * p.images * plane);
  float bias[TM];
  uint64_t to[QUADS_N][4];
#define LOAD_BIAS(i) bias[i] = load_bias(first, tile_row(i));
#define LOCATE(j)                                \
  to[j][0] = address_of(result, n0 + tile_column(j));     \
  to[j][1] = address_of(result, n0 + tile_column(j) + 1); \
  to[j][2] = address_of(result, n0 + tile_column(j) + 2); \
  to[j][3] = address_of(result, n0 + tile_column(j) + 3);
#define STORE_QUAD(i, j)                                                                   \
  store(to[j], advance(0ul, uint64_t(first + tile_row(i)) * plane), tile_row(i),           \
        n0 + tile_column(j), acc[i][j] + bias[i]);
#define STORE_ROW(i) REPEAT_WITH(QUADS_N, STORE_QUAD, i)
  REPEAT(TM, LOAD_BIAS)
  REPEAT(QUADS_N, LOCATE)
  REPEAT(TM, STORE_ROW)
}
