// Convolution as a matrix product: out channels x (channels * window) times (channels * window) x
// output pixels, the second factor read through the window as its slices are staged. One product a
// channel group. Macros of conv_window.glsl and gemm_tile.glsl, and
//   MATRICES   1 for operands of 16 bits on matrix units: matrix_tile.glsl, else gemm_tile.glsl
//   POINTWISE  1, on matrix units, where the window is one element, every output pixel meets that
//              in its own place, and planes are a multiple of eight: the input is a matrix
//   CHANNELS_LAST  as conv_window.glsl has it; on matrix units alone, a multiple of eight
//   A_ALIGNED  1 where rows of the weight start on a multiple of a piece's elements
//   C_QUADS  1 where an output plane is a multiple of 4
//   EDGES    0 where a group's output channels and its taps are multiples of the tile's extents
//   FILLED      1 where output that no tap meets has been written before
//   GATHERED  what an invocation reads of a slice: taps, on matrix units pieces of eight taps
#version 450
#extension GL_GOOGLE_include_directive : require
#define X STORED_0
#define WEIGHT STORED_1
#define Y STORED_2
#define BIASES STORED_3
#include "tensor.glsl"
#if MATRICES
#define A WEIGHT
#define A_ALONG_M 0
#define B_ALONG_N POINTWISE
#include "matrix_tile.glsl"
#else
#include "gemm_tile.glsl"
#endif
#include "conv_window.glsl"

layout(push_constant, std430) uniform Push {
  uint64_t x, weight, y;
#if BIAS
  uint64_t bias;
#endif
  Input geometry;
  uint channels;            // planes of the input, all groups
  uint group_channels;      // planes of the input, a group
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

// An invocation reads at one pixel, every kDepthStep-th tap or piece of taps; with CHANNELS_LAST one
// piece of each slice at several pixels.
const uint kDepthStep = THREADS / BN;

uint64_t from_a[PIECES_A];  // where the next slice's pieces of the weight lie
uint channels_left;
#if CHANNELS_LAST
TapWalk walk;  // to the piece of the next slice
uint64_t origins[GATHERED];
Pixel at_pixels[GATHERED];
uint masks[GATHERED];
#else
shared ivec2 tap_table[2][BK];  // of the slice in hand and of the next
uint64_t origin;
Pixel pixel;
uint mask;
#endif
uint fetched;  // the step in next_a, next_b
TILE_PIECE next_a[PIECES_A];
#if MATRICES
uvec4 next_b[GATHERED];
#else
float next_b[GATHERED];
#endif

#if !CHANNELS_LAST
void tabulate(uint step) {
  if (gl_LocalInvocationID.x < BK) {
    tap_table[step % 2][gl_LocalInvocationID.x] =
        tap_of(p.geometry, (first_step + step) * BK + gl_LocalInvocationID.x, taps);
  }
}
#endif

LOAD_OPERAND_PIECE(load_weight, WEIGHT)

#define DEPTH(i) (gl_LocalInvocationID.x / BN + i * kDepthStep)
#define FETCH_A(i)                                                                       \
  next_a[i] = load_weight(from_a[i], piece_at(i, BM, false) + ahead, channels_left, p.taps, \
                          false, A_ALIGNED != 0, EDGES != 0);                             \
  from_a[i] = ADVANCE(WEIGHT, from_a[i], BK);
#if POINTWISE
uint64_t from_b[GATHERED];  // where the next slice's pieces of the input lie
uint pixels_left;
LOAD_OPERAND_PIECE(load_pixels, X)
#define FETCH_B(i)                                                                           \
  next_b[i] = load_pixels(from_b[i], piece_at(i, BN, true) + ahead, pixels_left, p.taps, true, \
                          true, true);                                                       \
  from_b[i] = ADVANCE(X, from_b[i], uint64_t(BK) * out_plane(p.geometry));
#elif CHANNELS_LAST
uint met;  // which of the pieces in next_b have met the input: a bit each
/// Of a piece that meets nothing the input's first is read and not used, so that no load waits
/// behind a branch.
#define FETCH_B(i)                                                                 \
  {                                                                                 \
    const bool meets_it = meets(p.geometry, at_pixels[i], masks[i], tap);           \
    next_b[i] = LOAD8_HALVES(meets_it ? ADVANCE(X, origins[i], uint(tap.x)) : p.x); \
    met |= meets_it ? 1u << i : 0u;                                                 \
  }
#elif MATRICES
/// Taps `depth` and `depth` + 1 of the slice at this invocation's pixel.
uint read_two_taps(uint step, uint depth) {
  const ivec2 first = tap_table[step % 2][depth], second = tap_table[step % 2][depth + 1];
  uint v = 0;
  if (meets(p.geometry, pixel, mask, first)) {
    v = LOAD_BITS(X, ADVANCE(X, origin, uint(first.x)), 0);
  }
  if (meets(p.geometry, pixel, mask, second)) {
    v |= LOAD_BITS(X, ADVANCE(X, origin, uint(second.x)), 0) << 16;
  }
  return v;
}
uvec4 read_taps(uint step, uint depth) {
  return uvec4(read_two_taps(step, depth), read_two_taps(step, depth + 2),
               read_two_taps(step, depth + 4), read_two_taps(step, depth + 6));
}
#define FETCH_B(i) next_b[i] = read_taps(step, DEPTH(i) * 8);
#else
#define FETCH_B(i) \
  next_b[i] = read_tap(p.geometry, origin, pixel, mask, tap_table[step % 2][DEPTH(i)]);
#endif
void fetch(uint step) {
  const uvec2 ahead = uvec2(0, (first_step + step) * BK);
  REPEAT(PIECES_A, FETCH_A)
#if CHANNELS_LAST
  const ivec2 tap = tap_at(p.geometry, walk);
  met = 0;
#endif
  REPEAT(GATHERED, FETCH_B)
#if CHANNELS_LAST
  advance(walk, BK);
#endif
  fetched = step;
}

#define STAGE_A(i) STAGE_PIECE_A(piece_at(i, BM, false), false, next_a[i])
#if POINTWISE
#define STAGE_B(i) STAGE_PIECE_B(piece_at(i, BN, true), true, next_b[i])
#elif CHANNELS_LAST
#define STAGE_B(i)                              \
  STAGE_PIECE_B(piece_at(i, BN, false), false, \
                (met >> i & 1u) != 0u ? next_b[i] : uvec4(0))
#elif MATRICES
#define STAGE_B(i) STAGE_PIECE_B(uvec2(n, DEPTH(i) * 8), false, next_b[i])
#else
#define STAGE_B(i) tile_b[side * (BK * B_STRIDE) + DEPTH(i) * B_STRIDE + n / 4][n % 4] = next_b[i];
#endif
void stage(uint side) {
  REPEAT(PIECES_A, STAGE_A)
  const uint n = gl_LocalInvocationID.x % BN;
  REPEAT(GATHERED, STAGE_B)
#if !POINTWISE && !CHANNELS_LAST
  // For the next fetch(): that half of the table was last read before the previous barrier.
  tabulate(fetched + 1);
#endif
}

float load_bias(uint first, uint row) {
  float v = 0.0;
#if BIAS
  if (EDGES == 0 || row < channels_left) v = LOAD(BIASES, p.bias, first + row);
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
  return ADVANCE(Y, result, uint64_t(pixel.image) * p.out_channels * plane + pixel.at);
#else
  const uint image = n / plane;
  return ADVANCE(Y, result, uint64_t(image) * p.out_channels * plane + (n - image * plane));
#endif
}

bool stored(uint n, uint64_t to) { return TRANSPOSED != 0 ? to != 0ul : n < p.pixels; }

/// Pixels n to n + 3 of the channel `offset` bytes on; to[i] is the address of pixel n + i.
void store(uint64_t to[4], uint64_t offset, uint row, uint n, vec4 v) {
  if (EDGES == 0 || row < channels_left) {
#if C_QUADS
    if (stored(n, to[0])) STORE4(Y, to[0] + offset, 0, v);
#else
    if (stored(n, to[0])) STORE(Y, to[0] + offset, 0, v.x);
    if (stored(n + 1, to[1])) STORE(Y, to[1] + offset, 0, v.y);
    if (stored(n + 2, to[2])) STORE(Y, to[2] + offset, 0, v.z);
    if (stored(n + 3, to[3])) STORE(Y, to[3] + offset, 0, v.w);
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
  taps = (CHANNELS_LAST != 0 ? CHANNELS_LAST : p.group_channels) * window_size();
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
  const uint64_t weights = ADVANCE(
      WEIGHT, p.weight, (uint64_t(phase) * p.out_channels + first) * p.taps + first_step * BK);
#define LOCATE_A(i) \
  from_a[i] = ADVANCE(WEIGHT, weights, piece_offset(p.taps, piece_at(i, BM, false), false));
  REPEAT(PIECES_A, LOCATE_A)
#if POINTWISE
  pixels_left = p.pixels - n0;
#define LOCATE_B(i)                                                                            \
  from_b[i] = ADVANCE(X,                                                                       \
                      origin_of(p.geometry, p.x,                                               \
                                pixel_of(p.geometry, n0 + piece_at(i, BN, true).x), p.channels, \
                                part * p.group_channels),                                      \
                      uint64_t(first_step * BK + piece_at(i, BN, true).y) * out_plane(p.geometry));
  REPEAT(GATHERED, LOCATE_B)
#elif CHANNELS_LAST
#define LOCATE_B(i)                                                                           \
  at_pixels[i] = pixel_of(p.geometry, min(n0 + piece_at(i, BN, false).x, p.pixels - 1));      \
  masks[i] = inside_mask(p.geometry, at_pixels[i]);                                           \
  origins[i] = origin_of(p.geometry, p.x, at_pixels[i], p.channels, part * p.group_channels);
  // Past the last pixel: any pixel will do, its results are not stored.
  REPEAT(GATHERED, LOCATE_B)
  walk = walk_to(first_step * BK + piece_at(0, BN, false).y);
#else
  // Past the last pixel: any pixel will do, its results are not stored.
  pixel = pixel_of(p.geometry, min(n0 + gl_LocalInvocationID.x % BN, p.pixels - 1));
  mask = inside_mask(p.geometry, pixel);
  origin = origin_of(p.geometry, p.x, pixel, p.channels, part * p.group_channels);
  tabulate(0);
  barrier();
#endif

  // A phase without taps, or a split past a phase's last, has one slice of zeros.
  const uint steps = ceil_div(taps, BK);
  multiply_slices(clamp(steps - min(steps, first_step), 1u, p.split_steps));

  const uint plane = out_plane(p.geometry);
  const uint64_t result = ADVANCE(Y, p.y, uint64_t(split) * p.out_channels * p.images * plane);
  float bias[TM];
  uint64_t to[QUADS_N][4];
#define LOAD_BIAS(i) bias[i] = load_bias(first, tile_row(i));
#define LOCATE(j)                                \
  to[j][0] = address_of(result, n0 + tile_column(j));     \
  to[j][1] = address_of(result, n0 + tile_column(j) + 1); \
  to[j][2] = address_of(result, n0 + tile_column(j) + 2); \
  to[j][3] = address_of(result, n0 + tile_column(j) + 3);
#define STORE_QUAD(i, j)                                                                   \
  store(to[j], ADVANCE(Y, 0ul, uint64_t(first + tile_row(i)) * plane), tile_row(i),        \
        n0 + tile_column(j), acc[i][j] + bias[i]);
#define STORE_ROW(i) REPEAT_WITH(QUADS_N, STORE_QUAD, i)
  REPEAT(TM, LOAD_BIAS)
  REPEAT(QUADS_N, LOCATE)
  REPEAT(TM, STORE_ROW)
}
