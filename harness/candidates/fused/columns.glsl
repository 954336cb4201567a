// Reductions of x [BATCH, LENGTH, COLS] over LENGTH: a workgroup takes 64 neighbouring columns of
// one batch entry, so that loads are contiguous, and four threads share a column, each every fourth
// row. That many workgroups fill a device without splitting LENGTH further. Grid: column blocks
// along x, batch entries folded into y and z.
#define LANES 4
#define UNROLL 8
layout(local_size_x = 64, local_size_y = LANES) in;
layout(push_constant) uniform Push {
  uint64_t x, y;  // addresses
};

uint batch_entry() { return gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y; }
uint column() { return gl_WorkGroupID.x * 64 + gl_LocalInvocationID.x; }
uint lane() { return gl_LocalInvocationID.y; }
// Where this thread's row r begins: rows lane, lane + LANES, ... of its column.
uint64_t column_start() {
  return AT(x, (uint64_t(batch_entry()) * LENGTH + lane()) * COLS + column());
}
#define ROW(start, r) LOAD(start, uint64_t(r) * (LANES * COLS))
uint rows_of_lane() { return (LENGTH - lane() + LANES - 1) / LANES; }
