// Planning rules: pure, no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/measure/eager/gemm.h"
#include "harness/measure/vulkan/compiler.h"
#include "harness/measure/vulkan/embedded.h"
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
  for (const Launch& launch : plan.launches) {
    SCOPED_TRACE(launch.shader);
    EXPECT_LE(push_bytes(launch), 128u);
    for (int axis = 0; axis < 3; ++axis) {
      EXPECT_GE(launch.groups[axis], 1u);
      EXPECT_LE(launch.groups[axis], traits.max_group_count[axis]);
    }
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
    for (const Preset preset : {Preset::smoke, Preset::v0, Preset::v0_1}) {
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

/// The launch's shader as the device would get it.
vulkan::SpirvFacts compile(vulkan::ShaderCompiler& compiler, const Launch& launch) {
  vulkan::ShaderSource source;
  source.text = vulkan::embedded_shader(launch.shader).value();
  source.file = launch.shader;
  source.macros = launch.macros;
  source.include = vulkan::embedded_include;
  const vulkan::CompileOutcome outcome = compiler.compile(source);
  for (const Diagnostic& each : outcome.diagnostics) ADD_FAILURE() << each.message;
  EXPECT_EQ(vulkan::validate_spirv(outcome.spirv), "");
  return vulkan::inspect_spirv(outcome.spirv);
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
  const OperatorCall call = call_of({"relu", {{4096, 393216}}});
  const Launch launch = plan_call(call, traits).launches[0];
  EXPECT_GT(launch.groups[1], 1u);
  EXPECT_GE(uint64_t{launch.groups[0]} * launch.groups[1], uint64_t{4096} * 393216 / 4096);
  EXPECT_EQ(plan_call(call, large_gpu()).launches[0].groups[1], 1u);
}

TEST(Plans, TensorsTooLargeForTheKernelsCountersAreRefused) {
  const Error error = error_of([] {
    plan_call(call_of({"add", {{5, 2147483647}, {5, 2147483647}}}), large_gpu());
  });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
}

/// The end of a row's last stretch must not wrap, nor an element's index turn negative.
TEST(Plans, RowsTooLongToCountAreRefused) {
  const auto sum_of = [](int64_t n) {
    return error_of([&] {
             plan_call(call_of({"sum", {{n}}, {{"axis", int64_t{0}}}}), large_gpu());
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
    return choose_tile(m, n, k, batches, true, large_gpu());
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
