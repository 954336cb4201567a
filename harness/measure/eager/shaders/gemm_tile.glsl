// The tile of a matrix product: a workgroup computes a BM x BN tile of the result from BK-deep
// slices of its operands, staged in shared memory with the next slice on its way in registers.
// Each invocation accumulates TM x TN elements. Besides BM, BN, BK, TM and TN the host defines
// THREADS = BM / TM * (BN / TN), QUADS_M = TM / 4, QUADS_N = TN / 4, and PIECES_A, PIECES_B, the
// pieces of a slice that an invocation loads, of four elements. The includer defines
//   void fetch(uint step)  starts loading slice `step` into registers
//   void stage(uint side)  writes what fetch() loaded to tile_a, tile_b of that side (0 or 1)
// Slices lie depth-major: element (wide, depth) is in quad depth * STRIDE + wide / 4.
// matrix_tile.glsl has the same for operands of 16 bits on matrix units.
#include "repeat.glsl"

#define PIECE_WIDTH 4
#include "tile_pieces.glsl"

const uint kThreadsX = BN / TN, kThreadsY = BM / TM;
#define A_STRIDE (BM / 4 + 1)  // one quad of padding spreads columns over the banks
#define B_STRIDE (BN / 4 + 1)

layout(local_size_x = THREADS) in;
shared vec4 tile_a[2 * BK * A_STRIDE];
shared vec4 tile_b[2 * BK * B_STRIDE];
vec4 acc[TM][QUADS_N];

void fetch(uint step);
void stage(uint side);

/// Where this invocation stands among kThreadsX x kThreadsY. Every 32 cover 8 x 4, and in pairs:
/// neighbours share a column, next neighbours a row, which lets 16-byte reads of shared memory
/// serve two invocations each.
uvec2 thread_position() {
  const uint block = gl_LocalInvocationID.x / 32, within = gl_LocalInvocationID.x % 32;
  const uint blocks_x = kThreadsX / 8;
  return uvec2(block % blocks_x * 8 + within / 2 % 8,
               block / blocks_x * 4 + within / 16 * 2 + within % 2);
}
/// Row of the tile that acc[i] belongs to; column of the tile that acc[.][j].x belongs to.
uint tile_row(uint i) { return i / 4 * (kThreadsY * 4) + thread_position().y * 4 + i % 4; }
uint tile_column(uint j) { return (j * kThreadsX + thread_position().x) * 4; }

#define LOAD_A(i) a[i] = tile_a[a_base + k * A_STRIDE + i * kThreadsY];
#define LOAD_B(j) b[j] = tile_b[b_base + k * B_STRIDE + j * kThreadsX];
#define MULTIPLY_QUAD(i, j) acc[i][j] = fma(vec4(a[i / 4][i % 4]), b[j], acc[i][j]);
#define MULTIPLY_ROW(i) REPEAT_WITH(QUADS_N, MULTIPLY_QUAD, i)
void multiply(uint side) {
  const uvec2 at = thread_position();
  const uint a_base = side * (BK * A_STRIDE) + at.y, b_base = side * (BK * B_STRIDE) + at.x;
  UNROLL_DEPTH for (uint k = 0; k < BK; ++k) {
    vec4 a[QUADS_M], b[QUADS_N];
    REPEAT(QUADS_M, LOAD_A)
    REPEAT(QUADS_N, LOAD_B)
    REPEAT(TM, MULTIPLY_ROW)
  }
}

#define CLEAR_QUAD(i, j) acc[i][j] = vec4(0.0);
#define CLEAR_ROW(i) REPEAT_WITH(QUADS_N, CLEAR_QUAD, i)
/// Accumulates `steps` slices, at least one. All invocations must call it.
void multiply_slices(uint steps) {
  REPEAT(TM, CLEAR_ROW)
  fetch(0);
  stage(0);
  barrier();
  for (uint step = 1; step < steps; ++step) {
    fetch(step);
    multiply((step - 1) % 2);
    stage(step % 2);
    barrier();
  }
  multiply((steps - 1) % 2);
}

// --- operands that are matrices in memory --------------------------------------------------------

#define TILE_PIECE vec4

/// Defines the function `name` for the operand X: the piece at address `from`; where `edges`, zero
/// outside [0, wide_end) x [0, depth_end). aligned: pieces are, and lie wholly inside or outside.
#define LOAD_OPERAND_PIECE(name, X)                                                        \
  TILE_PIECE name(uint64_t from, uvec2 at, uint wide_end, uint depth_end, bool along_wide, \
                  bool aligned, bool edges) {                                              \
    vec4 v = vec4(0.0);                                                                    \
    if (!edges || (at.x < wide_end && at.y < depth_end)) {                                 \
      if (aligned) {                                                                       \
        v = LOAD4(X, from, 0);                                                             \
      } else {                                                                             \
        const uint inside = !edges ? 4 : (along_wide ? wide_end - at.x : depth_end - at.y); \
        v.x = LOAD(X, from, 0);                                                            \
        if (inside > 1) v.y = LOAD(X, from, 1);                                            \
        if (inside > 2) v.z = LOAD(X, from, 2);                                            \
        if (inside > 3) v.w = LOAD(X, from, 3);                                            \
      }                                                                                    \
    }                                                                                      \
    return v;                                                                              \
  }

#define STAGE_PIECE(tile, tile_stride, at, along_wide, v)                              \
  if (along_wide) {                                                                    \
    tile[side * (BK * tile_stride) + (at).y * tile_stride + (at).x / 4] = v;           \
  } else {                                                                             \
    const uint first = side * (BK * tile_stride) + (at).y * tile_stride + (at).x / 4; \
    tile[first][(at).x % 4] = v.x;                                                     \
    tile[first + tile_stride][(at).x % 4] = v.y;                                       \
    tile[first + 2 * tile_stride][(at).x % 4] = v.z;                                   \
    tile[first + 3 * tile_stride][(at).x % 4] = v.w;                                   \
  }
/// Writes a piece of A or B to the tile's side `side`.
#define STAGE_PIECE_A(at, along_m, v) STAGE_PIECE(tile_a, A_STRIDE, at, along_m, v)
#define STAGE_PIECE_B(at, along_n, v) STAGE_PIECE(tile_b, B_STRIDE, at, along_n, v)
