// Reductions of x [BATCH, LENGTH, COLS] over LENGTH: a block takes 128 neighbouring columns of one
// batch entry, so that loads are contiguous, and LANES threads share a column, each every LANES-th
// row. That many blocks fill a device without splitting LENGTH further. Grid: column blocks along
// x, batch entries along y.
#pragma once
#include "rows.cuh"

constexpr int kWidth = 128;
constexpr int kLanes = 4;
constexpr int kUnroll = 8;  // loads that go out before the first is needed

struct Column {
  const KB_REAL* start;  // of this thread's rows: lane, lane + kLanes, ...
  int rows;
  bool inside;
  size_t output;  // where the column's result belongs

  explicit Column(const KB_REAL* x) {
    const int column = blockIdx.x * kWidth + threadIdx.x;
    const int lane = threadIdx.y;
    inside = column < COLS && lane < LENGTH;
    rows = inside ? (LENGTH - lane + kLanes - 1) / kLanes : 0;
    start = x + (size_t{blockIdx.y} * LENGTH + lane) * COLS + column;
    output = size_t{blockIdx.y} * COLS + column;
  }
  float operator[](int r) const { return stream_load(start + size_t(r) * (kLanes * COLS)); }
};
