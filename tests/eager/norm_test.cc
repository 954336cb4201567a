#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using Norms = EagerTest;

std::vector<Shape> affine(Shape x, Shape parameter) { return {std::move(x), parameter, parameter}; }

TEST_F(Norms, BatchNormMatchesTheReference) {
  check({"batch_norm", affine({3, 5, 6, 7}, {5})}, device_traits());
  check({"batch_norm", affine({3, 5, 6, 10}, {5})}, device_traits());
  check({"batch_norm", affine({9, 5}, {5})}, device_traits());
  check({"batch_norm", affine({301, 36}, {36})}, device_traits());
  check({"batch_norm", affine({1001, 7}, {7})}, device_traits());
  check({"batch_norm", {{33, 300}}}, device_traits());
  check({"batch_norm", {{3, 5, 6, 7}}}, device_traits());
}

TEST_F(Norms, LongChannelsAreSplitOverWorkgroups) {
  const CallPlan plan = check({"batch_norm", affine({3, 2, 90, 100}, {2})}, device_traits());
  EXPECT_EQ(plan.launches.size(), 3u);
  check({"batch_norm", affine({3, 2, 91, 101}, {2})}, device_traits());
}

TEST_F(Norms, BatchNormTakesAnyRank) {
  check({"batch_norm", affine({7, 5, 9}, {5})}, device_traits());
  check({"batch_norm", affine({3, 5, 2, 3, 4}, {5})}, device_traits());
}

TEST_F(Norms, InstanceNormMatchesTheReference) {
  check({"instance_norm", {{3, 5, 6, 7}}}, device_traits());
  check({"instance_norm", affine({3, 5, 6, 7}, {5})}, device_traits());
  check({"instance_norm", affine({3, 5, 2, 3, 4}, {5})}, device_traits());
  check({"instance_norm", {{2, 3, 50004}}}, device_traits());
}

TEST_F(Norms, GroupNormMatchesTheReference) {
  const Attributes groups = {{"groups", int64_t{3}}};
  check({"group_norm", affine({3, 6, 5, 7}, {6}), groups}, device_traits());
  check({"group_norm", affine({3, 6, 5, 4}, {6}), groups}, device_traits());
  check({"group_norm", affine({7, 24}, {24}), groups}, device_traits());
  check({"group_norm", affine({7, 15}, {15}), groups}, device_traits());
  check({"group_norm", {{3, 6, 5, 7}}, groups}, device_traits());
  check({"group_norm", affine({2, 6, 91, 101}, {6}), groups}, device_traits());
  check({"group_norm", affine({2, 150003}, {150003}), groups}, device_traits());
}

TEST_F(Norms, LayerNormMatchesTheReference) {
  const Attributes one = {{"dims", int64_t{1}}}, two = {{"dims", int64_t{2}}};
  check({"layer_norm", affine({5, 7}, {7}), one}, device_traits());
  check({"layer_norm", affine({300, 12}, {12}), one}, device_traits());
  check({"layer_norm", affine({3, 5, 60}, {5, 60}), two}, device_traits());
  check({"layer_norm", {{3, 5, 300}}, two}, device_traits());
  check({"layer_norm", affine({3, 9001}, {9001}), one}, device_traits());
}

TEST_F(Norms, RowsTooLongForRegistersAreSplitOverWorkgroups) {
  const CallPlan plan =
      check({"layer_norm", affine({3, 50004}, {50004}), {{"dims", int64_t{1}}}}, device_traits());
  EXPECT_EQ(plan.launches.size(), 3u);
  check({"layer_norm", affine({3, 50001}, {50001}), {{"dims", int64_t{1}}}}, device_traits());
}

// Sums of raw squares would lose everything here: mean 1000, deviation 0.1.
TEST_F(Norms, VarianceSurvivesALargeMean) {
  const Distribution far = normal(1000, 0.1);
  for (const Shape& shape : {Shape{3, 60}, Shape{2, 50000}}) {
    const OperatorCall call = make_call(find_operator("layer_norm"), {{DType::f32, shape}},
                                        {{"dims", int64_t{1}}, {"eps", 1e-12}});
    const Tensor x = draw(far, {3, 4, "x"}, call.inputs[0]);
    expect_close(run(call, plan_call(call, device_traits()), {x}), truth_of(call, {x}), 1e-3);
  }
}

}  // namespace
}  // namespace kbench::eager
