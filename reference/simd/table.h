// The table of one instruction set; KBENCH_ISA names it.
#pragma once

#include "reference/simd/columns.h"
#include "reference/simd/elementwise.h"
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
    .sum = sum<T>,
    .moments = moments<T>,
    .dot = dot<T>,
    .argmax = argmax<T>,
    .exp_sum = exp_sum<T>,
    .cumsum = cumsum<T>,
    .sum_columns = sum_columns<T>,
    .argmax_columns = argmax_columns<T>,
    .cumsum_columns = cumsum_columns<T>,
    .softmax_columns = softmax_columns<T>,
    .max_strided = max_strided<T>,
    .copy_strided = copy_strided<T>,
    .copy_runs = copy_runs<T>,
    .vector_bytes = kVectorBytes,
    .tile_rows = kTileRows,
    .tile_cols = kTileVectors* Lanes<T>::count,
    .tile = tile<T>,
};

extern const Kernels<float> kFloat;
extern const Kernels<double> kDouble;
const Kernels<float> kFloat = kTable<float>;
const Kernels<double> kDouble = kTable<double>;

}  // namespace kbench::reference::KBENCH_ISA
