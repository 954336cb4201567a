// The cells of recurrent layers, unit by unit.
#pragma once

#include "reference/simd/kernels.h"
#include "reference/simd/math.h"

namespace kbench::reference::KBENCH_ISA {

template <class T>
void lstm_cell(const T* from_x, int64_t x_stride, const T* from_h, int64_t h_stride, T* c, T* h,
               int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const auto gate = [=](int64_t g) {
      return from_x[g * x_stride + i] + from_h[g * h_stride + i];
    };
    const T cell = sigmoid(gate(1)) * c[i] + sigmoid(gate(0)) * tanh(gate(2));
    c[i] = cell;
    h[i] = sigmoid(gate(3)) * tanh(cell);
  }
}

template <class T>
void gru_cell(const T* from_x, int64_t x_stride, const T* from_h, int64_t h_stride, const T* h,
              T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T reset = sigmoid(from_x[i] + from_h[i]);
    const T keep = sigmoid(from_x[x_stride + i] + from_h[h_stride + i]);
    const T fresh = tanh(from_x[2 * x_stride + i] + reset * from_h[2 * h_stride + i]);
    y[i] = (T(1) - keep) * fresh + keep * h[i];
  }
}

}  // namespace kbench::reference::KBENCH_ISA
