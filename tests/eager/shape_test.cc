// Operators that move elements.
#include "tests/eager/eager_fixture.h"

namespace kbench::eager {
namespace {

using Moves = EagerTest;
using List = std::vector<int64_t>;
using List2 = std::vector<std::pair<int64_t, int64_t>>;

TEST_F(Moves, EveryPermutationIsRight) {
  const std::vector<std::pair<Shape, List>> cases = {
      {{5, 7}, {1, 0}},
      {{70, 37}, {1, 0}},                        // tiles, with edges
      {{3, 40, 33}, {0, 2, 1}},                  //
      {{40, 3, 33}, {2, 1, 0}},                  //
      {{3, 4, 9, 10}, {3, 1, 0, 2}},             //
      {{3, 4, 5, 8}, {0, 2, 1, 3}},              // rows stay whole
      {{3, 4, 5, 7}, {2, 0, 1, 3}},              //
      {{2, 3, 2, 5, 2, 3}, {4, 0, 2, 5, 1, 3}},  // six dimensions
      {{2, 3, 4, 5}, {0, 1, 2, 3}},              // nothing moves
  };
  for (const auto& [shape, axes] : cases) {
    check({"permute", {shape}, {{"axes", axes}}}, device_traits());
  }
}

TEST_F(Moves, ManyWorkgroupsAreCovered) {
  DeviceTraits traits = device_traits();
  check({"permute", {{300, 260}}, {{"axes", List{1, 0}}}}, traits);
  traits.max_group_count[0] = 3;  // forces rows of workgroups
  check({"permute", {{300, 260}}, {{"axes", List{1, 0}}}}, traits);
  check({"slice", {{9, 4099}}, {{"axis", int64_t{1}}, {"stop", int64_t{4098}}}}, traits);
}

TEST_F(Moves, SlicesTakeEveryStartStopAndStep) {
  const auto slice = [](int64_t axis, int64_t start, int64_t stop, int64_t step) {
    return Attributes{{"axis", axis}, {"start", start}, {"stop", stop}, {"step", step}};
  };
  check({"slice", {{3, 5, 8}}, slice(0, 1, 3, 1)}, device_traits());
  check({"slice", {{3, 5, 8}}, slice(1, 1, 5, 3)}, device_traits());
  check({"slice", {{3, 5, 8}}, slice(2, 4, 8, 1)}, device_traits());
  check({"slice", {{3, 5, 8}}, slice(2, 1, 6, 1)}, device_traits());
  check({"slice", {{3, 5, 8}}, slice(2, 1, 8, 3)}, device_traits());
  check({"slice", {{3, 5, 8}}, slice(2, 7, 8, 1)}, device_traits());
}

TEST_F(Moves, PartsAreJoinedAlongEveryAxis) {
  for (const int64_t axis : {0, 1, 2}) {
    std::vector<Shape> parts(3, Shape{3, 5, 8});
    parts[0][axis] = 1;
    parts[2][axis] = 7;
    check({"cat", parts, {{"axis", axis}}}, device_traits());
  }
  check({"cat", {{4, 3, 8}, {4, 1, 8}}, {{"axis", int64_t{1}}}}, device_traits());
  check({"cat", {{6, 1}, {6, 1}}, {{"axis", int64_t{1}}}}, device_traits());
  check({"cat", {{6, 5}}, {{"axis", int64_t{0}}}}, device_traits());
}

TEST_F(Moves, PaddingIsZeroAndRollsWrap) {
  for (const int64_t axis : {0, 1, 2}) {
    for (const auto& [before, after] : List2{{0, 3}, {4, 0}, {1, 2}, {0, 0}}) {
      check({"pad", {{3, 5, 8}}, {{"axis", axis}, {"before", before}, {"after", after}}},
            device_traits());
    }
    for (const int64_t shift : {0, 1, -1, 2, 4, 23, -9}) {
      check({"roll", {{3, 5, 8}}, {{"axis", axis}, {"shift", shift}}}, device_traits());
    }
    check({"flip", {{3, 5, 8}}, {{"axis", axis}}}, device_traits());
  }
}

TEST_F(Moves, ExtentsOfOneAreRepeated) {
  check({"expand", {{3, 1, 8}}, {{"shape", List{3, 5, 8}}}}, device_traits());
  check({"expand", {{3, 5, 1}}, {{"shape", List{3, 5, 7}}}}, device_traits());
  check({"expand", {{1, 8}}, {{"shape", List{2, 3, 8}}}}, device_traits());
  check({"expand", {{}}, {{"shape", List{2, 3}}}}, device_traits());
}

TEST_F(Moves, TrianglesKeepTheirDiagonal) {
  for (const char* op : {"triu", "tril"}) {
    for (const Shape& shape : {Shape{7, 7}, Shape{3, 8, 8}, Shape{2, 5, 12}, Shape{9, 4}}) {
      check({op, {shape}}, device_traits());
    }
  }
}

TEST_F(Moves, RowsAreLookedUpAndStrayIndicesGiveNan) {
  for (const int64_t columns : {5, 8}) {
    const OperatorCall call = make_call(find_operator("index_rows"),
                                        {{DType::f32, {9, columns}}, {DType::i64, {3, 4}}}, {});
    const Tensor table = draw(normal(), {1, 2, "table"}, call.inputs[0]);
    Tensor index = draw(randint(0, 9), {1, 2, "index"}, call.inputs[1]);
    const auto plan = plan_call(call, device_traits());
    expect_close(run(call, plan, {table, index}), truth_of(call, {table, index}), 1e-6);
    index.data<int64_t>()[5] = 9;
    index.data<int64_t>()[7] = -1;
    const Tensor y = run(call, plan, {table, index})[0];
    for (int64_t i = 0; i < 12; ++i) {
      EXPECT_EQ(std::isnan(y.data<float>()[i * columns]), i == 5 || i == 7) << i;
    }
  }
}

TEST_F(Moves, IndicesMoveAsTheyAre) {
  const OperatorCall call =
      make_call(find_operator("permute"), {{DType::i64, {3, 5, 4}}}, {{"axes", List{2, 0, 1}}});
  Tensor x(call.inputs[0]);
  for (int64_t i = 0; i < 60; ++i) x.data<int64_t>()[i] = i * 0x100000001 - 7;
  const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
  for (int64_t k = 0; k < 4; ++k) {
    for (int64_t i = 0; i < 15; ++i) {
      EXPECT_EQ(y.data<int64_t>()[k * 15 + i], x.data<int64_t>()[i * 4 + k]);
    }
  }
}

TEST_F(Moves, DoublesMoveWholeAndBytesAreRefused) {
  const OperatorCall call =
      make_call(find_operator("permute"), {{DType::f64, {3, 5, 4}}}, {{"axes", List{2, 0, 1}}});
  Tensor x(call.inputs[0]);
  for (int64_t i = 0; i < 60; ++i) x.data<double>()[i] = 0.1 * static_cast<double>(i);
  const Tensor y = run(call, plan_call(call, device_traits()), {x})[0];
  for (int64_t k = 0; k < 4; ++k) {
    for (int64_t i = 0; i < 15; ++i) {
      EXPECT_EQ(y.data<double>()[k * 15 + i], x.data<double>()[i * 4 + k]);
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

TEST_F(Moves, TransposesReadAndWriteInTiles) {
  EXPECT_EQ(plan_call(call_of({"permute", {{2, 128, 64}}, {{"axes", List{0, 2, 1}}}}), large_gpu())
                .launches[0]
                .shader,
            "transpose.comp");
  const CallPlan rows =
      plan_call(call_of({"permute", {{2, 12, 6, 64}}, {{"axes", List{0, 2, 1, 3}}}}), large_gpu());
  EXPECT_EQ(rows.launches[0].shader, "copy.comp");
  EXPECT_EQ(macro(rows.launches[0], "WIDTH"), "4");
}

}  // namespace
}  // namespace kbench::eager
