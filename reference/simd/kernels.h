// The inner loops of the reference, compiled once for each instruction set and picked at run time.
// They know nothing of tensors or threads: pointers, counts and strides in elements.
#pragma once

#include <stdint.h>

namespace kbench::reference {

enum class Unary {
  relu,
  leaky_relu,
  sigmoid,
  gelu,
  square,
  sqrt,
  exp,
  log,
  erf,
  tanh,
  selu,
  elu,
  softplus,
  mish,
  hardsigmoid,
  hardswish,
  abs,
  neg,
  clamp_min,
  clamp_max,
  add,
  sub,
  mul,
  div
};
enum class Binary { add, sub, mul, div, maximum, minimum };

/// Count, mean and sum of squared deviations.
struct Moments {
  double count = 0, mean = 0, m2 = 0;
};

/// A value and where it was found.
template <class T>
struct Found {
  T value;
  int64_t index;
};

/// Elements that stand together in one array and shall in another.
struct Run {
  int64_t from, to, count;
};

/// The left operand's rows of a matrix product, or the right one's columns: element k of the i-th
/// stands at data[i * step + k * depth_step].
template <class T>
struct ProductOperand {
  const T* data;
  int64_t step, depth_step;

  ProductOperand at(int64_t i, int64_t k) const {
    return {data + i * step + k * depth_step, step, depth_step};
  }
};

/// A small matrix product: a[i, k] stands at a[i * a_row + k * a_col], b[k, j] at b[k * b_row + j],
/// rows of b reading as whole vectors.
template <class T>
struct ProductTile {
  int64_t depth;
  const T* a;
  int64_t a_row, a_col;
  const T* b;
  int64_t b_row;
  const T* start;  ///< what the sums are added to, or null; may be c
  int64_t start_row;
  T* c;
  int64_t c_row;
};

/// The row length that column kernels take at most: their state stays in the first-level cache.
constexpr int64_t kColumnBlock = 64;

template <class T>
struct Kernels {
  // --- elementwise; y may be an input ------------------------------------------------------------
  /// y[i] = op(x[i]); `value` is the operator's number (slope, addend ...).
  void (*unary)(Unary op, T value, const T* x, T* y, int64_t n);
  void (*binary)(Binary op, const T* a, const T* b, T* y, int64_t n);
  void (*binary_right)(Binary op, const T* a, T b, T* y, int64_t n);  ///< op(a[i], b)
  void (*binary_left)(Binary op, T a, const T* b, T* y, int64_t n);   ///< op(a, b[i])
  /// y[i] = (x[i] - mean) * scale + shift
  void (*affine)(const T* x, T mean, T scale, T shift, T* y, int64_t n);
  /// y[i] = (x[i] - mean) * scale * weight[i] + bias[i]
  void (*affine_each)(const T* x, T mean, T scale, const T* weight, const T* bias, T* y, int64_t n);

  // --- contiguous rows ---------------------------------------------------------------------------
  double (*sum)(const T* x, int64_t n);          ///< accumulated in double
  double (*sum_squares)(const T* x, int64_t n);  ///< squares rounded to T
  Moments (*moments)(const T* x, int64_t n);
  T (*dot)(const T* a, const T* b, int64_t n);
  Found<T> (*argmax)(const T* x, int64_t n);  ///< first of equals; the first NaN is largest
  Found<T> (*argmin)(const T* x, int64_t n);  ///< first of equals; the first NaN is smallest
  T (*max)(const T* x, int64_t n);            ///< NaN wins, here and below
  T (*min)(const T* x, int64_t n);
  /// sum of exp(x[i] - max x), the maximum left in *max; the terms in y where it is not null.
  double (*exp_sum)(const T* x, int64_t n, T* max, T* y);
  /// Running sums of `rows` rows, `stride` apart, accumulated in double.
  void (*cumsum)(const T* x, T* y, int64_t rows, int64_t stride, int64_t n);
  void (*cumprod)(const T* x, T* y, int64_t rows, int64_t stride, int64_t n);

  // --- columns: n rows `stride` apart, of cols <= kColumnBlock elements
  // ----------------------------
  void (*sum_columns)(const T* x, int64_t n, int64_t stride, int64_t cols, double* sums);
  void (*sum_squares_columns)(const T* x, int64_t n, int64_t stride, int64_t cols, double* sums);
  void (*argmax_columns)(const T* x, int64_t n, int64_t stride, int64_t cols, int64_t* index);
  void (*argmin_columns)(const T* x, int64_t n, int64_t stride, int64_t cols, int64_t* index);
  void (*max_columns)(const T* x, int64_t n, int64_t stride, int64_t cols, T* y);
  void (*min_columns)(const T* x, int64_t n, int64_t stride, int64_t cols, T* y);
  void (*cumsum_columns)(const T* x, T* y, int64_t n, int64_t stride, int64_t cols);
  void (*cumprod_columns)(const T* x, T* y, int64_t n, int64_t stride, int64_t cols);
  void (*softmax_columns)(const T* x, T* y, int64_t n, int64_t stride, int64_t cols);
  /// The columns' maxima and sums of exp(x - max).
  void (*exp_sum_columns)(const T* x, int64_t n, int64_t stride, int64_t cols, T* max,
                          double* sums);

  // --- windows -----------------------------------------------------------------------------------
  /// y[i] = max(y[i], x[i * stride]), NaN winning.
  void (*max_strided)(const T* x, int64_t stride, T* y, int64_t n);
  /// y[i] += x[i * stride]
  void (*add_strided)(const T* x, int64_t stride, T* y, int64_t n);
  /// y[i] = x[i * stride]
  void (*copy_strided)(const T* x, int64_t stride, T* y, int64_t n);
  /// y[i * stride] = x[i]
  void (*scatter)(const T* x, int64_t stride, T* y, int64_t n);
  /// Copies runs in whole vectors: up to kRunSlack elements more than asked for are read and
  /// written, so runs must be in ascending order of `to`.
  void (*copy_runs)(const T* x, const Run* runs, int64_t count, T* y);
  /// y[i] = bias + sum over t of weight[t] * x[offset[t] + i], in whole vectors: up to kRunSlack
  /// elements more than asked for are read and written.
  void (*correlate)(const T* x, const int64_t* offset, const T* weight, int64_t taps, T bias, T* y,
                    int64_t n);

  // --- recurrent cells; n units' gates `stride` apart, those from x and from h -------------------
  /// Gates i, f, g, o: c = sigmoid(f) * c + sigmoid(i) * tanh(g), h = sigmoid(o) * tanh(c).
  void (*lstm_cell)(const T* from_x, int64_t x_stride, const T* from_h, int64_t h_stride, T* c,
                    T* h, int64_t n);
  /// Gates r, z, n: n = tanh(n_x + sigmoid(r) * n_h), y = (1 - sigmoid(z)) * n + sigmoid(z) * h.
  void (*gru_cell)(const T* from_x, int64_t x_stride, const T* from_h, int64_t h_stride, const T* h,
                   T* y, int64_t n);

  // --- matrix product ----------------------------------------------------------------------------
  int vector_bytes, tile_rows, tile_cols;
  /// c = start + a b for rows <= tile_rows and cols <= tile_cols.
  void (*tile)(int rows, int cols, const ProductTile<T>& t);
  /// The same for operands that both lie depth by depth, a_col being 1 and b[k, j] standing at
  /// b[j * b_row + k]; any number of rows and columns.
  void (*dots)(int rows, int cols, const ProductTile<T>& t);
  /// Panels of tile_rows rows of a (tile_cols columns of b), `count` of those in all: element k of
  /// the i-th goes to to[i / width * panel_step + k * width + i % width]. The last panel is filled
  /// up with zeros.
  void (*pack_rows)(const ProductOperand<T>& from, int64_t count, int64_t depth, int64_t panel_step,
                    T* to);
  void (*pack_cols)(const ProductOperand<T>& from, int64_t count, int64_t depth, int64_t panel_step,
                    T* to);
};

/// What copy_runs may touch past a run's end.
constexpr int64_t kRunSlack = 16;

/// The fastest set this processor runs. Defined for float and double.
template <class T>
const Kernels<T>& kernels();
/// Every set this processor runs, the portable one first, for tests.
template <class T>
struct KernelSet {
  const char* name;
  const Kernels<T>* kernels;
};
template <class T>
int kernel_sets(KernelSet<T> (&sets)[3]);

}  // namespace kbench::reference
