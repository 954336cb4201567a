#include "reference/ops/reduction.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/parallel.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

constexpr int64_t kExpWork = 8;  // steps that exp counts for

/// Calls body(x offset, y offset, columns) for blocks of columns, in parallel; the y offset is that
/// of the block's first element in [outer, inner].
template <class Body>
void for_column_blocks(const Axis& axis, const Body& body) {
  const int64_t blocks = (axis.inner + kColumnBlock - 1) / kColumnBlock;
  const int64_t work = axis.n * std::min(axis.inner, kColumnBlock);
  parallel_for(axis.outer * blocks, grain_of(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / blocks, column = i % blocks * kColumnBlock;
      body(outer * axis.n * axis.inner + column, outer * axis.inner + column,
           std::min(kColumnBlock, axis.inner - column));
    }
  });
}

/// Of a row that is worth spreading over threads; `piece` adds up a part of it.
template <class T, class Piece>
double long_sum(const T* x, int64_t n, Piece piece) {
  constexpr int64_t kPiece = 1 << 16;
  std::vector<double> parts((n + kPiece - 1) / kPiece);
  parallel_for(static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      parts[i] = piece(x + i * kPiece, std::min(kPiece, n - i * kPiece));
    }
  });
  return kernels<double>().sum(parts.data(), static_cast<int64_t>(parts.size()));
}

/// y = result(the sum along n) for each line; `row` and `columns` add up.
template <class T, class Row, class Columns, class Result>
void add_up(const T* x, const Axis& axis, Row row, Columns columns, Result result, T* y) {
  if (axis.inner > 1) {
    for_column_blocks(axis, [&](int64_t from, int64_t to, int64_t count) {
      double sums[kColumnBlock];
      columns(x + from, axis.n, axis.inner, count, sums);
      for (int64_t c = 0; c < count; ++c) y[to + c] = static_cast<T>(result(sums[c]));
    });
  } else if (axis.outer < thread_count()) {
    for (int64_t i = 0; i < axis.outer; ++i) {
      y[i] = static_cast<T>(result(long_sum(x + i * axis.n, axis.n, row)));
    }
  } else {
    parallel_for(axis.outer, grain_of(axis.n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        y[i] = static_cast<T>(result(row(x + i * axis.n, axis.n)));
      }
    });
  }
}

/// The extreme of each line, or its index.
template <class T, class Row, class Columns, class Result>
void extreme(const T* x, const Axis& axis, Row row, Columns columns, Result* y) {
  if (axis.inner > 1) {
    return for_column_blocks(axis, [&](int64_t from, int64_t to, int64_t count) {
      columns(x + from, axis.n, axis.inner, count, y + to);
    });
  }
  parallel_for(axis.outer, grain_of(axis.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = row(x + i * axis.n, axis.n);
  });
}

template <class T, class Rows, class Columns>
void scan(const T* x, const Axis& axis, Rows rows, Columns columns, T* y) {
  if (axis.inner > 1) {
    return for_column_blocks(axis, [&](int64_t from, int64_t, int64_t count) {
      columns(x + from, y + from, axis.n, axis.inner, count);
    });
  }
  parallel_for(axis.outer, grain_of(axis.n), [&](int64_t begin, int64_t end) {
    rows(x + begin * axis.n, y + begin * axis.n, end - begin, axis.n, axis.n);
  });
}

/// max + log(sum), where sum is that of exp(x - max) over one line; an infinite maximum, whose
/// differences are NaN, is the result itself unless NaN is among the elements.
template <class T, class Element>
T log_sum(T max, double sum, int64_t n, Element element) {
  if (!std::isinf(max)) return max + static_cast<T>(std::log(sum));
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(element(i))) return element(i);
  }
  return max;
}

}  // namespace

Axis axis_of(const Shape& shape, int64_t axis) {
  Axis result;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    (i < axis ? result.outer : i == axis ? result.n : result.inner) *= shape[i];
  }
  return result;
}

template <class T>
void sum(const T* x, const Axis& axis, double scale, T* y) {
  const Kernels<T>& k = kernels<T>();
  add_up(
      x, axis, k.sum, k.sum_columns, [scale](double sum) { return sum * scale; }, y);
}

template <class T>
void norm(const T* x, const Axis& axis, T* y) {
  const Kernels<T>& k = kernels<T>();
  add_up(
      x, axis, k.sum_squares, k.sum_squares_columns, [](double sum) { return std::sqrt(sum); }, y);
}

template <class T>
void argmax(const T* x, const Axis& axis, int64_t* y) {
  const Kernels<T>& k = kernels<T>();
  const auto row = [&k](const T* line, int64_t n) { return k.argmax(line, n).index; };
  extreme(x, axis, row, k.argmax_columns, y);
}

template <class T>
void argmin(const T* x, const Axis& axis, int64_t* y) {
  const Kernels<T>& k = kernels<T>();
  const auto row = [&k](const T* line, int64_t n) { return k.argmin(line, n).index; };
  extreme(x, axis, row, k.argmin_columns, y);
}

template <class T>
void max(const T* x, const Axis& axis, T* y) {
  const Kernels<T>& k = kernels<T>();
  extreme(x, axis, k.max, k.max_columns, y);
}

template <class T>
void min(const T* x, const Axis& axis, T* y) {
  const Kernels<T>& k = kernels<T>();
  extreme(x, axis, k.min, k.min_columns, y);
}

template <class T>
void cumsum(const T* x, const Axis& axis, T* y) {
  const Kernels<T>& k = kernels<T>();
  scan(x, axis, k.cumsum, k.cumsum_columns, y);
}

template <class T>
void cumprod(const T* x, const Axis& axis, T* y) {
  const Kernels<T>& k = kernels<T>();
  scan(x, axis, k.cumprod, k.cumprod_columns, y);
}

template <class T>
void softmax(const T* x, const Axis& axis, T* y) {
  if (axis.inner > 1) {
    return for_column_blocks(axis, [&](int64_t from, int64_t, int64_t columns) {
      kernels<T>().softmax_columns(x + from, y + from, axis.n, axis.inner, columns);
    });
  }
  parallel_for(axis.outer, grain_of(kExpWork * axis.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T max;
      T* row = y + i * axis.n;
      const double total = kernels<T>().exp_sum(x + i * axis.n, axis.n, &max, row);
      kernels<T>().unary(Unary::mul, static_cast<T>(1 / total), row, row, axis.n);
    }
  });
}

template <class T>
void logsumexp(const T* x, const Axis& axis, T* y) {
  if (axis.inner > 1) {
    return for_column_blocks(axis, [&](int64_t from, int64_t to, int64_t columns) {
      T max[kColumnBlock];
      double sums[kColumnBlock];
      kernels<T>().exp_sum_columns(x + from, axis.n, axis.inner, columns, max, sums);
      for (int64_t c = 0; c < columns; ++c) {
        const T* column = x + from + c;
        y[to + c] =
            log_sum(max[c], sums[c], axis.n, [&](int64_t i) { return column[i * axis.inner]; });
      }
    });
  }
  parallel_for(axis.outer, grain_of(kExpWork * axis.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = x + i * axis.n;
      T max;
      const double sum = kernels<T>().exp_sum(row, axis.n, &max, nullptr);
      y[i] = log_sum(max, sum, axis.n, [&](int64_t j) { return row[j]; });
    }
  });
}

template <class T>
void log_softmax(const T* x, const Axis& axis, T* y) {
  if (axis.inner > 1) {
    return for_column_blocks(axis, [&](int64_t from, int64_t, int64_t columns) {
      T max[kColumnBlock], log[kColumnBlock];
      double sums[kColumnBlock];
      kernels<T>().exp_sum_columns(x + from, axis.n, axis.inner, columns, max, sums);
      for (int64_t c = 0; c < columns; ++c) log[c] = static_cast<T>(std::log(sums[c]));
      for (int64_t i = 0; i < axis.n; ++i) {
        const int64_t row = from + i * axis.inner;
        for (int64_t c = 0; c < columns; ++c) y[row + c] = x[row + c] - max[c] - log[c];
      }
    });
  }
  parallel_for(axis.outer, grain_of(kExpWork * axis.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = x + i * axis.n;
      T max;
      const double sum = kernels<T>().exp_sum(row, axis.n, &max, nullptr);
      kernels<T>().affine(row, max, T(1), -static_cast<T>(std::log(sum)), y + i * axis.n, axis.n);
    }
  });
}

#define KBENCH_INSTANTIATE(T)                               \
  template void sum<T>(const T*, const Axis&, double, T*);  \
  template void norm<T>(const T*, const Axis&, T*);         \
  template void argmax<T>(const T*, const Axis&, int64_t*); \
  template void argmin<T>(const T*, const Axis&, int64_t*); \
  template void max<T>(const T*, const Axis&, T*);          \
  template void min<T>(const T*, const Axis&, T*);          \
  template void logsumexp<T>(const T*, const Axis&, T*);    \
  template void cumsum<T>(const T*, const Axis&, T*);       \
  template void cumprod<T>(const T*, const Axis&, T*);      \
  template void softmax<T>(const T*, const Axis&, T*);      \
  template void log_softmax<T>(const T*, const Axis&, T*);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

}  // namespace kbench::reference
