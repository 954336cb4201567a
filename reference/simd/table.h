// The table of one instruction set; KBENCH_ISA names it.
#pragma once

#include "reference/simd/columns.h"
#include "reference/simd/elementwise.h"
#include "reference/simd/panels.h"
#include "reference/simd/product.h"
#include "reference/simd/recurrent.h"
#include "reference/simd/rows.h"
#include "reference/simd/windows.h"

namespace kbench::reference::KBENCH_ISA {

template <class T>
constexpr Kernels<T> kTable = {
    .unary = unary<T>,
    .binary = binary<T>,
    .binary_right = binary_right<T>,
    .binary_left = binary_left<T>,
    .affine = affine<T>,
    .affine_each = affine_each<T>,
    .sum = sum_of<Itself, T>,
    .sum_squares = sum_of<Squared, T>,
    .moments = moments<T>,
    .dot = dot<T>,
    .argmax = arg_extreme<largest, T>,
    .argmin = arg_extreme<smallest, T>,
    .max = extreme<largest, T>,
    .min = extreme<smallest, T>,
    .exp_sum = exp_sum<T>,
    .cumsum = scan<RunningSum, T>,
    .cumprod = scan<RunningProduct, T>,
    .sum_columns = sum_columns<Itself, T>,
    .sum_squares_columns = sum_columns<Squared, T>,
    .argmax_columns = arg_extreme_columns<largest, T>,
    .argmin_columns = arg_extreme_columns<smallest, T>,
    .max_columns = extreme_columns<largest, T>,
    .min_columns = extreme_columns<smallest, T>,
    .cumsum_columns = scan_columns<RunningSum, T>,
    .cumprod_columns = scan_columns<RunningProduct, T>,
    .softmax_columns = softmax_columns<T>,
    .exp_sum_columns = exp_sum_columns<T>,
    .max_strided = max_strided<T>,
    .add_strided = add_strided<T>,
    .copy_strided = copy_strided<T>,
    .scatter = scatter<T>,
    .copy_runs = copy_runs<T>,
    .correlate = correlate<T>,
    .lstm_cell = lstm_cell<T>,
    .gru_cell = gru_cell<T>,
    .vector_bytes = kVectorBytes,
    .tile_rows = kTileRows,
    .tile_cols = kTileVectors* Lanes<T>::count,
    .tile = tile<T>,
    .dots = dots<T>,
    .pack_rows = pack_rows<T>,
    .pack_cols = pack_cols<T>,
};

extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
const Kernels<float> kFloat = kTable<float>;
const Kernels<double> kDouble = kTable<double>;

}  // namespace kbench::reference::KBENCH_ISA
