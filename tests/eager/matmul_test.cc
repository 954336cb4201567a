#include "harness/measure/eager/gemm.h"
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using Products = EagerTest;

Attributes transposed(bool a, bool b) {
  return {{"transpose_a", int64_t{a}}, {"transpose_b", int64_t{b}}};
}

TEST_F(Products, MatmulMatchesTheReferenceUnderEveryTransposition) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const auto& [m, n, k] : {std::array{5, 7, 3}, std::array{36, 44, 20},
                                    std::array{33, 70, 51}, std::array{64, 96, 48}}) {
        check({"matmul",
               {a ? Shape{k, m} : Shape{m, k}, b ? Shape{n, k} : Shape{k, n}},
               transposed(a, b)},
              device_traits());
      }
    }
  }
}

TEST_F(Products, LeadingDimensionsBroadcast) {
  const std::vector<std::pair<Shape, Shape>> batches = {
      {{3}, {3}},
      {{3}, {}},
      {{}, {3}},
      {{2, 3}, {2, 3}},
      {{2, 3}, {3}},
      {{2, 1}, {1, 3}},
      {{2, 1, 4}, {1, 3, 1}},
  };
  for (auto [a, b] : batches) {
    for (const int64_t extent : {5, 7}) a.push_back(extent);
    for (const int64_t extent : {7, 9}) b.push_back(extent);
    check({"matmul", {a, b}}, device_traits());
  }
  check({"matmul", {{3, 7, 5}, {7, 9}}, transposed(true, false)}, device_traits());
}

TEST_F(Products, RowsTimesAVectorAreReadOnce) {
  for (const auto& [m, k] : {std::array{1, 3}, std::array{37, 20}, std::array{300, 51},
                             std::array{5, 2052}, std::array{3, 40000}, std::array{2, 33333}}) {
    const CallPlan plan = check({"matmul", {{m, k}, {k, 1}}}, device_traits());
    EXPECT_EQ(plan.launches[0].shader, "row_dot.comp");
  }
  check({"matmul", {{3, 5, 7}, {7, 1}}}, device_traits());
  check({"matmul", {{3, 5, 7}, {3, 7, 1}}}, device_traits());
  check({"matmul", {{7, 5}, {7, 1}}, transposed(true, false)}, device_traits());
}

TEST_F(Products, LinearMatchesTheReference) {
  check({"linear", {{5, 7}, {9, 7}, {9}}}, device_traits());
  check({"linear", {{5, 7}, {9, 7}}}, device_traits());
  check({"linear", {{3, 5, 36}, {44, 36}, {44}}}, device_traits());
  check({"linear", {{36}, {44, 36}, {44}}}, device_traits());
}

// Unrolled as for a GPU; sizes with edges and without, the depth whole and split.
TEST_F(Products, EveryTileIsRight) {
  const DeviceTraits traits = gpu_traits();
  int run_tiles = 0;
  for (const GemmTile& tile : tiles()) {
    if (tile.shared_bytes() > traits.max_shared_memory) continue;
    ++run_tiles;
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{133, 150, 37}, {256, 128, 64}}) {
      for (const int64_t splits : {1, 2}) {
        SCOPED_TRACE(std::to_string(tile.m) + "x" + std::to_string(tile.n));
        GemmProblem problem;
        problem.m = m;
        problem.n = n;
        problem.k = k;
        problem.b_along_n = false;
        problem.a = input(0);
        problem.b = input(1);
        problem.bias = input(2);
        problem.c = output(0);
        const Case c = {"linear", {{m, k}, {n, k}, {n}}};
        const OperatorCall call = call_of(c);
        const auto inputs = draw_inputs(c);
        const CallPlan plan = plan_gemm(problem, with_splits(tile, k, splits), traits);
        EXPECT_EQ(plan.launches.size(), static_cast<size_t>(splits));
        expect_close(run(call, plan, inputs), truth_of(call, inputs), 1e-5);
      }
    }
  }
  EXPECT_GE(run_tiles, 4);
}

TEST_F(Products, DeepProductsOfFewTilesAreSplit) {
  for (const auto& [m, n, k] : {std::array{5, 36, 2100}, std::array{6, 35, 2051}}) {
    const CallPlan plan = check({"linear", {{m, k}, {n, k}, {n}}}, device_traits());
    EXPECT_EQ(plan.launches.size(), 2u);
    check({"matmul", {{3, m, k}, {3, k, n}}}, device_traits());
  }
}

}  // namespace
}  // namespace kbench::eager
