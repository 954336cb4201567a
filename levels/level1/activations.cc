// Level 1: activations, one elementwise or row-wise operator on a large matrix.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

/// Both signs, and far enough out to saturate.
Value activation_input(Graph& g) {
  return g.input("x", {g["batch_size"], g["dim"]}, uniform(-4, 4));
}

void relu_task(Graph& g) { g.output(relu(activation_input(g))); }
void softmax_task(Graph& g) { g.output(softmax(activation_input(g), 1)); }
void gelu_task(Graph& g) { g.output(gelu(activation_input(g))); }

}  // namespace

Tasks level1_activations() {
  const std::vector<VariableSpec> sizes = {{"batch_size", 2, 16, 4096},
                                           {"dim", 200, 16384, 393216}};
  return {
      {{1, 19}, "ReLU", "activation", sizes, relu_task},
      {{1, 23}, "Softmax", "activation", sizes, softmax_task},
      {{1, 26}, "GELU", "activation", sizes, gelu_task},
  };
}

}  // namespace kbench::levels
