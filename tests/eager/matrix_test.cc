// Products of halves on matrix units. On a device without any, what the units do is emulated
// (shaders/coop_matrix.glsl): staging, edges, splits, batches and stores are the same code.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/eager/convolution.h"
#include "harness/measure/eager/gemm.h"
#include "harness/measure/eager/storage.h"
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using List = std::vector<int64_t>;

/// Tiles as small as a form of subgroups allows, and one with subgroups as large as any has.
constexpr GemmTile kSmall = {32, 32, 32, 16, 16, 1, 1, true};
constexpr GemmTile kWide = {32, 64, 16, 32, 32, 1, 1, true};
constexpr GemmTile kLarge = {64, 64, 16, 64, 64, 1, 1, true};
constexpr GemmTile kOneSided = {64, 32, 64, 32, 32, 1, 1, true, 1};

class OnMatrices : public EagerTest, public ::testing::WithParamInterface<DType> {
 protected:
  DType real() const { return GetParam(); }

  DeviceTraits traits() {
    DeviceTraits traits = gpu_traits();
    traits.float16_matrices = traits.bfloat16_matrices = true;
    return traits;
  }

  /// The plan as the device can run it; it must have `products` products on matrix units.
  CallPlan emulated(CallPlan plan, int products) {
    for (Launch& launch : plan.launches) {
      if (macro(launch, "MATRICES") != "1") continue;
      --products;
      if (on_matrices(real(), device_traits())) continue;
      launch.macros.emplace_back("EMULATED", "1");
      launch.subgroup_size = 0;
    }
    EXPECT_EQ(products, 0);
    return plan;
  }

  void check_plan(const Case& c, CallPlan plan, int products = 1) {
    const OperatorCall call = call_of(c);
    check(c, call,
          emulated(with_storage(std::move(plan), stored_call(call, real()), traits()), products),
          real());
  }
  void check_call(const Case& c, int products = 1) {
    const OperatorCall call = call_of(c);
    check(c, call, emulated(plan_call(call, traits(), real()), products), real());
  }

  GemmProblem problem(int64_t m, int64_t n, int64_t k) {
    GemmProblem problem;
    problem.m = m;
    problem.n = n;
    problem.k = k;
    problem.stored = real();
    problem.a = input(0);
    problem.b = input(1);
    problem.c = output(0);
    return problem;
  }

  void check_convolution(const Case& c, const GemmTile& tile, int64_t splits = 1) {
    for (const bool channels_last : {false, true}) {
      SCOPED_TRACE(channels_last ? "channels last" : "channels are planes");
      check_plan(
          c, plan_product(stored_call(call_of(c), real()), tile, splits, traits(), channels_last));
    }
  }
};

TEST_P(OnMatrices, ProductsMatchTheReferenceUnderEveryTransposition) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      // Whole tiles; rows of whole pieces; rows that start anywhere.
      for (const auto& [m, n, k] :
           {std::array<int64_t, 3>{32, 64, 96}, {40, 72, 56}, {33, 35, 51}}) {
        if (real() == DType::bf16 && n % 8 == 0) continue;  // moved as float16 is
        GemmProblem product = problem(m, n, k);
        product.a_along_m = a;
        product.b_along_n = !b;
        check_plan({"matmul",
                    {a ? Shape{k, m} : Shape{m, k}, b ? Shape{n, k} : Shape{k, n}},
                    {{"transpose_a", int64_t{a}}, {"transpose_b", int64_t{b}}}},
                   plan_gemm(product, with_splits(kSmall, k, 1), traits()));
      }
    }
  }
}

TEST_P(OnMatrices, TilesOfEveryFormTakeABiasAndASplitDepth) {
  for (const GemmTile& tile : {kSmall, kWide, kLarge, kOneSided}) {
    ASSERT_LE(tile.shared_bytes(), traits().max_shared_memory);
    for (const auto& [m, n, k, splits] :
         {std::array<int64_t, 4>{70, 150, 90, 2}, std::array<int64_t, 4>{64, 256, 64, 1}}) {
      SCOPED_TRACE(std::to_string(tile.m) + "x" + std::to_string(tile.n));
      GemmProblem product = problem(m, n, k);
      product.b_along_n = false;
      product.bias = input(2);
      check_plan({"linear", {{m, k}, {n, k}, {n}}},
                 plan_gemm(product, with_splits(tile, k, splits), traits()));
    }
  }
}

TEST_P(OnMatrices, LeadingDimensionsBroadcast) {
  check_call({"matmul", {{3, 5, 7}, {3, 7, 9}}});
  check_call({"matmul", {{3, 5, 7}, {7, 9}}});
  check_call({"matmul", {{2, 1, 8, 16}, {1, 3, 16, 24}}});
  check_call({"matmul", {{3, 7, 5}, {7, 9}}, {{"transpose_a", int64_t{1}}}});
}

Attributes conv(List stride, List padding, List dilation, int64_t groups) {
  return {{"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
}
Attributes transposed(List stride, List padding, List extra, List dilation, int64_t groups) {
  Attributes attributes = conv(stride, padding, dilation, groups);
  attributes.set("output_padding", extra);
  return attributes;
}

TEST_P(OnMatrices, ConvolutionsMatchTheReference) {
  for (const Case& c : {
           Case{"conv2d", {{2, 10, 9, 11}, {38, 5, 3, 3}, {38}}, conv({1, 1}, {1, 1}, {1, 1}, 2)},
           Case{"conv2d", {{2, 32, 4, 8}, {64, 32, 1, 1}}, conv({1, 1}, {0, 0}, {1, 1}, 1)},
           Case{"conv2d", {{3, 40, 5, 8}, {70, 20, 1, 1}, {70}}, conv({1, 1}, {0, 0}, {1, 1}, 2)},
           Case{"conv2d", {{2, 20, 7, 7}, {36, 20, 1, 1}}, conv({1, 1}, {0, 0}, {1, 1}, 1)},
           Case{"conv1d", {{2, 3, 31}, {20, 3, 5}, {20}}, conv({3}, {2}, {2}, 1)},
           Case{"conv3d",
                {{1, 3, 7, 6, 5}, {18, 3, 3, 2, 4}, {18}},
                conv({1, 2, 1}, {1, 0, 2}, {2, 1, 1}, 1)},
           Case{"conv_transpose1d",
                {{2, 3, 11}, {3, 20, 3}, {20}},
                transposed({4}, {2}, {3}, {2}, 1)},
           Case{"conv_transpose2d",
                {{2, 6, 6, 7}, {6, 18, 3, 5}, {36}},
                transposed({2, 3}, {1, 2}, {1, 0}, {2, 1}, 2)},
           // Of stride 1: a plain one with its weight backwards, here with less than no padding.
           Case{"conv_transpose2d",
                {{2, 20, 9, 11}, {20, 18, 2, 1}, {18}},
                transposed({1, 1}, {2, 1}, {0, 0}, {1, 1}, 1)},
           Case{"conv_transpose3d",
                {{1, 12, 4, 5, 6}, {12, 9, 3, 2, 3}, {18}},
                transposed({1, 1, 1}, {1, 0, 2}, {0, 0, 0}, {1, 2, 1}, 2)},
       }) {
    check_convolution(c, kSmall, real() == DType::f16 ? 1 : 2);
  }
  check_convolution(
      {"conv2d", {{2, 9, 9, 11}, {70, 9, 3, 3}, {70}}, conv({1, 1}, {1, 1}, {1, 1}, 1)}, kWide);
  // More channels than are copied at once; windows of more positions than a mask has bits.
  check_convolution(
      {"conv2d", {{2, 75, 5, 6}, {20, 75, 1, 2}, {20}}, conv({1, 1}, {0, 1}, {1, 1}, 1)},
      kOneSided);
  check_convolution(
      {"conv2d", {{1, 3, 17, 16}, {20, 3, 7, 6}, {20}}, conv({4, 3}, {3, 2}, {1, 1}, 1)}, kSmall);
}

TEST_P(OnMatrices, RecurrentLayersMultiplyTheirInputsAtOnce) {
  for (const int64_t layers : {1, 2}) {
    Case c{"lstm",
           {{3, 5, 24}, {layers, 3, 16}, {layers, 3, 16}},
           {{"hidden", int64_t{16}},
            {"layers", layers},
            {"bidirectional", int64_t{0}},
            {"batch_first", int64_t{1}}},
           uniform(-0.6, 0.6)};
    for (int64_t layer = 0; layer < layers; ++layer) {
      c.inputs.push_back({64, layer == 0 ? 24 : 16});
      c.inputs.push_back({64, 16});
      c.inputs.push_back({64});
      c.inputs.push_back({64});
    }
    check_call(c);  // what a layer hands to the next is float32
  }
}

INSTANTIATE_TEST_SUITE_P(Halves, OnMatrices, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace kbench::eager
