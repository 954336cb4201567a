// What the table of operators (tests/operators) does not show of the eager kernels: every value of
// a format, angles near a function's zeros, indices outside, and elements of other types.
#include <numbers>

#include "tests/eager/eager_fixture.h"
#include "tests/operators/formats.h"

namespace kbench::eager {
namespace {

using EagerOperators = EagerTest;

TEST_F(EagerOperators, SineAndCosineAreRightNearTheirZeros) {
  std::vector<float> angles;
  for (const double turns : {1.0, 2.0, 3.0, 4.0, 1001.0, 3000.0, 4001.0, 65537.0, 1e7, 1e15}) {
    const auto angle = static_cast<float>(turns * std::numbers::pi / 2);
    for (const float x : {angle, std::nextafter(angle, 0.0f), std::nextafter(angle, kInfinity)}) {
      angles.insert(angles.end(), {x, -x});
    }
  }
  for (const char* op : {"sin", "cos"}) {
    const Tensor x = tensor_of(angles);
    const Tensor y = run(make_call(find_operator(op), {x.type()}, {}), {x});
    for (size_t i = 0; i < angles.size(); ++i) {
      const double angle = angles[i];
      EXPECT_NEAR(y.data<float>()[i], op[0] == 's' ? std::sin(angle) : std::cos(angle), 2e-7)
          << op << " of " << angle;
    }
  }
}

/// A device may take float32's own subnormal numbers for zero; no format's others.
TEST_F(EagerOperators, RoundToIsCorrectlyRounded) {
  for (const definitions::Format& format : definitions::formats()) {
    std::vector<float> x = {kNan}, truth = {kNan};
    for (const auto& each : definitions::roundings(format)) {
      if (each.from != 0 && each.from < 2 * std::numeric_limits<float>::min()) continue;
      x.insert(x.end(), {each.from, -each.from});
      truth.insert(truth.end(), {each.to, -each.to});
    }
    const Tensor input = tensor_of(x);
    const Tensor y = run(
        make_call(find_operator("round_to"), {input.type()}, {{"format", format.name}}), {input});
    EXPECT_TRUE(std::isnan(y.data<float>()[0])) << format.name;
    for (size_t i = 1; i < x.size(); ++i) {
      ASSERT_EQ(y.data<float>()[i], truth[i]) << x[i] << " to " << format.name;
    }
  }
}

TEST_F(EagerOperators, GeluIsAccurateToFloat) {
  std::vector<float> x;
  for (int i = -8000; i <= 8000; ++i) x.push_back(static_cast<float>(i) * 1e-3f);
  const Tensor input = tensor_of(x);
  const Tensor y = run(make_call(find_operator("gelu"), {input.type()}, {}), {input});
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = x[i];
    EXPECT_NEAR(y.data<float>()[i], v * 0.5 * std::erfc(-v / std::sqrt(2.0)),
                1.5e-7 * std::max(1.0, std::abs(v)))
        << v;
  }
}

TEST_F(EagerOperators, StrayIndicesGiveNan) {
  for (const DType real : {DType::f32, DType::f16, DType::bf16}) {
    for (const int64_t columns : {5, 8}) {
      const OperatorCall call = call_of("index_rows 9x" + std::to_string(columns) + " i64:3x4");
      const Tensor table = draw(normal(), {1, 2, "table"}, call.inputs[0]);
      Tensor index = draw(randint(0, 9), {1, 2, "index"}, call.inputs[1]);
      index.data<int64_t>()[5] = 9;
      index.data<int64_t>()[7] = -1;
      const Tensor y = run(call, {table, index}, real);
      for (int64_t i = 0; i < 12; ++i) {
        EXPECT_EQ(std::isnan(y.data<float>()[i * columns]), i == 5 || i == 7) << i;
      }
    }
  }
}

TEST_F(EagerOperators, WideElementsMoveWholeAndBytesAreRefused) {
  for (const DType dtype : {DType::i64, DType::f64}) {
    const OperatorCall call = make_call(find_operator("permute"), {{dtype, {3, 5, 4}}},
                                        {{"axes", std::vector<int64_t>{2, 0, 1}}});
    Tensor x(call.inputs[0]);
    for (int64_t i = 0; i < 60; ++i) {
      const int64_t bits = i * 0x100000001 - 7;
      std::memcpy(x.raw() + 8 * i, &bits, 8);
    }
    const Tensor y = run(call, {x});
    for (int64_t i = 0; i < 60; ++i) {
      EXPECT_EQ(std::memcmp(y.raw() + 8 * i, x.raw() + 8 * (i % 15 * 4 + i / 15), 8), 0) << i;
    }
  }
  for (const DType dtype : {DType::u8, DType::boolean}) {
    const OperatorCall flip =
        make_call(find_operator("flip"), {{dtype, {3, 5}}}, {{"axis", int64_t{0}}});
    const Error error = error_of([&] { plan_call(flip, device_traits()); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(error.message().find("of 2, 4 and 8 bytes, not " + std::string(name_of(dtype))),
              std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace kbench::eager
