// The heart of the matrix products: a workgroup makes a BM x BN tile of the result, a thread TM x
// TN of it in registers. Tiles of both factors, BK deep, lie in shared memory twice over: while one
// pair is multiplied, the next is on its way from memory, and one barrier a step is enough.
//
// Both factors are kept depth-first (row k holds column k of A, row k of B), so that a thread reads
// what it needs as vec4. Loading A row by row then stores each vec4 down a column; `swizzled` moves
// row k's vec4s about so that those stores meet all 32 banks, without the memory padding would
// take.
//
// BM and BN must be multiples of 32, BK of 4, TM and TN of 4, BM / TM of 4 and BN / TN of 8.
#define THREAD_ROWS (BM / TM)
#define THREAD_COLS (BN / TN)
#define THREADS (THREAD_ROWS * THREAD_COLS)
layout(local_size_x = THREADS) in;

shared vec4 tile_a[2][BK][BM / 4];
shared vec4 tile_b[2][BK][BN / 4];

// acc[i][j]: row i, columns 4 j .. 4 j + 3 of this thread's part, as tile_row and tile_col place
// it.
vec4 acc[TM][TN / 4];

uint swizzled(uint k, uint index) { return index ^ (k / 4 * 2); }

// Where a thread sits: 4 x 8 neighbours form a block, so that the 32 threads that run together read
// few distinct vec4s of either tile; within it neighbours share a column in pairs.
uint thread_row() {
  uint within = gl_LocalInvocationIndex % 32;
  return gl_LocalInvocationIndex / 32 / (THREAD_COLS / 8) * 4 + within / 16 * 2 + within % 2;
}
uint thread_col() {
  return gl_LocalInvocationIndex / 32 % (THREAD_COLS / 8) * 8 + gl_LocalInvocationIndex / 2 % 8;
}
// A thread's rows and columns come in groups of four, spread over the tile.
uint tile_row(uint i) { return (i / 4 * THREAD_ROWS + thread_row()) * 4 + i % 4; }
uint tile_col(uint j) { return (j * THREAD_COLS + thread_col()) * 4; }

void clear_acc() {
  [[unroll]] for (uint i = 0; i < TM; ++i) {
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) acc[i][j] = vec4(0.0);
  }
}

void multiply_tiles(uint stage) {
  uint row = thread_row();
  uint col = thread_col();
  [[unroll]] for (uint k = 0; k < BK; ++k) {
    vec4 a[TM / 4];
    vec4 b[TN / 4];
    [[unroll]] for (uint i = 0; i < TM / 4; ++i) {
      a[i] = tile_a[stage][k][swizzled(k, i * THREAD_ROWS + row)];
    }
    [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
      b[j] = tile_b[stage][k][swizzled(k, j * THREAD_COLS + col)];
    }
    [[unroll]] for (uint i = 0; i < TM; ++i) {
      [[unroll]] for (uint j = 0; j < TN / 4; ++j) {
        acc[i][j] = fma(vec4(a[i / 4][i % 4]), b[j], acc[i][j]);
      }
    }
  }
}
