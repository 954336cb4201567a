#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "kbench/error.h"
#include "kbench/graph.h"
#include "kbench/ops.h"

namespace kbench {
namespace {

TEST(Operators, AreDeclaredInFull) {
  std::set<std::string> names;
  for (const Operator* op : operators()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_FALSE(op->formula.empty()) << op->name;
    EXPECT_NE(op->follows.find('('), std::string::npos) << op->name << ": whose semantics?";
    EXPECT_NE(op->infer, nullptr) << op->name;
    EXPECT_TRUE(op->is_view || op->flops != nullptr) << op->name;
    EXPECT_LE(op->min_inputs, op->max_inputs) << op->name;
    EXPECT_EQ(&find_operator(op->name), op);
  }
  EXPECT_THROW(find_operator("relux"), Error);
}

TEST(Operators, AttributesAreCompletedAndChecked) {
  const TensorType x{DType::f32, {2, 3, 8, 9}}, w{DType::f32, {4, 3, 3, 3}};
  const OperatorCall call = make_call(find_operator("conv2d"), {x, w}, {{"stride", int64_t{2}}});
  EXPECT_EQ(call.attributes.list("stride"), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(call.attributes.integer("groups"), 1);
  EXPECT_EQ(call.outputs[0].shape, (Shape{2, 4, 3, 4}));
  EXPECT_THROW(make_call(find_operator("conv2d"), {x, w}, {{"strid", int64_t{2}}}), Error);
  EXPECT_THROW(make_call(find_operator("conv2d"), {x}, {}), Error);
  EXPECT_THROW(make_call(find_operator("softmax"), {x}, {}), Error);
  EXPECT_THROW(make_call(find_operator("softmax"), {x}, {{"axis", int64_t{4}}}), Error);
  EXPECT_THROW(make_call(find_operator("relu"), {{DType::i64, {3}}}, {}), Error);
}

TEST(Operators, CastTakesTheTypeByName) {
  const TensorType x{DType::f32, {2, 3}};
  const auto cast = [&](const std::string& dtype) {
    return make_call(find_operator("cast"), {x}, {{"dtype", dtype}}).outputs.at(0);
  };
  EXPECT_EQ(cast("u8"), (TensorType{DType::u8, {2, 3}}));
  EXPECT_EQ(cast("f16"), (TensorType{DType::f16, {2, 3}}));
  EXPECT_THROW(make_call(find_operator("cast"), {x}, {}), Error);
  try {
    cast("float16");
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kShape);
    EXPECT_EQ(error.message(),
              "cast(f32 [2, 3], dtype=float16): unknown element type 'float16'; known: f32, f64, "
              "i64, bool, f16, bf16, i32, u32, u8");
  }
}

/// A window's extent against counting the positions where it fits.
TEST(Operators, WindowExtentsMatchCounting) {
  for (int64_t in = 1; in <= 13; ++in) {
    for (int64_t kernel = 1; kernel <= 5; ++kernel) {
      for (int64_t stride = 1; stride <= 3; ++stride) {
        for (int64_t padding = 0; padding <= kernel / 2; ++padding) {
          for (int64_t dilation = 1; dilation <= 3; ++dilation) {
            int64_t count = 0;
            for (int64_t at = -padding; at + dilation * (kernel - 1) < in + padding; at += stride) {
              ++count;
            }
            const Attributes attributes = {{"kernel", kernel},
                                           {"stride", stride},
                                           {"padding", padding},
                                           {"dilation", dilation}};
            const TensorType x{DType::f32, {1, 1, in, in}};
            const auto& pool = find_operator("max_pool2d");
            if (count == 0) {
              EXPECT_THROW(make_call(pool, {x}, attributes), Error);
            } else {
              const OperatorCall call = make_call(pool, {x}, attributes);
              EXPECT_EQ(call.outputs[0].shape, (Shape{1, 1, count, count}));
            }
          }
        }
      }
    }
  }
}

TEST(Operators, BroadcastFollowsNumPy) {
  auto shape_of = [](Shape a, Shape b) {
    return make_call(find_operator("add"), {{DType::f32, a}, {DType::f32, b}}, {}).outputs[0].shape;
  };
  EXPECT_EQ(shape_of({3, 1, 5}, {7, 1}), (Shape{3, 7, 5}));
  EXPECT_EQ(shape_of({}, {3, 5}), (Shape{3, 5}));
  EXPECT_EQ(shape_of({11, 1, 1}, {2, 11, 5, 7}), (Shape{2, 11, 5, 7}));
  EXPECT_THROW(shape_of({3}, {5}), Error);
}

TEST(Operators, MatmulTransposesAndBroadcastsLeadingDimensions) {
  auto shape_of = [](Shape a, Shape b, bool ta, bool tb) {
    return make_call(find_operator("matmul"), {{DType::f32, a}, {DType::f32, b}},
                     {{"transpose_a", int64_t{ta}}, {"transpose_b", int64_t{tb}}})
        .outputs[0]
        .shape;
  };
  EXPECT_EQ(shape_of({3, 5}, {5, 7}, false, false), (Shape{3, 7}));
  EXPECT_EQ(shape_of({5, 3}, {7, 5}, true, true), (Shape{3, 7}));
  EXPECT_EQ(shape_of({2, 1, 3, 5}, {11, 5, 7}, false, false), (Shape{2, 11, 3, 7}));
  EXPECT_THROW(shape_of({3, 5}, {7, 5}, false, false), Error);
  EXPECT_THROW(shape_of({2, 3, 5}, {3, 5, 7}, false, false), Error);
}

TEST(Operators, ReshapeInfersOneExtent) {
  Graph g;
  auto x = g.input("x", {2, 3, 5});
  EXPECT_EQ(reshape(x, {-1, 5}).shape(), (Shape{6, 5}));
  EXPECT_EQ(flatten(x, 1).shape(), (Shape{2, 15}));
  EXPECT_EQ(unsqueeze(x, 1).shape(), (Shape{2, 1, 3, 5}));
  EXPECT_THROW(reshape(x, {-1, 4}), Error);
  EXPECT_THROW(reshape(x, {-1, -1}), Error);
}

/// What a task's function gets wrong before there is a call: the operator and x are named as well.
TEST(Operators, FunctionsNameThemselvesAndTheirInput) {
  Graph g;
  const Value x = g.input("x", {3, 10, 7}), scalar = g.input("s", {});
  const Module m = g.module("m");
  const std::vector<std::pair<std::string, std::function<void()>>> mistakes = {
      {"softmax(f32 [3, 10, 7]): axis 3", [&] { softmax(x, 3); }},
      {"softmax(f32 [3, 10, 7]): axis -4", [&] { softmax(x, -4); }},
      {"sum(f32 [3, 10, 7]): axis 5", [&] { sum(x, {.axis = 5}); }},
      {"mean(f32 [3, 10, 7]): axis 3", [&] { mean(x, 1, 3, true); }},
      {"flatten(f32 [3, 10, 7])", [&] { flatten(x, 2, 1); }},
      {"flatten(f32 [])", [&] { flatten(scalar); }},
      {"unsqueeze(f32 [3, 10, 7])", [&] { unsqueeze(x, 4); }},
      {"squeeze(f32 [3, 10, 7])", [&] { squeeze(x, 1); }},
      {"transpose(f32 [3, 10, 7])", [&] { transpose(x, 0, 3); }},
      {"slice(f32 [3, 10, 7], axis=1, start=4, stop=4, step=1)",
       [&] { slice(x, {.axis = 1, .start = 4, .stop = 4}); }},
      {"chunk(f32 [3, 10, 7]): 3 pieces", [&] { chunk(x, 3, 1); }},
      {"chunk(f32 [3, 10, 7]): 0 pieces", [&] { chunk(x, 0, 1); }},
      {"cat() needs at least one input", [&] { cat({}, 0); }},
      {"cat(f32 [3, 10, 7])",
       [&] {
         cat({x, x}, 3);
       }},
      {"pad(f32 [3, 10, 7])", [&] { pad(x, 3, 0, 1); }},
      {"roll(f32 [3, 10, 7])", [&] { roll(x, 3, 1); }},
      {"flip(f32 [3, 10, 7])", [&] { flip(x, 3); }},
      {"linear(f32 [])", [&] { linear(scalar, m, {.out = 5}); }},
      {"conv1d(f32 [])", [&] { conv1d(scalar, m.module("c"), {.out_channels = 5}); }},
      {"conv1d(f32 [3, 10, 7]): an option needs 1 value, got 2",
       [&] {
         conv1d(x, m, {.out_channels = 5, .kernel = {3, 3}});
       }},
      {"conv_transpose1d(f32 [])",
       [&] { conv_transpose1d(scalar, m.module("t"), {.out_channels = 5}); }},
      {"max_pool1d(f32 [3, 10, 7])",
       [&] {
         max_pool1d(x, {.kernel = {2}, .stride = {1, 2}});
       }},
      {"adaptive_avg_pool2d(f32 [3, 10, 7])",
       [&] {
         adaptive_avg_pool2d(x, {1, 2, 3});
       }},
      {"batch_norm(f32 [])", [&] { batch_norm(scalar, m.module("b")); }},
      {"layer_norm(f32 [3, 10, 7]): dims 4", [&] { layer_norm(x, m.module("l"), 4); }},
      {"lstm(f32 [])", [&] { lstm(scalar, scalar, scalar, m.module("r"), {.hidden = 5}); }},
  };
  for (const auto& [says, mistake] : mistakes) {
    try {
      mistake();
      ADD_FAILURE() << "no error: " << says;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kShape);
      EXPECT_EQ(e.message().rfind(says, 0), 0u) << e.message();
    }
  }
}

TEST(WeightInit, IsRoundedToSixDecimals) {
  EXPECT_EQ(weight_init(48), uniform(-0.25, 0.25));
  EXPECT_EQ(weight_init(363), uniform(-0.090909, 0.090909));
}

}  // namespace
}  // namespace kbench
