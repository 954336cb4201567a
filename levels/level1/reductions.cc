// Level 1: reductions and scans along one dimension.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

Value volume_input(Graph& g) { return g.input("x", {g["batch_size"], g["dim1"], g["dim2"]}); }

void sum_task(Graph& g) {
  const int axis = static_cast<int>(g["reduce_dim"]);
  g.output(sum(volume_input(g), {.axis = axis, .keepdim = true}));
}

void argmax_task(Graph& g) { g.output(argmax(volume_input(g), {.axis = 1})); }

void cumsum_task(Graph& g) {
  Shape shape = g.list("input_shape");
  shape.insert(shape.begin(), g["batch_size"]);
  g.output(cumsum(g.input("x", shape), static_cast<int>(g["dim"])));
}

std::vector<VariableSpec> volume(std::vector<VariableSpec> more = {}) {
  more.insert(more.begin(),
              {{"batch_size", 2, 16, 128}, {"dim1", 14, 256, 4096}, {"dim2", 18, 256, 4095}});
  return more;
}

}  // namespace

Tasks level1_reductions() {
  using List = std::vector<int64_t>;
  return {
      {{1, 47},
       "Sum_reduction_over_a_dimension",
       "reduction",
       volume({{"reduce_dim", 1}}),
       sum_task},
      {{1, 51}, "Argmax_over_a_dimension", "reduction", volume(), argmax_task},
      {{1, 89},
       "cumsum",
       "scan",
       {{"batch_size", 2, 128, 32768},
        {"input_shape", List{96}, List{4000}, List{32768}},
        {"dim", 1}},
       cumsum_task},
  };
}

}  // namespace kbench::levels
