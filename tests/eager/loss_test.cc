// Losses.
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using Losses = EagerTest;

TEST_F(Losses, SmoothL1MatchesTheReferenceWithEveryTail) {
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{3, 5, 7}, Shape{9, 5001}}) {
    check({"smooth_l1_loss", {shape, shape}, {}, normal(0, 1.5)}, device_traits());
  }
}

TEST_F(Losses, DivergenceMatchesTheReferenceAndTakesZeroTargets) {
  for (const Shape& shape : {Shape{7}, Shape{5, 7}, Shape{9, 5001}}) {
    check({"kl_div_batchmean", {shape, shape}, {}, uniform(0.01, 1)}, device_traits());
  }
  const OperatorCall call = call_of({"kl_div_batchmean", {{2, 3}, {2, 3}}});
  Tensor x(call.inputs[0]), target(call.inputs[1]);
  for (float& v : x.data<float>()) v = -2;
  for (float& v : target.data<float>()) v = 0;
  target.data<float>()[1] = 1;
  const Tensor y = run(call, plan_call(call, device_traits()), {x, target})[0];
  EXPECT_NEAR(y.data<float>()[0], 1.0f, 1e-6f);
}

TEST_F(Losses, TripletMarginMatchesTheReference) {
  for (const Shape& shape : {Shape{5, 3}, Shape{37, 12}, Shape{7, 5001}, Shape{3, 4100}}) {
    check({"triplet_margin_loss", {shape, shape, shape}, {{"margin", 0.7}}}, device_traits());
  }
}

}  // namespace
}  // namespace kbench::eager
