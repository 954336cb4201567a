// Level 3: multilayer perceptrons.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Linear layers with ReLU between; a Sequential counts activations too, so layer i is module 2i.
void mlp(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["input_size"]});
  const Module network = g.module("network");
  int index = 0;
  for (int64_t width : g.list("layer_sizes")) {
    x = relu(linear(x, network.module(std::to_string(index)), {.out = width}));
    index += 2;
  }
  g.output(linear(x, network.module(std::to_string(index)), {.out = g["output_size"]}));
}

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
  };
}

}  // namespace kbench::levels
