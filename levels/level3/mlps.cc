// Level 3: multilayer perceptrons.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Linear layers with ReLU between; a Sequential counts activations too, so layer i is module 2i.
void perceptron(Graph& g, const std::vector<int64_t>& widths) {
  auto x = g.input("x", {g["batch_size"], g["input_size"]});
  const Module network = g.module("network");
  int64_t index = 0;
  for (int64_t width : widths) {
    x = relu(linear(x, at(network, index), {.out = width}));
    index += 2;
  }
  g.output(linear(x, at(network, index), {.out = g["output_size"]}));
}

void mlp(Graph& g) { perceptron(g, g.list("layer_sizes")); }
void shallow_wide_mlp(Graph& g) { perceptron(g, g.list("hidden_layer_sizes")); }
void deep_narrow_mlp(Graph& g) { perceptron(g, g.list("hidden_layer_sizes")); }

}  // namespace

Tasks level3_mlps() {
  using List = std::vector<int64_t>;
  return {
      {{3, 1},
       "MLP",
       "mlp",
       {{"batch_size", 5, 1, 128},
        {"input_size", 96, 1000, 16384},
        {"layer_sizes", List{80, 64}, List{400, 800}, List{16384, 16384}},
        {"output_size", 48, 500, 8192}},
       mlp},
      {{3, 2},
       "ShallowWideMLP",
       "mlp",
       {{"batch_size", 5, 1, 128},
        {"input_size", 64, 1000, 16384},
        {"hidden_layer_sizes", List{128, 128}, List{2000, 2000}, List{32768, 32768}},
        {"output_size", 64, 10, 16384}},
       shallow_wide_mlp},
      {{3, 3},
       "DeepNarrowMLP",
       "mlp",
       {{"batch_size", 5, 1, 1024},
        {"input_size", 96, 1000, 8192},
        {"hidden_layer_sizes", List{48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48},
         List{50, 50, 50, 50, 50, 50, 50, 50},
         List{1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024, 1024,
              1024, 1024}},
        {"output_size", 64, 10, 8192}},
       deep_narrow_mlp},
  };
}

}  // namespace kbench::levels
