// Sums one term after another: close to the library's, not the same, and the same on any number of
// threads.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "kbench/ops.h"
#include "kbench/reference.h"
#include "reference/blas.h"
#include "reference/parallel.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

using Summation = ReferenceOptions::Summation;

TEST(SequentialSummation, OfAProductIsTheLoopOverK) {
  const SummationScope scope(Summation::sequential);
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{5, 7, 301}, {3, 130, 65}, {1, 9, 40}, {4, 1, 77}}) {
    for (int flags = 0; flags < 4; ++flags) {
      const bool ta = flags & 1, tb = flags & 2;
      const auto a = random_array<float>(m * k, 1), b = random_array<float>(k * n, 2);
      auto c = random_array<float>(m * n, 3);
      const auto before = c;
      const Matrix<float> left = {a.data(), ta ? m : k, ta}, right = {b.data(), tb ? k : n, tb};
      for (const float beta : {0.0f, 1.0f}) {
        c = before;
        gemm<float>(m, n, k, left, right, beta, c.data(), n);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            float sum = beta * before[i * n + j];
            for (int64_t l = 0; l < k; ++l) {
              const volatile float term = *left.from(i, l).data * *right.from(l, j).data;
              sum += term;
            }
            ASSERT_EQ(c[i * n + j], sum) << flags;
          }
        }
      }
    }
  }
}

struct SummationCase {
  const char* name;
  std::vector<Shape> shapes;
  std::function<Value(const std::vector<Value>&)> build;
};

std::vector<SummationCase> cases() {
  return {
      {"matmul", {{70, 5000}, {5000, 90}}, [](auto x) { return matmul(x[0], x[1]); }},
      {"deep matmul", {{8, 40000}, {40000, 8}}, [](auto x) { return matmul(x[0], x[1]); }},
      {"linear", {{40, 3000}, {50, 3000}, {50}}, [](auto x) { return linear(x[0], x[1], x[2]); }},
      {"conv2d",
       {{2, 64, 9, 9}, {32, 64, 3, 3}},
       [](auto x) { return x[0].graph()->apply(find_operator("conv2d"), x)[0]; }},
      {"sum of rows", {{3, 70001}}, [](auto x) { return sum(x[0], {.axis = 1}); }},
      {"sum of columns", {{9001, 67}}, [](auto x) { return sum(x[0], {.axis = 0}); }},
      {"mean", {{1, 300007}}, [](auto x) { return mean(x[0], {.axis = 1}); }},
      {"norm", {{5, 9001}}, [](auto x) { return norm(x[0], {.axis = 1}); }},
      {"logsumexp", {{5, 9001}}, [](auto x) { return logsumexp(x[0], {.axis = 1}); }},
      {"softmax of columns", {{9001, 5}}, [](auto x) { return softmax(x[0], 0); }},
      {"cumsum", {{9, 5001}}, [](auto x) { return cumsum(x[0], 1); }},
      {"cumsum of columns", {{5001, 9}}, [](auto x) { return cumsum(x[0], 0); }},
      {"layer_norm",
       {{9, 5001}},
       [](auto x) { return x[0].graph()->apply(find_operator("layer_norm"), x)[0]; }},
  };
}

TEST(SequentialSummation, IsCloseAndHasTheSameBitsOnAnyThreads) {
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, 16);
  for (const SummationCase& c : cases()) {
    SCOPED_TRACE(c.name);
    Graph graph;
    std::vector<Value> x;
    NamedTensors given;
    for (const Shape& shape : c.shapes) {
      const std::string name = "x" + std::to_string(x.size());
      x.push_back(graph.input(name, shape));
      given[name] = draw(normal(0.3, 1), {5, 1, name}, x.back().type());
    }
    graph.output(c.build(x));
    const auto run = [&](Precision precision, Summation summation, int threads) {
      return run_reference(graph, given,
                           {.precision = precision, .threads = threads, .summation = summation})[0];
    };
    const Tensor truth = run(Precision::f64, Summation::library, 1);
    const Tensor library = run(Precision::f32, Summation::library, 1);
    const Tensor sequential = run(Precision::f32, Summation::sequential, 1);
    double scale = 0, of_library = 0, of_sequential = 0;
    for (int64_t i = 0; i < truth.elements(); ++i) {
      scale = std::max(scale, std::abs(truth.at(i)));
      of_library = std::max(of_library, std::abs(library.at(i) - truth.at(i)));
      of_sequential = std::max(of_sequential, std::abs(sequential.at(i) - truth.at(i)));
    }
    EXPECT_LT(of_sequential, 1e-3 * scale);
    EXPECT_GT(of_sequential, of_library);  // so many terms, one after another
    for (const int threads : {2, 3}) {
      const Tensor again = run(Precision::f32, Summation::sequential, threads);
      EXPECT_EQ(std::memcmp(again.raw(), sequential.raw(), static_cast<size_t>(again.bytes())), 0);
    }
    EXPECT_EQ(std::memcmp(run(Precision::f32, Summation::library, 2).raw(), library.raw(),
                          static_cast<size_t>(library.bytes())),
              0);
  }
}

/// The scope ends with the run.
TEST(SequentialSummation, IsOfOneRunAlone) {
  Graph graph;
  const Value x = graph.input("x", {1, 100003});
  graph.output(sum(x, {.axis = 1}));
  const NamedTensors given = {{"x", draw(normal(0.3, 1), {5, 1, "x"}, x.type())}};
  const double before = run_reference(graph, given)[0].at(0);
  EXPECT_NE(run_reference(graph, given, {.summation = Summation::sequential})[0].at(0), before);
  EXPECT_EQ(run_reference(graph, given)[0].at(0), before);
  EXPECT_FALSE(is_sequential());
}

}  // namespace
}  // namespace kbench::reference
