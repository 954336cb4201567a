// Samples as tensors, and tensors held to a definition's answer.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kbench/tensor.h"
#include "tests/operators/definition.h"

namespace kbench::definitions {

/// One call and what it gives.
struct Example {
  OperatorCall call;
  std::vector<Array> inputs;
  Answer answer;
};

/// The elements in the array's type; floats in `real`: float32 or float64.
inline Tensor tensor_of(const Array& array, DType real = DType::f32) {
  Tensor tensor(array.dtype == DType::f32 ? real : array.dtype, array.shape);
  const auto fill = [&]<class T>(T) {
    for (size_t i = 0; i < array.values.size(); ++i) {
      tensor.data<T>()[i] = static_cast<T>(array.values[i]);
    }
  };
  if (tensor.dtype() == DType::f32) fill(float{});
  if (tensor.dtype() == DType::f64) fill(double{});
  if (tensor.dtype() == DType::i64) fill(int64_t{});
  if (tensor.dtype() == DType::boolean) fill(bool{});
  if (tensor.dtype() == DType::i32) fill(int32_t{});
  if (tensor.dtype() == DType::u32) fill(uint32_t{});
  if (tensor.dtype() == DType::u8) fill(uint8_t{});
  return tensor;
}
inline std::vector<Tensor> tensors_of(const std::vector<Array>& arrays, DType real = DType::f32) {
  std::vector<Tensor> tensors;
  for (const Array& array : arrays) tensors.push_back(tensor_of(array, real));
  return tensors;
}

/// One unit in the last place of a float16 or bfloat16 of that size.
inline double last_place(double value, DType real) {
  const bool f16 = real == DType::f16;
  const int least = f16 ? -14 : -126, bits = f16 ? 10 : 7;
  const double size = std::max(std::abs(value), std::ldexp(1.0, least));
  return std::ldexp(1.0, std::ilogb(size) - bits);
}

/// Integers, infinities and what is no number match, and everything else where no error is allowed:
/// then the truth is rounded once. Other elements lie within `error` of the truth, relative to its
/// own magnitude and the RMS of all; of results that were stored as `real`, float16 or bfloat16,
/// one unit in the last place is allowed besides, and an infinity near float16's end.
inline void expect_answer(const std::vector<Tensor>& got, const std::vector<Array>& truths,
                          double error, DType real = DType::f32) {
  ASSERT_EQ(got.size(), truths.size());
  for (size_t o = 0; o < got.size(); ++o) {
    const Array& truth = truths[o];
    ASSERT_EQ(got[o].shape(), truth.shape);
    double squares = 0;
    for (double v : truth.values) squares += std::isfinite(v) ? v * v : 0;
    const double rms = std::sqrt(squares / static_cast<double>(truth.values.size()));
    const bool single = got[o].dtype() == DType::f32;
    const auto is_right = [&](double v, double t) {
      if (std::isnan(t)) return std::isnan(v);
      if (v == t || v == (single ? static_cast<float>(t) : t)) return true;
      if (truth.dtype != DType::f32 || std::isinf(t)) return false;
      double allowed = error * (rms + std::abs(t));
      if (real != DType::f32) {
        allowed += last_place(std::max(std::abs(t), std::isfinite(v) ? std::abs(v) : 0), real);
        const bool too_large = real == DType::f16 && std::abs(t) + allowed > 65504;
        if (too_large && std::isinf(v) && std::signbit(v) == std::signbit(t)) return true;
      }
      return std::abs(v - t) <= allowed;
    };
    for (size_t i = 0; i < truth.values.size(); ++i) {
      const double v = got[o].at(static_cast<int64_t>(i)), t = truth.values[i];
      ASSERT_TRUE(is_right(v, t)) << "output " << o << ", element " << i << ": " << v << " for "
                                  << t;
    }
  }
}

}  // namespace kbench::definitions
