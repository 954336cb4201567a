#include <numbers>

#include "tests/eager/eager_fixture.h"
#include "tests/operators/formats.h"

namespace kbench::eager {
namespace {

using Elementwise = EagerTest;

Tensor tensor_of(const std::vector<float>& values) {
  Tensor tensor(DType::f32, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data<float>().begin());
  return tensor;
}

TEST_F(Elementwise, UnaryOperatorsMatchTheReferenceWithEveryTail) {
  const DeviceTraits traits = device_traits();
  for (const char* op : {"relu", "sigmoid", "gelu", "square"}) {
    for (const int64_t n : {1, 3, 6, 4099}) check({op, {{n}}, {}, normal(0, 3)}, traits);
  }
  check({"sqrt", {{3, 5, 7}}, {}, uniform(0, 9)}, traits);
  check({"leaky_relu", {{3, 5, 7}}, {{"slope", 0.3}}}, traits);
  for (const char* op : {"add_scalar", "sub_scalar", "mul_scalar", "div_scalar"}) {
    check({op, {{3, 5, 7}}, {{"value", 2.7}}}, traits);
  }
}

TEST_F(Elementwise, ActivationsMatchOnBothSidesOfTheirBends) {
  for (const char* op :
       {"tanh", "selu", "softplus", "mish", "hardsigmoid", "hardswish", "exp", "abs", "neg"}) {
    check({op, {{3, 5, 7}}, {}, normal(0, 4)}, device_traits());
  }
  check({"softplus", {{4099}}, {}, uniform(-90, 90)}, device_traits());
  check({"mish", {{4099}}, {}, uniform(-90, 90)}, device_traits());
  check({"tanh", {{4099}}, {}, uniform(-90, 90)}, device_traits());
  check({"log", {{3, 5, 7}}, {}, uniform(0.01, 9)}, device_traits());
  check({"elu", {{3, 5, 7}}, {{"alpha", 0.3}}}, device_traits());
  check({"clamp_min", {{3, 5, 7}}, {{"value", 0.2}}}, device_traits());
  check({"clamp_max", {{3, 5, 7}}, {{"value", 0.2}}}, device_traits());
  check({"clamp", {{3, 5, 7}}, {{"lo", -0.4}, {"hi", 0.2}}}, device_traits());
}

TEST_F(Elementwise, SineAndCosineAreRightForAnglesOfAnySize) {
  for (const char* op : {"sin", "cos"}) {
    for (const double most : {1.0, 7.0, 90.0, 5999.0, 6100.0, 1e6, 1e20, 1.5e38}) {
      check({op, {{4099}}, {}, uniform(-most, most), 1e-6}, device_traits());
    }
    // Near multiples of pi / 2, where one of them is nearly 0; the reference is of float64.
    std::vector<float> angles;
    for (const double turns : {1.0, 2.0, 3.0, 4.0, 1001.0, 3000.0, 4001.0, 65537.0, 1e7, 1e15}) {
      const auto angle = static_cast<float>(turns * std::numbers::pi / 2);
      for (const float x : {angle, std::nextafter(angle, 0.0f), std::nextafter(angle, kInfinity)}) {
        angles.push_back(x);
        angles.push_back(-x);
      }
    }
    const Tensor x = tensor_of(angles);
    const OperatorCall call = make_call(find_operator(op), {x.type()}, {});
    const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
    for (size_t i = 0; i < angles.size(); ++i) {
      const double angle = angles[i];
      EXPECT_NEAR(y.data<float>()[i], op[0] == 's' ? std::sin(angle) : std::cos(angle), 2e-7)
          << op << " of " << angle;
    }
  }
}

TEST_F(Elementwise, MaskedElementsAreZeroWithEveryTail) {
  for (const int64_t n : {1, 3, 4, 6, 4099}) {
    const OperatorCall call =
        make_call(find_operator("mul_mask"), {{DType::f32, {n}}, {DType::boolean, {n}}}, {});
    const Tensor x = draw(normal(), {1, 2, "x"}, call.inputs[0]);
    Tensor mask(call.inputs[1]);
    for (int64_t i = 0; i < n; ++i) mask.raw()[i] = std::byte{i % 3 != 1};
    const Tensor y = run(call, plan_call(call, device_traits()), {x, mask})[0];
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(y.data<float>()[i], i % 3 != 1 ? x.data<float>()[i] : 0.0f) << i << " of " << n;
    }
  }
}

TEST_F(Elementwise, WholeBlocksAndManyWorkgroupsAreCovered) {
  DeviceTraits traits = device_traits();
  check({"relu", {{9, 4096 + 11}}}, traits);
  traits.max_group_count[0] = 3;  // forces rows of workgroups
  check({"relu", {{9, 4096 + 11}}}, traits);
  check({"add", {{7, 4099}, {7, 4099}}}, traits);
}

TEST_F(Elementwise, BinaryOperatorsMatchTheReference) {
  for (const char* op : {"add", "sub", "mul", "div"}) {
    check({op, {{3, 5, 7}, {3, 5, 7}}, {}, uniform(0.5, 2)}, device_traits());
  }
  for (const char* op : {"maximum", "minimum"}) {
    check({op, {{3, 5, 8}, {5, 1}}}, device_traits());
    check({op, {{3, 5, 7}, {}}}, device_traits());
  }
}

TEST_F(Elementwise, EveryBroadcastIsRight) {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{3, 5, 20}, {20}},                     // trailing
      {{3, 5, 7}, {7}},                       // trailing, odd
      {{5, 7}, {5, 1}},                       // a number a row
      {{5, 12}, {5, 1}},                      //
      {{3, 5, 6, 7}, {5, 1, 1}},              // a channel
      {{3, 1, 12}, {1, 5, 1}},                // each repeats the other
      {{1}, {3, 5, 7}},                       // a number
      {{}, {3, 5, 7}},                        //
      {{3, 1, 7, 1, 6}, {1, 5, 1, 9, 1}},     // nothing merges
      {{3, 1, 7, 1, 6, 1}, {5, 1, 9, 1, 2}},  // six dimensions
      {{1, 1}, {1, 1}},
  };
  for (const auto& [a, b] : shapes) {
    check({"sub", {a, b}}, device_traits());
    check({"sub", {b, a}}, device_traits());
  }
}

TEST_F(Elementwise, NanAndInfinityAreTreatedAsPyTorchDoes) {
  const Tensor x = tensor_of({kNan, kInfinity, -kInfinity, -0.0f, 0.0f, -1.0f, 2.0f});
  const auto values = [&](const char* op, Attributes attributes = {}) {
    const OperatorCall call = make_call(find_operator(op), {x.type()}, attributes);
    const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
    return std::vector<float>(y.data<float>().begin(), y.data<float>().end());
  };
  const auto relu = values("relu");
  EXPECT_TRUE(std::isnan(relu[0]));
  EXPECT_EQ(relu[1], kInfinity);
  EXPECT_EQ(relu[2], 0.0f);
  EXPECT_EQ(relu[5], 0.0f);
  const auto sigmoid = values("sigmoid");
  EXPECT_TRUE(std::isnan(sigmoid[0]));
  EXPECT_EQ(sigmoid[1], 1.0f);
  EXPECT_EQ(sigmoid[2], 0.0f);
  const auto gelu = values("gelu");
  EXPECT_TRUE(std::isnan(gelu[0]));
  EXPECT_EQ(gelu[1], kInfinity);
  EXPECT_EQ(gelu[4], 0.0f);
  EXPECT_TRUE(std::isnan(values("leaky_relu", {{"slope", 0.1}})[0]));
  for (const char* op : {"tanh", "selu", "elu", "softplus", "mish", "hardsigmoid", "hardswish"}) {
    EXPECT_TRUE(std::isnan(values(op)[0])) << op;
  }
  for (const char* op : {"sin", "cos"}) {
    for (const int i : {0, 1, 2}) EXPECT_TRUE(std::isnan(values(op)[i])) << op << " of " << i;
    EXPECT_EQ(values(op)[4], op[0] == 's' ? 0.0f : 1.0f);
  }
  const auto clamped = values("clamp", {{"lo", -0.5}, {"hi", 0.5}});
  EXPECT_TRUE(std::isnan(clamped[0]));
  EXPECT_EQ(clamped[1], 0.5f);
  EXPECT_EQ(clamped[2], -0.5f);
  EXPECT_EQ(values("tanh")[1], 1.0f);
  EXPECT_EQ(values("tanh")[2], -1.0f);
  EXPECT_EQ(values("softplus")[1], kInfinity);
  EXPECT_EQ(values("softplus")[2], 0.0f);
  EXPECT_TRUE(std::isnan(values("sqrt")[5]));
}

/// A device may take float32's own subnormal numbers for zero; no format's others.
TEST_F(Elementwise, RoundToIsCorrectlyRounded) {
  for (const definitions::Format& format : definitions::formats()) {
    std::vector<float> x = {kNan}, truth = {kNan};
    for (const auto& each : definitions::roundings(format)) {
      if (each.from != 0 && each.from < 2 * std::numeric_limits<float>::min()) continue;
      x.insert(x.end(), {each.from, -each.from});
      truth.insert(truth.end(), {each.to, -each.to});
    }
    const Tensor input = tensor_of(x);
    const OperatorCall call =
        make_call(find_operator("round_to"), {input.type()}, {{"format", format.name}});
    const Tensor y = run(call, plan_call(call, device_traits()), {input})[0];
    EXPECT_TRUE(std::isnan(y.data<float>()[0])) << format.name;
    for (size_t i = 1; i < x.size(); ++i) {
      ASSERT_EQ(y.data<float>()[i], truth[i]) << x[i] << " to " << format.name;
    }
  }
}

TEST_F(Elementwise, GeluIsAccurateToFloat) {
  std::vector<float> x;
  for (int i = -8000; i <= 8000; ++i) x.push_back(static_cast<float>(i) * 1e-3f);
  const Tensor input = tensor_of(x);
  const OperatorCall call = make_call(find_operator("gelu"), {input.type()}, {});
  const Tensor y = run(call, plan_call(call, device_traits()), {input})[0];
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    EXPECT_NEAR(y.data<float>()[i], v * 0.5 * std::erfc(-v / std::sqrt(2.0)),
                1.5e-7 * std::max(1.0, std::abs(v)))
        << v;
  }
}

}  // namespace
}  // namespace kbench::eager
