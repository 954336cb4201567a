// The order in which tiles read their operands: panels of rows or columns, depth by depth.
#pragma once

#include "reference/simd/kernels.h"
#include "reference/simd/product.h"
#include "reference/simd/vector.h"

namespace kbench::reference::KBENCH_ISA {

/// Exchanges blocks of n x n in v[0 ... 2n) until rows are columns.
template <int n, class Block, int... lane>
inline void exchange(Block* v, Numbers<lane...>) {
  constexpr int kSize = sizeof...(lane);
  for (int i = 0; i < kSize; ++i) {
    if (i & n) continue;
    const Block x = v[i], y = v[i + n];
    v[i] = __builtin_shufflevector(x, y, (lane & n ? kSize + lane - n : lane)...);
    v[i + n] = __builtin_shufflevector(x, y, (lane & n ? kSize + lane : lane + n)...);
  }
  if constexpr (2 * n < kSize) exchange<2 * n>(v, Numbers<lane...>{});
}

/// to[j * to_row + i] = from[i * from_row + j]
template <class T>
void transpose(const T* from, int64_t from_row, int64_t rows, int64_t cols, T* to, int64_t to_row) {
  constexpr int kSize = 32 / sizeof(T);  // of a block: its rows fit 16 registers of 32 bytes
  constexpr int kLine = 64 / sizeof(T);
  typedef T Block __attribute__((vector_size(32)));
  typedef T Unaligned __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  const int64_t block_rows = rows / kSize * kSize, block_cols = cols / kSize * kSize;
  for (int64_t line = 0; line < block_cols; line += kLine) {  // a cache line of each row
    const int64_t end = line + kLine < block_cols ? line + kLine : block_cols;
    for (int64_t i = 0; i < block_rows; i += kSize) {
      for (int r = 0; r < kSize; ++r) {  // too many rows for the processor's own prefetching
        __builtin_prefetch(from + (i + r) * from_row + line + 4 * kLine, 0, 2);
      }
      for (int64_t j = line; j < end; j += kSize) {
        Block v[kSize];
        for (int r = 0; r < kSize; ++r) {
          v[r] = *reinterpret_cast<const Unaligned*>(from + (i + r) * from_row + j);
        }
        exchange<1>(v, UpTo<kSize>{});
        for (int r = 0; r < kSize; ++r) {
          *reinterpret_cast<Unaligned*>(to + (j + r) * to_row + i) = v[r];
        }
      }
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t done = i < block_rows ? block_cols : 0;
    for (int64_t j = done; j < cols; ++j) to[j * to_row + i] = from[i * from_row + j];
  }
}

/// Panels of a constant width.
template <int width, class T>
void pack_wide(const ProductOperand<T>& from, int64_t count, int64_t depth, int64_t panel_step,
               T* to) {
  if (const int64_t rest = count % width; rest != 0) {
    T* last = to + count / width * panel_step;
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t i = rest; i < width; ++i) last[k * width + i] = T(0);
    }
  }
  if (from.step == 1) {
    // Whole rows, since each may lie in a page of its own; where they go is fetched ahead.
    constexpr int kLine = 64 / sizeof(T), kAhead = 2;
    for (int64_t k = 0; k < depth; ++k) {
      const T* row = from.data + k * from.depth_step;
      T* panel = to + k * width;
      for (int64_t i = 0; i < count; i += width, panel += panel_step) {
        for (int j = 0; j < width; j += kLine) __builtin_prefetch(panel + kAhead * width + j, 1);
        if (i + width <= count) {
          __builtin_memcpy(panel, row + i, width * sizeof(T));
        } else {
          for (int64_t j = 0; j < count - i; ++j) panel[j] = row[i + j];
        }
      }
    }
    return;
  }
  for (int64_t i = 0; i < count; i += width, to += panel_step) {
    const int64_t size = i + width <= count ? width : count - i;
    const T* source = from.data + i * from.step;
    if (from.depth_step == 1) {
      transpose(source, from.step, size, depth, to, width);
    } else {
      for (int64_t k = 0; k < depth; ++k) {
        for (int64_t r = 0; r < size; ++r) {
          to[k * width + r] = source[r * from.step + k * from.depth_step];
        }
      }
    }
  }
}

template <class T>
void pack_rows(const ProductOperand<T>& from, int64_t count, int64_t depth, int64_t panel_step,
               T* to) {
  pack_wide<kTileRows>(from, count, depth, panel_step, to);
}
template <class T>
void pack_cols(const ProductOperand<T>& from, int64_t count, int64_t depth, int64_t panel_step,
               T* to) {
  pack_wide<kTileVectors * Lanes<T>::count>(from, count, depth, panel_step, to);
}

}  // namespace kbench::reference::KBENCH_ISA
