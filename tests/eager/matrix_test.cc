// Products of halves on matrix units. On a device without any, what the units do is emulated
// (shaders/coop_matrix.glsl): staging, edges, splits, batches and stores are the same code.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

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

  void check(std::string_view line, CallPlan plan, int products = 1) {
    const Row row = row_of(line);
    expect_runs(stored(example_of(row), real()), emulated(std::move(plan), products), real());
  }
  void check_call(const std::string& line) {
    check(line, plan_call(call_of(line), traits(), real()));
  }
  void check_tile(std::string_view line, const GemmTile& tile, int64_t splits = 1) {
    check(line, plan_tile(call_of(line), tile, splits, traits(), real()));
  }
  void check_convolution(std::string_view line, const GemmTile& tile, int64_t splits = 1) {
    for (const bool channels_last : {false, true}) {
      SCOPED_TRACE(channels_last ? "channels last" : "channels are planes");
      check(line, plan_tile(call_of(line), tile, splits, traits(), real(), channels_last));
    }
  }
};

// Whole tiles; rows of whole pieces, which move as the other type's; rows that start anywhere.
TEST_P(OnMatrices, ProductsMatchTheirDefinitionUnderEveryTransposition) {
  const std::string shapes =
      real() == DType::f16 ? "{32x96 96x64|40x56 56x72|33x51 51x35}" : "33x51 51x35";
  for (const Row& row : definitions::rows_of("matmul " + shapes + " @transposes")) {
    expect_runs(stored(example_of(row), real()),
                emulated(plan_tile(row.call, kSmall, 1, traits(), real()), 1), real());
  }
}

TEST_P(OnMatrices, TilesOfEveryFormTakeABiasAndASplitDepth) {
  for (const GemmTile& tile : {kSmall, kWide, kLarge, kOneSided}) {
    ASSERT_LE(tile.shared_bytes(), traits().max_shared_memory);
    SCOPED_TRACE(std::to_string(tile.m) + "x" + std::to_string(tile.n));
    check_tile("linear 70x90 150x90 150", tile, 2);
    check_tile("linear 64x64 256x64 256", tile);
  }
}

TEST_P(OnMatrices, LeadingDimensionsBroadcast) {
  for (const char* shapes :
       {"3x5x7 3x7x9", "3x5x7 7x9", "2x1x8x16 1x3x16x24", "3x7x5 7x9 transpose_a=1"}) {
    check_call("matmul " + std::string(shapes));
  }
}

TEST_P(OnMatrices, ConvolutionsMatchTheirDefinition) {
  for (const char* line :
       {"conv2d 2x10x9x11 38x5x3x3 38 padding=1 groups=2", "conv2d 2x32x4x8 64x32x1x1",
        "conv2d 3x40x5x8 70x20x1x1 70 groups=2", "conv2d 2x20x7x7 36x20x1x1",
        "conv1d 2x3x31 20x3x5 20 stride=3 padding=2 dilation=2",
        "conv3d 1x3x7x6x5 18x3x3x2x4 18 stride=1,2,1 padding=1,0,2 dilation=2,1,1",
        "conv_transpose1d 2x3x11 3x20x3 20 stride=4 padding=2 output_padding=3 dilation=2",
        "conv_transpose2d 2x6x6x7 6x18x3x5 36 stride=2,3 padding=1,2 output_padding=1,0 "
        "dilation=2,1 groups=2",
        // Of stride 1: a plain one with its weight backwards, here with less than no padding.
        "conv_transpose2d 2x20x9x11 20x18x2x1 18 padding=2,1",
        "conv_transpose3d 1x12x4x5x6 12x9x3x2x3 18 padding=1,0,2 dilation=1,2,1 groups=2"}) {
    check_convolution(line, kSmall, real() == DType::f16 ? 1 : 2);
  }
  check_convolution("conv2d 2x9x9x11 70x9x3x3 70 padding=1", kWide);
  // More channels than are copied at once; windows of more positions than a mask has bits.
  check_convolution("conv2d 2x75x5x6 20x75x1x2 20 padding=0,1", kOneSided);
  check_convolution("conv2d 1x3x17x16 20x3x7x6 20 stride=4,3 padding=3,2", kSmall);
}

TEST_P(OnMatrices, RecurrentLayersMultiplyTheirInputsAtOnce) {
  // What a layer hands to the next is float32.
  for (const char* layers : {"1", "2"}) {
    check_call("lstm 3x5x24 hidden=16 layers=" + std::string(layers));
  }
}

INSTANTIATE_TEST_SUITE_P(Halves, OnMatrices, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace kbench::eager
