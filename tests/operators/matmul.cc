// Matrix products, one multiply-add at a time.
#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

/// A product's operand: the matrix that a batch index selects, whose extents of 1 repeat.
struct Operand {
  const Array& x;
  bool transposed;

  size_t own() const { return x.shape.size() - 2; }
  int64_t rows() const { return x.shape[own() + (transposed ? 1 : 0)]; }
  int64_t columns() const { return x.shape[own() + (transposed ? 0 : 1)]; }
  const double* matrix(const Index& batch) const {
    int64_t at = 0;
    for (size_t d = 0; d < own(); ++d) {
      at = at * x.shape[d] + (x.shape[d] == 1 ? 0 : batch[batch.size() - own() + d]);
    }
    return x.values.data() + at * rows() * columns();
  }
  int64_t down() const { return transposed ? 1 : columns(); }
  int64_t across() const { return transposed ? rows() : 1; }
};

Answer product(const Operand& a, const Operand& b) {
  Shape batch(std::max(a.own(), b.own()), 1);
  for (const Operand* operand : {&a, &b}) {
    for (size_t d = 0; d < operand->own(); ++d) {
      int64_t& extent = batch[batch.size() - operand->own() + d];
      if (extent == 1) extent = operand->x.shape[d];
    }
  }
  Shape shape = batch;
  shape.insert(shape.end(), {a.rows(), b.columns()});
  Answer answer{{Array(shape)}, 0};
  double* y = answer.outputs[0].values.data();
  for_each_index(batch, [&](const Index& index) {
    const double *left = a.matrix(index), *right = b.matrix(index);
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = 0; j < b.columns(); ++j, ++y) {
        for (int64_t k = 0; k < a.columns(); ++k) {
          *y += left[i * a.down() + k * a.across()] * right[k * b.down() + j * b.across()];
          answer.flops += 2;
        }
      }
    }
  });
  return answer;
}

Answer matmul(const OperatorCall& call, const std::vector<Array>& in) {
  return product({in[0], call.attributes.flag("transpose_a")},
                 {in[1], call.attributes.flag("transpose_b")});
}

Answer linear(const OperatorCall&, const std::vector<Array>& in) {
  const int64_t features = in[0].shape.back();
  Array x = in[0];
  x.shape = {static_cast<int64_t>(x.values.size()) / features, features};
  Answer answer = product({x, false}, {in[1], true});
  Array& y = answer.outputs[0];
  y.shape = in[0].shape;
  y.shape.back() = in[1].shape.at(0);
  for (size_t i = 0; in.size() > 2 && i < y.values.size(); ++i) {
    y.values[i] += in[2].values[i % in[2].values.size()];
    answer.flops += 1;
  }
  return answer;
}

}  // namespace

std::vector<Definition> matmul_definitions() { return {{"matmul", matmul}, {"linear", linear}}; }

}  // namespace kbench::definitions
