// Level 1: normalisation of an image batch.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

Value image_input(Graph& g) {
  return g.input("x", {g["batch_size"], g["features"], g["dim1"], g["dim2"]});
}

void batch_norm_task(Graph& g) { g.output(batch_norm(image_input(g), g.module("bn"))); }

/// Over channels, without a weight; composed of elementwise operators as the original is.
void rms_norm_task(Graph& g) {
  auto x = image_input(g);
  g.output(x / sqrt(mean(square(x), {.axis = 1, .keepdim = true}) + 1e-5));
}

void layer_norm_task(Graph& g) { g.output(layer_norm(image_input(g), g.module("ln"), 3)); }

}  // namespace

Tasks level1_norms() {
  auto sizes = [](VariableValue batch, VariableValue dim) -> std::vector<VariableSpec> {
    return {{"batch_size", 2, 16, batch},
            {"features", 16, 64, 64},
            {"dim1", 14, 256, dim},
            {"dim2", 18, 256, dim}};
  };
  return {
      {{1, 33}, "BatchNorm", "norm", sizes(64, 512), batch_norm_task},
      {{1, 36}, "RMSNorm", "norm", sizes(112, 512), rms_norm_task},
      {{1, 40}, "LayerNorm", "norm", sizes(16, 256), layer_norm_task},
  };
}

}  // namespace kbench::levels
