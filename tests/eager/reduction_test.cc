#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using Reductions = EagerTest;

Attributes axis(int64_t value) { return {{"axis", value}}; }

// Last dimension: every number of lanes, odd and even rows, split rows. Other dimensions: scalar
// and four-wide columns, split columns.
const std::vector<std::pair<Shape, int64_t>> kAxes = {
    {{7}, 0},           {{5, 3}, 1},     {{300, 9}, 1},    {{7, 36}, 1},       {{7, 300}, 1},
    {{6, 2052}, 1},     {{3, 2051}, 1},  {{2, 40000}, 1},  {{3, 33333}, 1},    {{3, 5, 7}, 0},
    {{3, 5, 7}, 1},     {{3, 5, 12}, 1}, {{3, 130, 7}, 1}, {{3, 130, 300}, 1}, {{3000, 7}, 0},
    {{2, 1500, 20}, 1}, {{6, 1, 7}, 1},  {{5, 3, 1}, 1},
};

TEST_F(Reductions, SumMeanNormAndArgmaxMatchTheReferenceOnEveryAxis) {
  for (const auto& [shape, dim] : kAxes) {
    for (const char* op : {"sum", "mean", "norm", "argmax"}) {
      check({op, {shape}, axis(dim)}, device_traits());
    }
  }
  check({"sum", {{3, 5, 7}}, {{"axis", int64_t{1}}, {"keepdim", int64_t{1}}}}, device_traits());
}

TEST_F(Reductions, ExtremesAndLogSumExpMatchTheReferenceOnEveryAxis) {
  for (const auto& [shape, dim] : kAxes) {
    for (const char* op : {"max", "min", "argmin", "logsumexp"}) {
      check({op, {shape}, axis(dim), normal(0, 5)}, device_traits());
    }
  }
}

TEST_F(Reductions, NanWinsAnExtreme) {
  for (const int64_t n : {7, 40000}) {
    Tensor x(DType::f32, {2, n});
    for (float& v : x.data<float>()) v = 1;
    x.data<float>()[n + n / 2] = kNan;
    for (const char* op : {"max", "min"}) {
      const OperatorCall call = make_call(find_operator(op), {x.type()}, axis(1));
      const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
      EXPECT_EQ(y.data<float>()[0], 1.0f);
      EXPECT_TRUE(std::isnan(y.data<float>()[1])) << op << " of " << n;
    }
    const OperatorCall call = make_call(find_operator("argmin"), {x.type()}, axis(1));
    const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
    EXPECT_EQ(y.data<int64_t>()[0], 0);
    EXPECT_EQ(y.data<int64_t>()[1], n / 2);
  }
}

TEST_F(Reductions, LogSumExpOfMaskedAndHugeValuesIsStable) {
  for (const int64_t n : {6, 40000}) {
    Tensor x(DType::f32, {3, n});
    const auto values = x.data<float>();
    for (int64_t i = 0; i < n; ++i) {
      values[i] = i == 1 ? 1e30f : -kInfinity;
      values[n + i] = -kInfinity;
      values[2 * n + i] = i == 2 ? kNan : 1.0f;
    }
    const OperatorCall call = make_call(find_operator("logsumexp"), {x.type()}, axis(1));
    const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
    EXPECT_EQ(y.data<float>()[0], 1e30f);
    EXPECT_EQ(y.data<float>()[1], -kInfinity);
    EXPECT_TRUE(std::isnan(y.data<float>()[2]));
  }
}

TEST_F(Reductions, LongRowsAndColumnsAreSplitOverWorkgroups) {
  EXPECT_EQ(check({"sum", {{2, 40000}}, axis(1)}, device_traits()).launches.size(), 2u);
  EXPECT_EQ(check({"argmax", {{2, 40000}}, axis(1)}, device_traits()).launches.size(), 2u);
  EXPECT_EQ(check({"sum", {{3000, 7}}, axis(0)}, device_traits()).launches.size(), 2u);
  EXPECT_EQ(check({"argmax", {{3000, 7}}, axis(0)}, device_traits()).launches.size(), 2u);
}

TEST_F(Reductions, ArgmaxTakesTheFirstOfEqualsAndNanAboveAll) {
  const auto argmax = [&](std::vector<float> values, Shape shape, int64_t dim) {
    Tensor x(DType::f32, shape);
    std::copy(values.begin(), values.end(), x.data<float>().begin());
    const OperatorCall call = make_call(find_operator("argmax"), {x.type()}, axis(dim));
    const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
    return std::vector<int64_t>(y.data<int64_t>().begin(), y.data<int64_t>().end());
  };
  EXPECT_EQ(argmax({1, 3, 3, 2}, {4}, 0), std::vector<int64_t>{1});
  EXPECT_EQ(argmax({0.0f, -0.0f, -1}, {3}, 0), std::vector<int64_t>{0});
  EXPECT_EQ(argmax({-0.0f, 0.0f, -1}, {3}, 0), std::vector<int64_t>{0});
  EXPECT_EQ(argmax({kInfinity, kNan, kNan, 1}, {4}, 0), std::vector<int64_t>{1});
  EXPECT_EQ(argmax({-kInfinity, -kInfinity}, {2}, 0), std::vector<int64_t>{0});
  EXPECT_EQ(argmax({1, 5, 4, 5, 4, 9}, {3, 2}, 0), (std::vector<int64_t>{1, 2}));
  std::vector<float> ties(40000, 2.5f);  // split over workgroups and lanes
  ties[0] = 1;
  EXPECT_EQ(argmax(ties, {40000}, 0), std::vector<int64_t>{1});
}

TEST_F(Reductions, CumsumMatchesTheReferenceOnEveryAxis) {
  for (const auto& [shape, dim] : kAxes) check({"cumsum", {shape}, axis(dim)}, device_traits());
  EXPECT_EQ(check({"cumsum", {{3, 40000}}, axis(1)}, device_traits()).launches.size(), 2u);
  EXPECT_EQ(check({"cumsum", {{600, 4100}}, axis(1)}, device_traits()).launches.size(), 1u);
}

TEST_F(Reductions, CumprodMatchesTheReferenceOnEveryAxis) {
  for (const auto& [shape, dim] : kAxes) {
    check({"cumprod", {shape}, axis(dim), uniform(0.98, 1.02), 1e-4}, device_traits());
  }
}

TEST_F(Reductions, LogSoftmaxMatchesTheReferenceOnEveryAxis) {
  for (const auto& [shape, dim] : kAxes) {
    check({"log_softmax", {shape}, axis(dim), normal(0, 5)}, device_traits());
  }
  check({"log_softmax", {{3, 40001}}, axis(1), normal(0, 5)}, device_traits());
}

TEST_F(Reductions, SoftmaxMatchesTheReferenceOnEveryAxis) {
  for (const auto& [shape, dim] : kAxes) {
    check({"softmax", {shape}, axis(dim), normal(0, 5)}, device_traits());
  }
}

TEST_F(Reductions, RowsTooLongForRegistersTakeTwoPasses) {
  EXPECT_EQ(check({"softmax", {{3, 9000}}, axis(1)}, device_traits()).launches.size(), 1u);
  EXPECT_EQ(check({"softmax", {{3, 40004}}, axis(1)}, device_traits()).launches.size(), 2u);
  EXPECT_EQ(check({"softmax", {{3, 40001}}, axis(1)}, device_traits()).launches.size(), 2u);
}

TEST_F(Reductions, SoftmaxOfMaskedAndHugeValuesIsStable) {
  for (const int64_t n : {6, 40, 40000}) {
    Tensor x(DType::f32, {3, n});
    const auto values = x.data<float>();
    for (int64_t i = 0; i < n; ++i) {
      values[i] = i % 3 == 1 ? 1e30f : -kInfinity;
      values[n + i] = -kInfinity;
      values[2 * n + i] = i == n / 2 ? kNan : 1.0f;
    }
    const OperatorCall call = make_call(find_operator("softmax"), {x.type()}, axis(1));
    const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
    const auto got = y.data<float>();
    const auto share = 1.0f / static_cast<float>((n + 1) / 3);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(got[i], i % 3 == 1 ? share : 0.0f, 1e-6f * share) << i << " of " << n;
      EXPECT_TRUE(std::isnan(got[n + i])) << "every element masked";
      EXPECT_TRUE(std::isnan(got[2 * n + i])) << "a NaN in the row";
    }
  }
}

TEST_F(Reductions, CrossEntropyMatchesTheReference) {
  for (const auto& [rows, classes] : std::vector<std::pair<int64_t, int64_t>>{
           {5, 3}, {37, 12}, {6, 300}, {7, 5001}, {20001, 3}}) {
    const OperatorCall call = make_call(find_operator("cross_entropy"),
                                        {{DType::f32, {rows, classes}}, {DType::i64, {rows}}}, {});
    const Tensor x = draw(normal(0, 4), {1, 2, "x"}, call.inputs[0]);
    const Tensor target = draw(randint(0, classes), {1, 2, "target"}, call.inputs[1]);
    const auto got = run(call, plan_call(call, device_traits()), {x, target});
    expect_close(got, truth_of(call, {x, target}), 1e-5);
  }
}

}  // namespace
}  // namespace kbench::eager
