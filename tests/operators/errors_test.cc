// How operators are declared, and how calls that do not fit are refused: operator and shapes first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kbench/ops.h"
#include "tests/error_of.h"
#include "tests/operators/table.h"

namespace kbench::definitions {
namespace {

TEST(Operators, AreDeclaredInFull) {
  for (const Operator* op : operators()) {
    EXPECT_FALSE(op->formula.empty()) << op->name;
    EXPECT_NE(op->follows.find('('), std::string::npos) << op->name << ": whose semantics?";
    EXPECT_NE(op->infer, nullptr) << op->name;
    EXPECT_TRUE(op->is_view || op->flops != nullptr) << op->name;
    EXPECT_LE(op->min_inputs, op->max_inputs) << op->name;
    EXPECT_EQ(&find_operator(op->name), op);
  }
  EXPECT_EQ(code_of([] { find_operator("relux"); }), ErrorCode::kNotFound);
}

TEST(Operators, AttributesAreCompleted) {
  const OperatorCall call = call_of("conv2d 2x3x8x9 4x3x3x3 stride=2");
  EXPECT_EQ(call.attributes.list("stride"), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(call.attributes.integer("groups"), 1);
}

TEST(Operators, RefuseCallsThatDoNotFit) {
  const struct {
    const char *line, *says;
  } cases[] = {
      {"conv2d 2x3x8x9", "conv2d(f32 [2, 3, 8, 9]): "},
      {"softmax 2x3", "softmax(f32 [2, 3]): attribute 'axis' is missing"},
      {"softmax 2x3 axis=2", "softmax(f32 [2, 3], axis=2): axis 2"},
      {"cast 2x3", "cast(f32 [2, 3]): attribute 'dtype' is missing"},
      {"cast 2x3 dtype=float16",
       "cast(f32 [2, 3], dtype=float16): unknown element type 'float16'; known: f32, f64, i64, "
       "bool, f16, bf16, i32, u32, u8"},
      {"relu i64:3", "relu(i64 [3]): "},
      {"add 3 5", "add(f32 [3], f32 [5]): "},
      {"mul_mask 3 3", "mul_mask(f32 [3], f32 [3]): "},
      {"matmul 3x5 7x5", "matmul(f32 [3, 5], f32 [7, 5], transpose_a=0, transpose_b=0): "},
      {"matmul 2x3x5 3x5x7",
       "matmul(f32 [2, 3, 5], f32 [3, 5, 7], transpose_a=0, transpose_b=0): leading dimensions do "
       "not broadcast"},
      {"matmul 5 5x3",
       "matmul(f32 [5], f32 [5, 3], transpose_a=0, transpose_b=0): both inputs "
       "need at least two dimensions"},
      {"linear 3x5 7x4", "linear(f32 [3, 5], f32 [7, 4]): "},
      {"reshape 2x3x5 shape=-1,4", "reshape(f32 [2, 3, 5], shape=[-1, 4]): "},
      {"reshape 2x3x5 shape=-1,-1",
       "reshape(f32 [2, 3, 5], shape=[-1, -1]): only one extent may be -1"},
      {"permute 2x3 axes=0,0",
       "permute(f32 [2, 3], axes=[0, 0]): axes must name every dimension once"},
      {"batch_norm 3x5 5",
       "batch_norm(f32 [3, 5], f32 [5], eps=1e-05): weight and bias come "
       "together"},
      {"group_norm 3x5 groups=2",
       "group_norm(f32 [3, 5], groups=2, eps=1e-05): groups must divide "
       "the channel count"},
      {"cross_entropy 3x5 i64:4", "cross_entropy(f32 [3, 5], i64 [4]): "},
      {"kl_div_batchmean () ()",
       "kl_div_batchmean(f32 [], f32 []): inputs need a dimension of rows"},
      {"smooth_l1_loss 3 4", "smooth_l1_loss(f32 [3], f32 [4]): all inputs must be of one shape"},
      {"lstm 3x5 3 hidden=2", "lstm(f32 [3, 5], f32 [3], "},
      {"max_pool2d 1x1x3x3 kernel=5", "max_pool2d(f32 [1, 1, 3, 3], "},
  };
  for (const auto& [line, says] : cases) {
    try {
      row_of(line);
      ADD_FAILURE() << "no error: " << line;
    } catch (const std::exception& error) {  // the line itself, then what is wrong with it
      EXPECT_THAT(error.what(), ::testing::StartsWith(std::string(line) + ": " + says));
    }
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
    const Error error = error_of(mistake);
    EXPECT_EQ(error.code(), ErrorCode::kShape);
    EXPECT_EQ(error.message().rfind(says, 0), 0u) << error.message();
  }
}

TEST(WeightInit, IsRoundedToSixDecimals) {
  EXPECT_EQ(weight_init(48), uniform(-0.25, 0.25));
  EXPECT_EQ(weight_init(363), uniform(-0.090909, 0.090909));
}

}  // namespace
}  // namespace kbench::definitions
