// Losses: a scalar from all elements. Counted is what is done an element, not once a row.
#include <algorithm>
#include <cmath>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

Answer scalar(double value, double flops) {
  Answer answer{{Array(Shape{})}, flops};
  answer.outputs[0].values[0] = value;
  return answer;
}

/// A comparison, a difference, an exponential and an addition an element.
Answer cross_entropy(const OperatorCall&, const std::vector<Array>& in) {
  const int64_t rows = in[0].shape.at(0), classes = in[0].shape.at(1);
  double total = 0, flops = 0;
  for (int64_t i = 0; i < rows; ++i) {
    double max = in[0].at({i, 0}), sum = 0;
    for (int64_t j = 0; j < classes; ++j) max = std::max(max, in[0].at({i, j}));
    for (int64_t j = 0; j < classes; ++j) {
      sum += std::exp(in[0].at({i, j}) - max);
      flops += 4;
    }
    total += max + std::log(sum) - in[0].at({i, static_cast<int64_t>(in[1].at({i}))});
  }
  return scalar(total / static_cast<double>(rows), flops);
}

/// A difference, a comparison, two products and an addition an element.
Answer smooth_l1(const OperatorCall&, const std::vector<Array>& in) {
  double total = 0, flops = 0;
  for (size_t i = 0; i < in[0].values.size(); ++i) {
    const double d = std::abs(in[0].values[i] - in[1].values[i]);
    total += d < 1 ? 0.5 * d * d : d - 0.5;
    flops += 5;
  }
  return scalar(total / static_cast<double>(in[0].values.size()), flops);
}

/// A logarithm, a difference, a product and an addition an element.
Answer kl_div(const OperatorCall&, const std::vector<Array>& in) {
  double total = 0, flops = 0;
  for (size_t i = 0; i < in[0].values.size(); ++i) {
    const double t = in[1].values[i];
    if (t > 0) total += t * (std::log(t) - in[0].values[i]);
    flops += 4;
  }
  return scalar(total / static_cast<double>(in[0].shape.at(0)), flops);
}

/// Two differences, two additions of the small number, two products and two sums an element.
Answer triplet(const OperatorCall& call, const std::vector<Array>& in) {
  const int64_t rows = in[0].shape.at(0), features = in[0].shape.at(1);
  double total = 0, flops = 0;
  for (int64_t i = 0; i < rows; ++i) {
    double near = 0, far = 0;
    for (int64_t j = 0; j < features; ++j) {
      const double p = in[0].at({i, j}) - in[1].at({i, j}) + 1e-6;
      const double n = in[0].at({i, j}) - in[2].at({i, j}) + 1e-6;
      near += p * p;
      far += n * n;
      flops += 8;
    }
    total += std::max(std::sqrt(near) - std::sqrt(far) + call.attributes.real("margin"), 0.0);
  }
  return scalar(total / static_cast<double>(rows), flops);
}

}  // namespace

std::vector<Definition> loss_definitions() {
  return {
      {"cross_entropy", cross_entropy},
      {"smooth_l1_loss", smooth_l1},
      {"kl_div_batchmean", kl_div},
      {"triplet_margin_loss", triplet, 1e-5, 200},  // a difference of long distances
  };
}

}  // namespace kbench::definitions
