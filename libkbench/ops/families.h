// The operator families, each a table in the file of its name, and what their rules share.
#pragma once

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

}  // namespace kbench
