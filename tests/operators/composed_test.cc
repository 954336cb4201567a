// Functions that put operators together, through the reference in float64 against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kbench/ops.h"
#include "kbench/reference.h"
#include "tests/operators/samples.h"

namespace kbench::definitions {
namespace {

using Build = std::function<Value(const std::vector<Value>& x)>;

Tensor run(const std::vector<Array>& inputs, const Build& build) {
  Graph graph;
  std::vector<Value> values;
  NamedTensors given;
  for (const Array& input : inputs) {
    const std::string name = "input" + std::to_string(values.size());
    values.push_back(graph.input(name, input.shape, normal(), input.dtype));
    given[name] = tensor_of(input);
  }
  graph.output(build(values));
  return run_reference(graph, std::move(given), {.precision = Precision::f64, .threads = 2})[0];
}

/// The function's result is an array of that shape, its element at each index what `at` says.
void expect_function(const std::vector<Array>& inputs, const Build& build, const Shape& shape,
                     const std::function<double(const Index&)>& at) {
  Answer answer{{Array(shape)}, 0};
  for_each_index(shape, [&](const Index& i) { answer.outputs[0].at(i) = at(i); });
  expect_answer({run(inputs, build)}, answer.outputs, 1e-12);
}

Array draw(const Shape& shape, uint32_t seed = 1) { return Dice(seed).normal(shape); }

TEST(ComposedOperators, GeluTanhIsMinGpts) {
  const Array x = draw({5, 7});
  expect_function(
      {x}, [](auto v) { return gelu_tanh(v[0]); }, x.shape,
      [&](const Index& i) {
        const double v = x.at(i),
                     inner = std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v);
        return 0.5 * v * (1 + std::tanh(inner));
      });
}

TEST(ComposedOperators, NormalizeDividesByTheNormOrATinyNumber) {
  Array x = draw({3, 5, 7});
  for (int64_t k = 0; k < 5; ++k) x.at({1, k, 2}) = 0;
  expect_function(
      {x}, [](auto v) { return normalize(v[0], 1); }, x.shape,
      [&](const Index& i) {
        double squares = 0;
        for (int64_t k = 0; k < 5; ++k) squares += x.at({i[0], k, i[2]}) * x.at({i[0], k, i[2]});
        return x.at(i) / std::max(std::sqrt(squares), 1e-12);
      });
}

TEST(ComposedOperators, AttentionWeighsValuesBySoftmaxOfScores) {
  const Array q = draw({3, 5, 7}, 1), k = draw({3, 6, 7}, 2), v = draw({3, 6, 9}, 3);
  const auto weight = [&](int64_t b, int64_t i, int64_t j) {
    double score = 0;
    for (int64_t d = 0; d < 7; ++d) score += q.at({b, i, d}) * k.at({b, j, d});
    return std::exp(score / std::sqrt(7.0));
  };
  expect_function(
      {q, k, v}, [](auto x) { return scaled_dot_product_attention(x[0], x[1], x[2]); }, {3, 5, 9},
      [&](const Index& i) {
        double sum = 0, all = 0;
        for (int64_t j = 0; j < 6; ++j) {
          sum += weight(i[0], i[1], j) * v.at({i[0], j, i[2]});
          all += weight(i[0], i[1], j);
        }
        return sum / all;
      });
}

TEST(ComposedOperators, SeveralDimensionsAreReducedAsOne) {
  const Array x = draw({3, 5, 6, 7});
  const auto total = [&](int64_t a, int64_t d) {
    double sum = 0;
    for (int64_t b = 0; b < 5; ++b) {
      for (int64_t c = 0; c < 6; ++c) sum += x.at({a, b, c, d});
    }
    return sum;
  };
  expect_function(
      {x}, [](auto v) { return sum(v[0], 1, 2, false); }, {3, 7},
      [&](const Index& i) { return total(i[0], i[1]); });
  expect_function(
      {x}, [](auto v) { return mean(v[0], -3, -2, true); }, {3, 1, 1, 7},
      [&](const Index& i) { return total(i[0], i[3]) / 30; });
  double all = 0;
  for (double v : x.values) all += v;
  expect_function(
      {x}, [](auto v) { return mean_all(v[0]); }, {}, [&](const Index&) { return all / 630; });
  expect_function(
      {x}, [](auto v) { return global_avg_pool(v[0]); }, {3, 5, 1, 1},
      [&](const Index& i) {
        double sum = 0;
        for (int64_t k = 0; k < 42; ++k) sum += x.at({i[0], i[1], k / 7, k % 7});
        return sum / 42;
      });
}

TEST(ComposedOperators, DimensionsAreJoinedPutInAndTakenOut) {
  const Array x = draw({3, 5, 1, 7});
  expect_function(
      {x}, [](auto v) { return flatten(v[0], 1, -2); }, {3, 5, 7},
      [&](const Index& i) {
        return x.at({i[0], i[1], 0, i[2]});
      });
  expect_function(
      {x}, [](auto v) { return squeeze(v[0], -2); }, {3, 5, 7},
      [&](const Index& i) {
        return x.at({i[0], i[1], 0, i[2]});
      });
  expect_function(
      {x}, [](auto v) { return unsqueeze(v[0], -1); }, {3, 5, 1, 7, 1},
      [&](const Index& i) {
        return x.at({i[0], i[1], i[2], i[3]});
      });
  expect_function(
      {x}, [](auto v) { return transpose(v[0], 0, -1); }, {7, 5, 1, 3},
      [&](const Index& i) {
        return x.at({i[3], i[1], i[2], i[0]});
      });
}

TEST(ComposedOperators, SlicesCountFromTheEndAndChunksShareOut) {
  const Array x = draw({3, 10, 7});
  expect_function(
      {x}, [](auto v) { return slice(v[0], {.axis = 1, .start = 2, .stop = -3}); }, {3, 5, 7},
      [&](const Index& i) {
        return x.at({i[0], i[1] + 2, i[2]});
      });
  expect_function(
      {x}, [](auto v) { return slice(v[0], {.axis = -2, .start = 9}); }, {3, 1, 7},
      [&](const Index& i) {
        return x.at({i[0], 9, i[2]});
      });
  expect_function(
      {x}, [](auto v) { return chunk(v[0], 5, 1)[3]; }, {3, 2, 7},
      [&](const Index& i) {
        return x.at({i[0], i[1] + 6, i[2]});
      });
}

}  // namespace
}  // namespace kbench::definitions
