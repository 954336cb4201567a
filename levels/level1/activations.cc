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
void leaky_relu_task(Graph& g) { g.output(leaky_relu(activation_input(g), 0.01)); }
void sigmoid_task(Graph& g) { g.output(sigmoid(activation_input(g))); }
void tanh_task(Graph& g) { g.output(tanh(activation_input(g))); }
void softmax_task(Graph& g) { g.output(softmax(activation_input(g), 1)); }
void log_softmax_task(Graph& g) { g.output(log_softmax(activation_input(g), 1)); }
void gelu_task(Graph& g) { g.output(gelu(activation_input(g))); }
void selu_task(Graph& g) { g.output(selu(activation_input(g))); }
void hardsigmoid_task(Graph& g) { g.output(hardsigmoid(activation_input(g))); }
void softplus_task(Graph& g) { g.output(softplus(activation_input(g))); }
void elu_task(Graph& g) { g.output(elu(activation_input(g), 1.0)); }
void hardtanh_task(Graph& g) { g.output(clamp(activation_input(g), -1, 1)); }
void new_gelu_task(Graph& g) { g.output(gelu_tanh(activation_input(g))); }

void swish_task(Graph& g) {
  auto x = activation_input(g);
  g.output(x * sigmoid(x));
}

void softsign_task(Graph& g) {
  auto x = activation_input(g);
  g.output(x / (abs(x) + 1));
}

}  // namespace

Tasks level1_activations() {
  return {
      {{1, 19},
       "ReLU",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       relu_task},
      {{1, 20},
       "LeakyReLU",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       leaky_relu_task},
      {{1, 21},
       "Sigmoid",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       sigmoid_task},
      {{1, 22},
       "Tanh",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       tanh_task},
      {{1, 23},
       "Softmax",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       softmax_task,
       {8e-4,
        "393216 terms added up in one float are off by 4e-04; fewer bits are not told from it"}},
      {{1, 24},
       "LogSoftmax",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       log_softmax_task,
       {4e-5,
        "393216 terms added up in one float are off by 1.9e-05; fewer bits are not told from it at "
        "those sizes"}},
      {{1, 25},
       "Swish",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       swish_task},
      {{1, 26},
       "GELU",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       gelu_task},
      {{1, 27},
       "SELU",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       selu_task},
      {{1, 28},
       "HardSigmoid",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       hardsigmoid_task},
      {{1, 29},
       "Softplus",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       softplus_task},
      {{1, 30},
       "Softsign",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       softsign_task},
      {{1, 31},
       "ELU",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       elu_task},
      {{1, 32},
       "HardTanh",
       "activation",
       {{"batch_size", 2, 16, 4096}, {"dim", 200, 16384, 393216}},
       hardtanh_task},
      {{1, 88},
       "MinGPTNewGelu",
       "activation",
       {{"batch_size", 4, 2000, 8192}, {"dim", 200, 2000, 8192}},
       new_gelu_task,
       {5e-6,
        "honest float32 is off by 2e-07 at most, and what is rounded to fewer bits by 7e-06"}},
  };
}

}  // namespace kbench::levels
