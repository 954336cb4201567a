// Samples as tensors, and tensors held to a definition's answer.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kbench/tensor.h"
#include "tests/operators/definition.h"

namespace kbench::definitions {

/// One call of odd extents and what it gives; `seed` and those after it are tried until walking
/// through the definition is quick.
struct Example {
  OperatorCall call;
  std::vector<Array> inputs;
  Answer answer;
};

inline Example example_of(const Definition& definition, uint32_t seed) {
  for (;; ++seed) {
    Dice dice(seed, Extents::odd);
    const Sample sample = definition.draw(dice);
    const OperatorCall call = call_of(definition, sample);
    if (call.op->flops != nullptr && call.op->flops(call) > 5e6) continue;
    return {call, sample.inputs, definition.work_out(call, sample.inputs)};
  }
}

inline Tensor tensor_of(const Array& array) {
  Tensor tensor(array.type());
  for (size_t i = 0; i < array.values.size(); ++i) {
    const double v = array.values[i];
    if (array.dtype == DType::f32) tensor.data<float>()[i] = static_cast<float>(v);
    if (array.dtype == DType::i64) tensor.data<int64_t>()[i] = static_cast<int64_t>(v);
    if (array.dtype == DType::boolean) tensor.data<bool>()[i] = v != 0;
    if (array.dtype == DType::i32) tensor.data<int32_t>()[i] = static_cast<int32_t>(v);
    if (array.dtype == DType::u32) tensor.data<uint32_t>()[i] = static_cast<uint32_t>(v);
    if (array.dtype == DType::u8) tensor.data<uint8_t>()[i] = static_cast<uint8_t>(v);
  }
  return tensor;
}

/// Integers and infinities match; other elements lie within `error` of the truth, relative to its
/// own magnitude and the RMS of all.
inline void expect_answer(const std::vector<Tensor>& got, const Answer& answer, double error) {
  ASSERT_EQ(got.size(), answer.outputs.size());
  for (size_t o = 0; o < got.size(); ++o) {
    const Array& truth = answer.outputs[o];
    ASSERT_EQ(got[o].shape(), truth.shape);
    double squares = 0;
    for (double v : truth.values) squares += std::isfinite(v) ? v * v : 0;
    const double rms = std::sqrt(squares / static_cast<double>(truth.values.size()));
    for (size_t i = 0; i < truth.values.size(); ++i) {
      const double v = got[o].at(static_cast<int64_t>(i)), t = truth.values[i];
      const bool exact = truth.dtype != DType::f32 || std::isinf(t);
      ASSERT_TRUE(v == t || (!exact && std::abs(v - t) <= error * (rms + std::abs(t))))
          << "output " << o << ", element " << i << ": " << v << " for " << t;
    }
  }
}

}  // namespace kbench::definitions
