// Level 3: SqueezeNet and its fire module.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Few channels, then many by 1x1 and by 3x3 convolutions side by side.
Value fire(Value x, const Module& m, int64_t squeeze, int64_t expand_1x1, int64_t expand_3x3) {
  x = relu(conv2d(x, m.module("squeeze"), {.out_channels = squeeze}));
  return cat({relu(conv2d(x, m.module("expand1x1"), {.out_channels = expand_1x1})),
              relu(conv2d(x, m.module("expand3x3"),
                          {.out_channels = expand_3x3, .kernel = {3}, .padding = {1}}))},
             1);
}

void fire_module(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["num_input_features"], g["height"], g["width"]});
  g.output(fire(x, g.module(""), g["squeeze_channels"], g["expand1x1_channels"],
                g["expand3x3_channels"]));
}

void squeezenet(Graph& g) {
  const Pool pool = {.kernel = {3}, .stride = {2}, .ceil_mode = true};
  const Module features = g.module("features");
  auto x = g.input("x", {g["batch_size"], g["input_channels"], g["height"], g["width"]});
  require_rgb(x);
  x = relu(conv2d(x, at(features, 0), {.out_channels = 96, .kernel = {7}, .stride = {2}}));
  x = max_pool2d(x, pool);
  x = fire(x, at(features, 3), 16, 64, 64);
  x = fire(x, at(features, 4), 16, 64, 64);
  x = fire(x, at(features, 5), 32, 128, 128);
  x = max_pool2d(x, pool);
  x = fire(x, at(features, 7), 32, 128, 128);
  x = fire(x, at(features, 8), 48, 192, 192);
  x = fire(x, at(features, 9), 48, 192, 192);
  x = fire(x, at(features, 10), 64, 256, 256);
  x = max_pool2d(x, pool);
  x = fire(x, at(features, 12), 64, 256, 256);
  x = relu(conv2d(x, g.module("classifier.1"), {.out_channels = g["num_classes"]}));
  g.output(flatten(global_avg_pool(x), 1));
}

}  // namespace

Tasks level3_squeezenets() {
  return {
      {{3, 17},
       "SqueezeNetFireModule",
       "convnet",
       {{"batch_size", 2, 10, 128},
        {"num_input_features", 3},
        {"num_output_features", 64},
        {"height", 20, 224, 256},
        {"width", 24, 224, 256},
        {"squeeze_channels", 6},
        {"expand1x1_channels", 64},
        {"expand3x3_channels", 64}},
       fire_module},
      {{3, 18},
       "SqueezeNet",
       "convnet",
       {{"batch_size", 1, 1, 64},
        {"input_channels", 3},
        {"height", 96, 224, 512},
        {"width", 96, 224, 512},
        {"num_classes", 64, 1000, 1000}},
       squeezenet,
       {2e-5, "the first relu moves the result by 3e-5; honest float32 is off by 2e-6 at most"}},
  };
}

}  // namespace kbench::levels
