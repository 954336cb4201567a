#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(call.attributes.list("stride"), (std::vector<int64_t>{2}));
  EXPECT_EQ(call.attributes.integer("groups"), 1);
  EXPECT_EQ(call.outputs[0].shape, (Shape{2, 4, 3, 4}));
  EXPECT_THROW(make_call(find_operator("conv2d"), {x, w}, {{"strid", int64_t{2}}}), Error);
  EXPECT_THROW(make_call(find_operator("conv2d"), {x}, {}), Error);
  EXPECT_THROW(make_call(find_operator("softmax"), {x}, {}), Error);
  EXPECT_THROW(make_call(find_operator("softmax"), {x}, {{"axis", int64_t{4}}}), Error);
  EXPECT_THROW(make_call(find_operator("relu"), {{DType::i64, {3}}}, {}), Error);
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

TEST(WeightInit, IsRoundedToSixDecimals) {
  EXPECT_EQ(weight_init(48), uniform(-0.25, 0.25));
  EXPECT_EQ(weight_init(363), uniform(-0.090909, 0.090909));
}

}  // namespace
}  // namespace kbench
