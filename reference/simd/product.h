// What matrix products are made of: tiles of outputs kept in registers.
#pragma once

#include "reference/simd/kernels.h"
#include "reference/simd/vector.h"

namespace kbench::reference::KBENCH_ISA {

// Registers hold the tile's sums, one row of b and a broadcast element of a.
constexpr int kTileRows = kVectorBytes == 64 ? 8 : 4;
constexpr int kTileVectors = 3;

/// The first n < lanes elements, zeros behind them.
template <class T>
inline Vector<T> load_some(const T* p, int64_t n) {
  Vector<T> v = {};
  __builtin_memcpy(&v, p, n * sizeof(T));
  return v;
}

/// A tile of that many rows, its last vector as full as `cols` leaves it.
template <int rows, int vectors, class T>
void tile_of(int cols, const ProductTile<T>& t) {
  constexpr int kLanes = Lanes<T>::count;
  const T* a[rows];
  for (int i = 0; i < rows; ++i) a[i] = t.a + i * t.a_row;
  const T* b = t.b;
  const int64_t depth = t.depth, a_col = t.a_col, b_row = t.b_row;
  for (int i = 0; i < rows; ++i) {  // needed at the end, so that it comes meanwhile
    for (int j = 0; j < vectors; ++j) __builtin_prefetch(t.c + i * t.c_row + j * kLanes, 1);
  }
  Vector<T> sum[rows][vectors] = {};
  for (int64_t k = 0, at = 0; k < depth; ++k, at += a_col, b += b_row) {
    Vector<T> row[vectors];
    for (int j = 0; j < vectors; ++j) row[j] = load(b + j * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < vectors; ++j) sum[i][j] += a[i][at] * row[j];
    }
  }
  const int last = cols - (vectors - 1) * kLanes;
#pragma GCC unroll 8
  for (int i = 0; i < rows; ++i) {
    T* c = t.c + i * t.c_row;
    const T* start = t.start + i * t.start_row;
#pragma GCC unroll 3
    for (int j = 0; j < vectors; ++j) {
      const bool whole = j + 1 < vectors || last == kLanes;
      Vector<T> v = sum[i][j];
      if (t.start != nullptr) {
        v += whole ? load(start + j * kLanes) : load_some(start + j * kLanes, last);
      }
      if (whole) {
        store(c + j * kLanes, v);
      } else {
        __builtin_memcpy(c + j * kLanes, &v, last * sizeof(T));
      }
    }
  }
}

template <class T>
void tile(int rows, int cols, const ProductTile<T>& t) {
  using TileOf = void (*)(int, const ProductTile<T>&);
  struct Table {
    TileOf of[kTileRows][kTileVectors];
  };
  static constexpr Table kTable = [] {
    Table table = {};
    const auto fill_row = [&]<int r>() {
      table.of[r - 1][0] = tile_of<r, 1, T>;
      table.of[r - 1][1] = tile_of<r, 2, T>;
      table.of[r - 1][2] = tile_of<r, 3, T>;
    };
    const auto fill_rows = [&]<int... r>(Numbers<r...>) {
      (fill_row.template operator()<r + 1>(), ...);
    };
    fill_rows(UpTo<kTileRows>{});
    return table;
  }();
  kTable.of[rows - 1][(cols - 1) / Lanes<T>::count](cols, t);
}

/// The sum of all lanes, halves first.
template <class T>
inline T add_up(Vector<T> v) {
  typedef T Half __attribute__((vector_size(kVectorBytes / 2)));
  Half halves[2];
  __builtin_memcpy(halves, &v, sizeof v);
  halves[0] += halves[1];
  T sum[Lanes<T>::count / 2];
  __builtin_memcpy(sum, halves, sizeof sum);
  for (int n = Lanes<T>::count / 4; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) sum[i] += sum[i + n];
  }
  return sum[0];
}

template <int rows, int cols, class T>
void dots_of(const ProductTile<T>& t) {
  constexpr int kLanes = Lanes<T>::count;
  Vector<T> sum[rows][cols] = {};
  const auto step = [&](const auto& get) {
    Vector<T> b[cols];
    for (int j = 0; j < cols; ++j) b[j] = get(t.b + j * t.b_row);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const Vector<T> a = get(t.a + i * t.a_row);
      for (int j = 0; j < cols; ++j) sum[i][j] += a * b[j];
    }
  };
  int64_t k = 0;
  for (; k + kLanes <= t.depth; k += kLanes) step([&](const T* p) { return load(p + k); });
  if (k < t.depth) step([&](const T* p) { return load_some(p + k, t.depth - k); });
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      const T start = t.start == nullptr ? T(0) : t.start[i * t.start_row + j];
      t.c[i * t.c_row + j] = start + add_up<T>(sum[i][j]);
    }
  }
}

template <class T>
void dots(int rows, int cols, const ProductTile<T>& t) {
  constexpr int kRows = kVectorBytes == 64 ? 4 : 2, kCols = 4;
  for (int j = 0; j < cols;) {
    const int columns = cols - j >= kCols ? kCols : 1;
    for (int i = 0; i < rows;) {
      ProductTile<T> part = t;
      part.a += i * t.a_row;
      part.b += j * t.b_row;
      part.start += t.start == nullptr ? 0 : i * t.start_row + j;
      part.c += i * t.c_row + j;
      const int count = rows - i >= kRows ? kRows : 1;
      const auto run = count == kRows
                           ? (columns == kCols ? dots_of<kRows, kCols, T> : dots_of<kRows, 1, T>)
                           : (columns == kCols ? dots_of<1, kCols, T> : dots_of<1, 1, T>);
      run(part);
      i += count;
    }
    j += columns;
  }
}

}  // namespace kbench::reference::KBENCH_ISA
