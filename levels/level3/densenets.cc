// Level 3: densely connected networks.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Every layer adds growth_rate channels, computed from all before it.
Value dense_block(Value x, const Module& layers, int64_t depth, int64_t growth_rate) {
  for (int64_t i = 0; i < depth; ++i) {
    const Module layer = at(layers, i);
    auto fresh =
        conv2d(relu(batch_norm(x, at(layer, 0))), at(layer, 2),
               {.out_channels = growth_rate, .kernel = {3}, .padding = {1}, .bias = false});
    x = cat({x, fresh}, 1);
  }
  return x;
}

Value transition(Value x, const Module& m, int64_t channels) {
  x = relu(batch_norm(x, at(m, 0)));
  x = conv2d(x, at(m, 2), {.out_channels = channels, .bias = false});
  return avg_pool2d(x, {.kernel = {2}});
}

void transition_layer(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["num_input_features"], g["height"], g["width"]});
  g.output(transition(x, g.module("transition"), g["num_output_features"]));
}

void densenet_block(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["num_input_features"], g["height"], g["width"]});
  const int64_t depth = g["num_layers"];
  require(depth > 0, "num_layers must be positive");
  g.output(dense_block(x, g.module("layers"), depth, g["growth_rate"]));
}

void densenet(Graph& g, const std::vector<int64_t>& depths) {
  auto x = g.input("x", {g["batch_size"], 3, g["height"], g["width"]});
  x = stem(x, g.module("features.0"), g.module("features.1"));
  for (size_t i = 0; i < depths.size(); ++i) {
    const std::string index = std::to_string(i);
    x = dense_block(x, g.module("dense_blocks." + index + ".layers"), depths[i], 32);
    if (i + 1 == depths.size()) break;
    x = transition(x, g.module("transition_layers." + index + ".transition"), x.dim(1) / 2);
  }
  x = relu(batch_norm(x, g.module("final_bn")));
  g.output(classify(x, g.module("classifier"), g["num_classes"]));
}

void densenet121(Graph& g) { densenet(g, {6, 12, 24, 16}); }
void densenet201(Graph& g) { densenet(g, {6, 12, 48, 32}); }

}  // namespace

Tasks level3_densenets() {
  return {
      {{3, 13},
       "DenseNet121TransitionLayer",
       "convnet",
       {{"batch_size", 2, 10, 128},
        {"num_input_features", 16, 32, 32},
        {"num_output_features", 8, 64, 64},
        {"height", 20, 224, 256},
        {"width", 24, 224, 256}},
       transition_layer},
      {{3, 14},
       "DenseNet121DenseBlock",
       "convnet",
       {{"batch_size", 2, 10, 10},
        {"num_layers", 4, 6, 6},
        {"num_input_features", 16, 32, 32},
        {"growth_rate", 8, 32, 32},
        {"height", 14, 224, 224},
        {"width", 18, 224, 224}},
       densenet_block},
      {{3, 15},
       "DenseNet121",
       "convnet",
       {{"batch_size", 2, 10, 10},
        {"num_classes", 10},
        {"height", 96, 224, 224},
        {"width", 96, 224, 224}},
       densenet121},
      {{3, 16},
       "DenseNet201",
       "convnet",
       {{"batch_size", 2, 10, 10},
        {"num_classes", 10},
        {"height", 96, 224, 224},
        {"width", 96, 224, 224}},
       densenet201},
  };
}

}  // namespace kbench::levels
