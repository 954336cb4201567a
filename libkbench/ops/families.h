// The operator families, each a table in the file of its name, and what their rules share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbench/graph.h"

namespace kbench {

const std::vector<Operator>& elementwise_operators();
const std::vector<Operator>& shape_operators();
const std::vector<Operator>& reduction_operators();
const std::vector<Operator>& matmul_operators();
const std::vector<Operator>& convolution_operators();
const std::vector<Operator>& pooling_operators();
const std::vector<Operator>& norm_operators();
const std::vector<Operator>& loss_operators();
const std::vector<Operator>& recurrent_operators();

/// Throws kShape with the message unless the condition holds; make_call adds operator and shapes.
void require_shape(bool condition, const std::string& message);
/// Throws kShape unless input i is float32.
void require_float(const OperatorCall& call, size_t i);
/// The call's "axis" attribute, checked against input 0's rank.
int64_t checked_axis(const OperatorCall& call);
/// a * b + c; throws kShape where that is no int64: extents and options may be any number.
int64_t multiply_add(int64_t a, int64_t b, int64_t c);
/// Elements of the first input, of the first output.
double input_elements(const OperatorCall& call);
double output_elements(const OperatorCall& call);
/// A FLOP count of n an element of the first output, or of the first input.
template <int n>
double flops_per_output(const OperatorCall& call) {
  return n * output_elements(call);
}
template <int n>
double flops_per_input(const OperatorCall& call) {
  return n * input_elements(call);
}

/// Applies the operator of that name to values of one graph; its first output.
Value call_operator(const std::string& name, const std::vector<Value>& inputs,
                    Attributes attributes = {});
/// axis counted from the end when negative; throws kShape, naming the operator and x's shape, when
/// it is out of range.
int normalized_axis(const std::string& op, const Value& x, int axis);
/// Throws kShape, naming the operator and x's shape, unless the condition holds: for checks made
/// before there is a call.
void require_for(const std::string& op, const Value& x, bool condition, const std::string& message);
/// The extent of x's dimension, as Value::dim gives it; errors name the operator.
int64_t dim_for(const std::string& op, const Value& x, int dimension);

// Shared by convolution and pooling: per-dimension options and the extents a sliding window
// leaves.

/// A message for an option with the wrong number of values.
inline std::string wrong_values(size_t values, size_t dims) {
  return std::string("an option needs 1 ") +
         (dims > 1 ? "or " + std::to_string(dims) + " values" : "value") + ", got " +
         std::to_string(values);
}

/// One value for all dimensions, or one each.
inline std::vector<int64_t> per_dimension(const std::vector<int64_t>& values, size_t dims) {
  if (values.size() == 1) return std::vector<int64_t>(dims, values[0]);
  require_shape(values.size() == dims, wrong_values(values.size(), dims));
  return values;
}

/// Throws kShape, naming the operator and x, unless every option is as per_dimension takes it.
inline void require_options(const std::string& op, const Value& x, size_t dims,
                            const std::vector<std::vector<int64_t>>& options) {
  for (const auto& values : options) {
    require_for(op, x, values.size() == 1 || values.size() == dims,
                wrong_values(values.size(), dims));
  }
}

/// A window's options, one value a spatial dimension.
struct Window {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode = false;

  /// Extent of dimension i: floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1; with
  /// ceil_mode the division rounds up, but the last window must start inside input or padding.
  int64_t extent(size_t i, int64_t in) const {
    require_shape(kernel[i] > 0 && stride[i] > 0 && dilation[i] > 0 && padding[i] >= 0,
                  "kernel, stride and dilation must be positive, padding not negative");
    const int64_t span = multiply_add(dilation[i], kernel[i] - 1, 1);
    const int64_t padded = multiply_add(2, padding[i], in);
    require_shape(padded >= span, "a window of extent " + std::to_string(span) +
                                      " does not fit an input of " + std::to_string(in) +
                                      " padded by " + std::to_string(padding[i]));
    const int64_t count = (padded - span) / stride[i] + 1;
    const bool left_over = (padded - span) % stride[i] != 0;
    // Another window would begin at count * stride - padding.
    return ceil_mode && left_over && in + padding[i] > multiply_add(count, stride[i], 0) ? count + 1
                                                                                         : count;
  }
};

/// "conv2d" from "conv" and 2.
inline std::string with_dimensions(const char* stem, size_t dims) {
  return stem + std::to_string(dims) + "d";
}

}  // namespace kbench
