// The matrix product of gemm.comp on tensor cores, for factors of float16 with sums in float32. A
// workgroup makes a BM x BN tile of the result, a subgroup of 32 a WM x WN part of it in squares of
// 16. Tiles of both factors, 32 deep, lie in shared memory twice over, as in gemm_tile.glsl, four
// halves a uvec2, never converted on their way. Rows of a tile are 16 bytes longer than what they
// hold, so that rows that are read together meet different banks.
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_NV_cooperative_matrix : require

#if BM == 128
#define WM 64
#elif BM == 64
#define WM 32
#else
#define WM 16
#endif
#if BN >= 64
#define WN 32
#else
#define WN 16
#endif
#define THREADS (32 * (BM / WM) * (BN / WN))
#define TILE_DEPTH 32
#define DEEP_STRIDE (TILE_DEPTH / 4 + 2)  // of a row of A's tile, in uvec2s
#if TRANSPOSE_B
#define B_ROWS BN
#define B_PIECES (TILE_DEPTH / 4)
#else
#define B_ROWS TILE_DEPTH
#define B_PIECES (BN / 4)
#endif
#define B_STRIDE (B_PIECES + 2)
#define A_LOADS (BM * TILE_DEPTH / 4 / THREADS)
#define B_LOADS (BN * TILE_DEPTH / 4 / THREADS)
layout(local_size_x = THREADS) in;

layout(buffer_reference, std430, buffer_reference_align = 2) restrict readonly buffer Bits {
  uint16_t value;
};
layout(buffer_reference, std430, buffer_reference_align = 8) restrict readonly buffer Bits4 {
  uvec2 value;
};

shared uvec2 tile_a[2 * BM * DEEP_STRIDE];
shared uvec2 tile_b[2 * B_ROWS * B_STRIDE];
uvec2 from_a[A_LOADS];
uvec2 from_b[B_LOADS];

// Four halves of a row-major matrix from `col` on, a multiple of four; zero outside.
uvec2 fetch(uint64_t matrix, uint row, uint col, uint rows, uint cols, uint tile_rows,
            uint tile_cols) {
  if (rows % tile_rows != 0 && row >= rows) return uvec2(0);
  if (cols % tile_cols != 0 && col >= cols) return uvec2(0);
  uint64_t start = AT(matrix, uint64_t(row) * cols + col);
  if (cols % 4 == 0) return Bits4(start).value;
  uvec2 bits = uvec2(0);
  [[unroll]] for (uint j = 0; j < 4; ++j) {
    if (col + j < cols) bits[j / 2] |= uint(Bits(AT(start, j)).value) << j % 2 * 16;
  }
  return bits;
}

void fetch_tiles(uint64_t a0, uint64_t b0, uint first_row, uint first_col, uint k0) {
  const uint pieces = TILE_DEPTH / 4;
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    from_a[l] = fetch(a0, first_row + i / pieces, k0 + i % pieces * 4, ROWS, DEPTH, BM, TILE_DEPTH);
  }
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    uint row = i / B_PIECES;
    uint col = i % B_PIECES * 4;
#if TRANSPOSE_B
    from_b[l] = fetch(b0, first_col + row, k0 + col, COLS, DEPTH, BN, TILE_DEPTH);
#else
    from_b[l] = fetch(b0, k0 + row, first_col + col, DEPTH, COLS, TILE_DEPTH, BN);
#endif
  }
}

void store_tiles(uint stage) {
  const uint pieces = TILE_DEPTH / 4;
  [[unroll]] for (uint l = 0; l < A_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    tile_a[(stage * BM + i / pieces) * DEEP_STRIDE + i % pieces] = from_a[l];
  }
  [[unroll]] for (uint l = 0; l < B_LOADS; ++l) {
    uint i = l * THREADS + gl_LocalInvocationIndex;
    tile_b[(stage * B_ROWS + i / B_PIECES) * B_STRIDE + i % B_PIECES] = from_b[l];
  }
}

// Squares stay in registers only where every index is a constant, which [[unroll]] asks for but
// cannot promise: the preprocessor writes them out.
#if WM == 64
#define EACH_ROW(BODY) BODY(0) BODY(1) BODY(2) BODY(3)
#elif WM == 32
#define EACH_ROW(BODY) BODY(0) BODY(1)
#else
#define EACH_ROW(BODY) BODY(0)
#endif
#if WN == 32
#define EACH_COLUMN(BODY, i) BODY(i, 0) BODY(i, 1)
#else
#define EACH_COLUMN(BODY, i) BODY(i, 0)
#endif
fcoopmatNV<32, gl_ScopeSubgroup, 16, 16> acc[WM / 16][WN / 16];

uint part_row() { return gl_SubgroupID % (BM / WM) * WM; }
uint part_col() { return gl_SubgroupID / (BM / WM) * WN; }

#define LOAD_LEFT(i)                                                                             \
  coopMatLoadNV(left[i], tile_a, (stage * BM + part_row() + i * 16) * DEEP_STRIDE + k / 4, \
                DEEP_STRIDE, false);
#if TRANSPOSE_B
#define LOAD_RIGHT(i, j)                                                                       \
  coopMatLoadNV(right[j], tile_b, (stage * BN + part_col() + j * 16) * B_STRIDE + k / 4, \
                B_STRIDE, true);
#else
#define LOAD_RIGHT(i, j)                                                                        \
  coopMatLoadNV(right[j], tile_b,                                                               \
                (stage * TILE_DEPTH + k) * B_STRIDE + (part_col() + j * 16) / 4, B_STRIDE, false);
#endif
#define MULTIPLY_SQUARE(i, j) acc[i][j] = coopMatMulAddNV(left[i], right[j], acc[i][j]);
#define MULTIPLY_ROW(i) EACH_COLUMN(MULTIPLY_SQUARE, i)

void multiply_tiles(uint stage) {
  [[unroll]] for (uint k = 0; k < TILE_DEPTH; k += 16) {
    fcoopmatNV<16, gl_ScopeSubgroup, 16, 16> left[WM / 16];
    fcoopmatNV<16, gl_ScopeSubgroup, 16, 16> right[WN / 16];
    EACH_ROW(LOAD_LEFT)
    EACH_COLUMN(LOAD_RIGHT, 0)
    EACH_ROW(MULTIPLY_ROW)
  }
}

// Where the elements of a square lie in its subgroup's registers is not known: a square goes
// through a KiB of shared memory of the subgroup's own, from which its threads take four
// neighbours each.
void store_square(fcoopmatNV<32, gl_ScopeSubgroup, 16, 16> square, uint i, uint j, uint64_t c0,
                  uint first_row, uint first_col) {
  uint own = gl_SubgroupID * 128;
  coopMatStoreNV(square, tile_a, own, 8, false);
  subgroupMemoryBarrierShared();
  subgroupBarrier();
  for (uint piece = gl_SubgroupInvocationID; piece < 64; piece += gl_SubgroupSize) {
    uint row = first_row + part_row() + i * 16 + piece / 4;
    uint col = first_col + part_col() + j * 16 + piece % 4 * 4;
    if (row >= ROWS || col >= COLS) continue;
    uvec4 bits = uvec4(tile_a[own + piece * 2], tile_a[own + piece * 2 + 1]);
    vec4 v = epilogue(uintBitsToFloat(bits), bias_piece(col));
    store_piece(AT(c0, uint64_t(row) * COLS), col / 4, COLS, v);
  }
  subgroupMemoryBarrierShared();
  subgroupBarrier();
}

#define CLEAR_SQUARE(i, j) acc[i][j] = fcoopmatNV<32, gl_ScopeSubgroup, 16, 16>(0.0);
#define CLEAR_ROW(i) EACH_COLUMN(CLEAR_SQUARE, i)
#define STORE_SQUARE(i, j) store_square(acc[i][j], i, j, c0, first_row, first_col);
#define STORE_ROW(i) EACH_COLUMN(STORE_SQUARE, i)

void tile_product(uint64_t a0, uint64_t b0, uint64_t c0, uint first_row, uint first_col) {
  EACH_ROW(CLEAR_ROW)
  fetch_tiles(a0, b0, first_row, first_col, 0);
  store_tiles(0);
  barrier();
  uint stage = 0;
  for (uint k0 = TILE_DEPTH; k0 < DEPTH; k0 += TILE_DEPTH) {
    fetch_tiles(a0, b0, first_row, first_col, k0);
    multiply_tiles(stage);
    stage ^= 1;
    store_tiles(stage);
    barrier();
  }
  multiply_tiles(stage);
  barrier();
  EACH_ROW(STORE_ROW)
}
