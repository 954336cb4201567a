// Matrix products, one multiply-add at a time.
#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

/// Leading dimensions of one operand: some dropped, some of extent 1.
Shape leading(Dice& dice, const Shape& batch, bool ones) {
  Shape shape(batch.begin() + dice.between(0, static_cast<int64_t>(batch.size())), batch.end());
  for (int64_t& extent : shape) extent = ones && dice.coin() ? 1 : extent;
  return shape;
}

Sample draw_matmul(Dice& dice) {
  const Shape batch = dice.shape(0, 2);
  const bool ta = dice.coin(), tb = dice.coin(), one_sided = dice.coin();
  const int64_t m = dice.extent(), n = dice.extent(), k = dice.extent();
  Shape a = one_sided ? batch : leading(dice, batch, false);
  Shape b = leading(dice, batch, one_sided);
  a.insert(a.end(), {ta ? k : m, ta ? m : k});
  b.insert(b.end(), {tb ? n : k, tb ? k : n});
  return {{dice.normal(a), dice.normal(b)},
          {{"transpose_a", int64_t{ta}}, {"transpose_b", int64_t{tb}}}};
}

/// Element [row, column] of the matrix that a batch index selects: extents of 1 repeat.
double element(const Array& x, const Index& batch, int64_t row, int64_t column, bool transposed) {
  const size_t own = x.shape.size() - 2;
  Index index(batch.end() - static_cast<int64_t>(own), batch.end());
  for (size_t d = 0; d < own; ++d) index[d] = x.shape[d] == 1 ? 0 : index[d];
  index.push_back(transposed ? column : row);
  index.push_back(transposed ? row : column);
  return x.at(index);
}

Answer matmul(const OperatorCall& call, const std::vector<Array>& in) {
  const bool ta = call.attributes.flag("transpose_a"), tb = call.attributes.flag("transpose_b");
  const size_t ra = in[0].shape.size(), rb = in[1].shape.size();
  const int64_t k = in[0].shape.at(ra - (ta ? 2 : 1));
  Shape shape(std::max(ra, rb) - 2, 1);
  for (const Array& x : in) {
    for (size_t d = 0; d + 2 < x.shape.size(); ++d) {
      int64_t& extent = shape[shape.size() - (x.shape.size() - 2) + d];
      if (extent == 1) extent = x.shape[d];
    }
  }
  shape.push_back(in[0].shape.at(ra - (ta ? 1 : 2)));
  shape.push_back(in[1].shape.at(rb - (tb ? 2 : 1)));
  Answer answer{{Array(shape)}, 0};
  for_each_index(shape, [&](const Index& i) {
    const Index batch(i.begin(), i.end() - 2);
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) {
      sum += element(in[0], batch, i[i.size() - 2], j, ta) * element(in[1], batch, j, i.back(), tb);
      answer.flops += 2;
    }
    answer.outputs[0].at(i) = sum;
  });
  return answer;
}

Sample draw_linear(Dice& dice) {
  Shape x = dice.shape(0, 3);
  const int64_t in = dice.extent(), out = dice.extent();
  x.push_back(in);
  Sample sample{{dice.normal(x), dice.normal({out, in})}, {}};
  if (dice.coin()) sample.inputs.push_back(dice.normal({out}));
  return sample;
}

Answer linear(const OperatorCall&, const std::vector<Array>& in) {
  Shape shape = in[0].shape;
  shape.back() = in[1].shape.at(0);
  Answer answer{{Array(shape)}, 0};
  for_each_index(shape, [&](Index i) {
    double& y = answer.outputs[0].at(i);
    const int64_t out = i.back();
    for (i.back() = 0; i.back() < in[0].shape.back(); ++i.back()) {
      y += in[0].at(i) * in[1].at({out, i.back()});
      answer.flops += 2;
    }
    if (in.size() > 2) {
      y += in[2].at({out});
      answer.flops += 1;
    }
  });
  return answer;
}

}  // namespace

std::vector<Definition> matmul_definitions() {
  return {{"matmul", draw_matmul, matmul}, {"linear", draw_linear, linear}};
}

}  // namespace kbench::definitions
