// Level 1: reductions along one dimension.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

Value volume_input(Graph& g) { return g.input("x", {g["batch_size"], g["dim1"], g["dim2"]}); }

void sum_task(Graph& g) {
  const int axis = static_cast<int>(g["reduce_dim"]);
  g.output(sum(volume_input(g), {.axis = axis, .keepdim = true}));
}

void mean_task(Graph& g) { g.output(mean(volume_input(g), {.axis = 1})); }
void max_task(Graph& g) { g.output(max(volume_input(g), {.axis = 1})); }
void min_task(Graph& g) { g.output(min(volume_input(g), {.axis = 1})); }
void argmax_task(Graph& g) { g.output(argmax(volume_input(g), {.axis = 1})); }

void argmin_task(Graph& g) {
  g.output(argmin(volume_input(g), {.axis = static_cast<int>(g["dim"])}));
}

}  // namespace

Tasks level1_reductions() {
  return {
      {{1, 47},
       "Sum_reduction_over_a_dimension",
       "reduction",
       {{"batch_size", 2, 16, 128},
        {"dim1", 14, 256, 4096},
        {"dim2", 18, 256, 4095},
        {"reduce_dim", 1}},
       sum_task},
      {{1, 48},
       "Mean_reduction_over_a_dimension",
       "reduction",
       {{"batch_size", 2, 16, 128}, {"dim1", 14, 256, 4096}, {"dim2", 18, 256, 4095}},
       mean_task},
      {{1, 49},
       "Max_reduction_over_a_dimension",
       "reduction",
       {{"batch_size", 2, 16, 128}, {"dim1", 14, 256, 4096}, {"dim2", 18, 256, 4095}},
       max_task},
      {{1, 51},
       "Argmax_over_a_dimension",
       "reduction",
       {{"batch_size", 2, 16, 128}, {"dim1", 14, 256, 4096}, {"dim2", 18, 256, 4095}},
       argmax_task},
      {{1, 52},
       "Argmin_over_a_dimension",
       "reduction",
       {{"batch_size", 2, 16, 128}, {"dim1", 14, 256, 4096}, {"dim2", 18, 256, 4095}, {"dim", 1}},
       argmin_task},
      {{1, 53},
       "Min_reduction_over_a_dimension",
       "reduction",
       {{"batch_size", 2, 16, 128}, {"dim1", 14, 256, 4096}, {"dim2", 18, 256, 4095}},
       min_task},
  };
}

}  // namespace kbench::levels
