// Planning rules: pure, no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/spirv_matrix.h"
#include "kbench/task.h"
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

TEST(Registry, EveryOperatorHasAnEagerKernelOrIsAView) {
  for (const Operator* op : operators()) {
    EXPECT_NE(has_eager_kernel(*op), op->is_view) << op->name;
  }
}

TEST(Registry, AnOperatorWithoutAKernelIsRefusedByName) {
  OperatorCall call;
  Operator op;
  op.name = "frobnicate";
  call.op = &op;
  const Error error = error_of([&] { plan_call(call, large_gpu()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_NE(error.message().find("frobnicate"), std::string::npos);
}

size_t push_bytes(const Launch& launch) {
  return launch.addresses.size() * 8 + launch.words.size() * 4;
}

void expect_within_limits(const CallPlan& plan, const DeviceTraits& traits) {
  expect_groups_within(plan, traits);
  for (const Launch& launch : plan.launches) {
    SCOPED_TRACE(launch.shader);
    EXPECT_LE(push_bytes(launch), 128u);
    for (const LaunchOperand& operand : launch.addresses) {
      if (operand.kind == LaunchOperand::Kind::scratch) {
        EXPECT_LT(static_cast<size_t>(operand.index), plan.scratch_bytes.size());
      }
    }
  }
}

TEST(Plans, EveryTaskStaysWithinLimitsAtEveryPreset) {
  DeviceTraits small;  // what Vulkan 1.2 devices have at least, lavapipe among them
  for (const Task& task : tasks()) {
    for (const Preset preset : kAllPresets) {
      SCOPED_TRACE(to_string(task.id) + " " + std::string(name_of(preset)));
      const auto graph = build_graph(task, preset);
      for (const Graph::Node& node : graph->nodes()) {
        if (node.call.op->is_view) continue;
        expect_within_limits(plan_call(node.call, large_gpu()), large_gpu());
        expect_within_limits(plan_call(node.call, small), small);
      }
    }
  }
}

vulkan::SpirvFacts compile(vulkan::ShaderCompiler& compiler, const Launch& launch) {
  return vulkan::inspect_spirv(compile_words(compiler, launch));
}

/// Whether the macro makes another shader of a kernel, as far as limits go. Products and
/// convolutions have hundreds of variants that differ in edges and windows alone and take long to
/// compile: one of each tile and form will do.
bool tells_variants_apart(const std::string& shader, const std::string& macro) {
  static const std::set<std::string> forms = {
      "BM", "BN", "BK", "A_ALONG_M", "B_ALONG_N", "CHANNELS", "VOLUME", "TRANSPOSED", "MASKED"};
  const bool many = shader == "gemm.comp" || shader.starts_with("conv_");
  return !many || forms.count(macro) > 0;
}

TEST(Plans, ShadersOfTheLargestPresetCompileWithinAGpusLimits) {
  vulkan::ShaderCompiler compiler;
  std::set<std::string> seen;
  for (const Task& task : tasks()) {
    const auto graph = build_graph(task, Preset::v0_1);
    for (const Graph::Node& node : graph->nodes()) {
      if (node.call.op->is_view) continue;
      for (const Launch& launch : plan_call(node.call, large_gpu()).launches) {
        std::string key = launch.shader;
        for (const auto& [name, value] : launch.macros) {
          if (tells_variants_apart(launch.shader, name)) key += " " + name + "=" + value;
        }
        if (!seen.insert(key).second) continue;
        SCOPED_TRACE(key);
        const vulkan::SpirvFacts facts = compile(compiler, launch);
        EXPECT_EQ(facts.entry, "main");
        EXPECT_TRUE(facts.bindings.empty());
        EXPECT_LE(facts.shared_bytes, large_gpu().max_shared_memory);
        EXPECT_LE(facts.local_size[0] * facts.local_size[1] * facts.local_size[2],
                  large_gpu().max_invocations);
      }
    }
  }
  EXPECT_GE(seen.size(), 20u);
}

TEST(Plans, GroupsOverTheLimitOfXWrapIntoY) {
  DeviceTraits traits;
  const OperatorCall call = call_of("relu 4096x393216");
  const Launch launch = plan_call(call, traits).launches[0];
  EXPECT_GT(launch.groups[1], 1u);
  EXPECT_GE(uint64_t{launch.groups[0]} * launch.groups[1], uint64_t{4096} * 393216 / 4096);
  EXPECT_EQ(plan_call(call, large_gpu()).launches[0].groups[1], 1u);
}

TEST(Plans, TensorsTooLargeForTheKernelsCountersAreRefused) {
  const Error error =
      error_of([] { plan_call(call_of("add 5x2147483647 5x2147483647"), large_gpu()); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
}

/// The end of a row's last stretch must not wrap, nor an element's index turn negative.
TEST(Plans, RowsTooLongToCountAreRefused) {
  const auto sum_of = [](int64_t n) {
    return error_of([&] {
             plan_call(call_of("sum " + std::to_string(n) + " axis=0"), large_gpu());
             throw Error(ErrorCode::kInternal, "planned");
           })
        .message();
  };
  EXPECT_EQ(sum_of(3'000'000'000), "planned");
  EXPECT_EQ(sum_of(2'147'483'649), "planned");
  EXPECT_THAT(sum_of(4'294'967'292), ::testing::HasSubstr("got 4294967292"));
}

// Drivers work out the bytes of an array's index in 32 bits: a reduction over 1.9e9 elements read
// the first 2^30 twice and the others never.
TEST(Plans, NoStretchOfARowReachesTwoToTheThirtyTwoBytes) {
  const auto stretch = [](int64_t n, int64_t rows) { return split_row(n, rows).length; };
  EXPECT_LT(stretch(int64_t{1} << 31, 1), int64_t{1} << 30);
  EXPECT_LT(stretch(1'879'048'192, 1), int64_t{1} << 30);
  EXPECT_THAT(error_of([&] { split_row(int64_t{1} << 30, 10000); }).message(),
              ::testing::HasSubstr("stretches of less than 2^30"));
}

TEST(Plans, ThinLayersOfALargeGpuAreSplitAlongTheirDepth) {
  const auto tile = [](int64_t m, int64_t n, int64_t k, int64_t batches) {
    return choose_tile(m, n, k, batches, DType::f32, true, large_gpu());
  };
  EXPECT_EQ(tile(4096, 4096, 4096, 1).splits, 1);
  EXPECT_EQ(tile(4096, 4096, 4096, 1).tile.m, 128);
  EXPECT_EQ(tile(512, 2048, 1024, 128).splits, 1);
  EXPECT_GT(tile(128, 8192, 16384, 1).splits, 1);
  EXPECT_LT(tile(4096, 20, 84, 1).tile.m, 128);
  const TileChoice thin = tile(128, 8192, 16384, 1);
  EXPECT_EQ(thin.split_k % thin.tile.depth, 0);
  EXPECT_GE(thin.splits * thin.split_k, 16384);
}

DeviceTraits gpu_with_matrices() {
  DeviceTraits traits = large_gpu();
  traits.float16_matrices = traits.bfloat16_matrices = true;
  return traits;
}

/// Of the plan's launches, whose products run on matrix units: '1', elsewhere: '0'.
std::string products_of(std::string_view line, const DeviceTraits& traits, DType real) {
  std::string products;
  for (const Launch& launch : plan_call(call_of(line), traits, real).launches) {
    const std::string matrices = macro(launch, "MATRICES");
    products += matrices;
    EXPECT_EQ(launch.subgroup_size, matrices == "1" ? 32u : 0u) << launch.shader;
  }
  return products;
}

TEST(MatrixUnits, AreNamedWhereTheyMultiply) {
  EXPECT_EQ(arithmetic_text(DType::f32, gpu_with_matrices()), "float32 arithmetic");
  EXPECT_EQ(arithmetic_text(DType::f16, gpu_with_matrices()),
            "float16 products on tensor cores, sums in float32");
  EXPECT_EQ(arithmetic_text(DType::bf16, large_gpu()), "float32 arithmetic on bfloat16");
}

TEST(MatrixUnits, MultiplyHalvesOfATypeTheyHave) {
  const char* product = "linear 512x1024 2048x1024 2048";
  DeviceTraits only_float16 = gpu_with_matrices();
  only_float16.bfloat16_matrices = false;
  EXPECT_EQ(products_of(product, gpu_with_matrices(), DType::f32), "0");
  EXPECT_EQ(products_of(product, gpu_with_matrices(), DType::f16), "1");
  EXPECT_EQ(products_of(product, gpu_with_matrices(), DType::bf16), "1");
  EXPECT_EQ(products_of(product, only_float16, DType::f16), "1");
  EXPECT_EQ(products_of(product, only_float16, DType::bf16), "0");
  EXPECT_EQ(products_of(product, large_gpu(), DType::f16), "0");
}

TEST(MatrixUnits, TakeAConvolutionFromMinimalFiltering) {
  const char* line = "conv2d 16x128x64x64 256x128x3x3 padding=1";
  const auto shader = [&](const DeviceTraits& traits, DType real) {
    return plan_call(call_of(line), traits, real).launches.front().shader;
  };
  EXPECT_EQ(shader(large_gpu(), DType::f16), "winograd_weight.comp");
  EXPECT_EQ(shader(gpu_with_matrices(), DType::f32), "winograd_weight.comp");
  const CallPlan plan = plan_call(call_of(line), gpu_with_matrices(), DType::f16);
  ASSERT_EQ(plan.launches.size(), 3u);
  EXPECT_EQ(plan.launches[0].shader, "conv_channels_last.comp");
  EXPECT_EQ(plan.launches[1].shader, "conv_pack.comp");
  EXPECT_TRUE(plan.launches[1].beside_last);
  EXPECT_EQ(plan.launches[2].shader, "conv_gemm.comp");
  EXPECT_FALSE(plan.launches[2].beside_last);
  EXPECT_EQ(products_of(line, gpu_with_matrices(), DType::f16), "1");
}

TEST(MatrixUnits, ReadAnInputOfThreeChannelsAsItLies) {
  const OperatorCall call = call_of("conv2d 64x3x224x224 128x3x11x11 padding=1");
  EXPECT_EQ(plan_call(call, gpu_with_matrices(), DType::f16).launches.front().shader,
            "conv_gemm.comp");
}

/// What a large GPU launches first and last.
TEST(Plans, AreOfTheKernelsForTheirSizes) {
  const struct {
    const char *line, *first, *last;
    size_t launches;
  } cases[] = {
      {"permute 2x128x64 axes=0,2,1", "transpose.comp", "transpose.comp", 1},
      {"permute 2x12x6x64 axes=0,2,1,3", "copy.comp", "copy.comp", 1},
      {"conv2d 16x128x128x128 128x128x3x3 padding=1", "winograd_weight.comp",
       "winograd_output.comp", 4},
      {"conv2d 16x4x128x128 64x4x3x1 padding=1", "conv_gemm.comp", "conv_gemm.comp", 1},
      {"conv2d 10x992x7x7 32x992x3x3 padding=1", "conv_gemm.comp", "gemm_merge.comp", 2},
  };
  for (const auto& [line, first, last, count] : cases) {
    const CallPlan plan = plan_call(call_of(line), large_gpu());
    EXPECT_EQ(plan.launches.front().shader, first) << line;
    EXPECT_EQ(plan.launches.back().shader, last) << line;
    EXPECT_EQ(plan.launches.size(), count) << line;
  }
  const OperatorCall rows = call_of("permute 2x12x6x64 axes=0,2,1,3");
  EXPECT_EQ(macro(plan_call(rows, large_gpu()).launches[0], "WIDTH"), "4");
  // A launch a step and layer.
  const OperatorCall layers = call_of("gru 16x4x8 hidden=12 bidirectional=1 batch_first=0");
  EXPECT_LE(plan_call(layers, large_gpu()).launches.size(), 16u + 4u);
}

TEST(Plans, MinimalFilteringTakesWindowsItCanSplit) {
  for (const char* line :
       {"conv2d 2x6x11x13 20x6x2x3", "conv2d 2x6x11x13 20x6x6x3",
        "conv2d 2x6x11x13 20x6x3x3 stride=2,1", "conv2d 2x6x11x13 20x6x3x3 dilation=2,1",
        "conv1d 2x6x31 20x6x3", "conv_transpose2d 2x6x9x7 6x20x3x3 stride=1,2"}) {
    EXPECT_FALSE(plan_winograd(describe_convolution(call_of(line)), large_gpu())) << line;
  }
}

TEST(Plans, HalvesHaveAsManyBytesInFlightAsFloats) {
  const OperatorCall call = call_of("relu 64x4096");
  const Launch floats = plan_call(call, large_gpu()).launches[0];
  const Launch halves = plan_call(call, large_gpu(), DType::f16).launches[0];
  EXPECT_EQ(2 * std::stoi(macro(floats, "QUADS")), std::stoi(macro(halves, "QUADS")));
}

TEST(MatrixUnits, TilesFillWorkgroupsEvenlyWithinAGpusLimits) {
  for (const GemmTile& tile : tiles(true)) {
    SCOPED_TRACE(std::to_string(tile.m) + "x" + std::to_string(tile.n));
    EXPECT_LE(tile.shared_bytes(), large_gpu().max_shared_memory);
    EXPECT_EQ(tile.m % tile.part_m + tile.n % tile.part_n + tile.depth % 16, 0);
    EXPECT_EQ(tile.part_m % 16 + tile.part_n % 16, 0);
    for (const int64_t wide : {tile.m, tile.n}) {
      EXPECT_EQ(wide * tile.depth % (8 * tile.threads()), 0) << "whole pieces for each invocation";
    }
    // A convolution's invocations read at one pixel each, pieces of eight taps.
    EXPECT_EQ(tile.threads() % tile.n, 0);
    EXPECT_EQ(tile.depth / 8 % (tile.threads() / tile.n), 0);
  }
}

/// The launch's module on matrix units, within a GPU's limits.
void expect_compiles(vulkan::ShaderCompiler& compiler, const Launch& launch, const GemmTile& tile,
                     DType real) {
  SCOPED_TRACE(launch.shader + " " + std::to_string(tile.m) + "x" + std::to_string(tile.n) + " " +
               std::string(name_of(real)));
  const vulkan::Spirv khr = vulkan::to_khr_matrices(compile_words(compiler, launch, false));
  const vulkan::SpirvFacts facts = vulkan::inspect_spirv(khr);
  EXPECT_LE(facts.shared_bytes, static_cast<uint64_t>(large_gpu().max_shared_memory));
  EXPECT_EQ(static_cast<int64_t>(facts.local_size[0]), tile.threads());
  if (real == DType::f16) {
    EXPECT_EQ(vulkan::validate_spirv(khr), "");
  }
}

// Both operands across the depth in float16, both along it in bfloat16.
TEST(MatrixUnits, ShadersOfEveryTileCompileAndSayWhatTheirMatricesAreFor) {
  vulkan::ShaderCompiler compiler;
  bool along = false;
  for (const GemmTile& tile : tiles(true)) {
    const DType real = along ? DType::bf16 : DType::f16;
    const OperatorCall call = call_of(along ? "matmul 512x512 520x512 transpose_a=1 transpose_b=1"
                                            : "matmul 520x512 512x520");
    const CallPlan plan = plan_tile(call, tile, 1, large_gpu(), real);
    expect_compiles(compiler, plan.launches[0], tile, real);
    along = !along;
  }
  for (const GemmTile& tile : {tiles(true).front(), tiles(true).back()}) {
    for (const char* weight : {"256x64x1x1", "256x64x3x3"}) {
      const OperatorCall call = call_of("conv2d 2x64x16x16 " + std::string(weight) + " padding=1");
      for (const bool channels_last : {false, true}) {
        const CallPlan plan =
            plan_tile(call, tile, 1, gpu_with_matrices(), DType::f16, channels_last);
        expect_compiles(compiler, plan.launches.back(), tile, DType::f16);
      }
    }
  }
}

TEST(Merging, DimensionsStandInnermostFirstAndThereIsAlwaysOne) {
  const std::vector<Dimension> channel = merge_dims({3, 5, 6, 7}, {3, 5, 6, 7}, {5, 1, 1});
  EXPECT_EQ(channel, (std::vector<Dimension>{{42, 1, 0}, {5, 42, 1}, {3, 210, 0}}));
  EXPECT_EQ(merge_dims({}, {}, {1}), (std::vector<Dimension>{{1, 0, 0}}));
}

TEST(Splitting, StretchesCoverTheRowAndNoneIsEmpty) {
  for (const int64_t n : {1, 5, 16385, 40001, 4194304}) {
    for (const int64_t rows : {1, 16, 100000}) {
      const Split split = split_row(n, rows);
      EXPECT_GE(split.count * split.length, n);
      EXPECT_LT((split.count - 1) * split.length, n);
      EXPECT_EQ(split.length % 4, 0);
    }
  }
}

TEST(Rows, ALayoutHoldsTheWholeRowOrSaysThatItDoesNot) {
  for (int64_t n = 1; n < 70000; n = n * 5 / 4 + 1) {
    const RowLayout layout = row_layout(n, large_gpu());
    EXPECT_EQ(layout.fits, layout.lanes * layout.pieces * layout.width >= n && layout.fits) << n;
    EXPECT_LE(layout.threads, 1024);
    EXPECT_EQ(layout.threads % layout.lanes, 0);
    EXPECT_EQ(n % layout.width, 0);
  }
  EXPECT_TRUE(row_layout(32768, large_gpu()).fits);
  EXPECT_FALSE(row_layout(32772, large_gpu()).fits);
}

}  // namespace
}  // namespace kbench::eager
