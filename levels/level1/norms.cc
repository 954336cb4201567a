// Level 1: normalisation.
#include "kbench/ops.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

Value image_input(Graph& g, Distribution distribution = normal()) {
  return g.input("x", {g["batch_size"], g["features"], g["dim1"], g["dim2"]}, distribution);
}

Value matrix_input(Graph& g) { return g.input("x", {g["batch_size"], g["dim"]}); }

void batch_norm_task(Graph& g) { g.output(batch_norm(image_input(g), g.module("bn"))); }
void instance_norm_task(Graph& g) { g.output(instance_norm(image_input(g), g.module("inorm"))); }
void layer_norm_task(Graph& g) { g.output(layer_norm(image_input(g), g.module("ln"), 3)); }

void group_norm_task(Graph& g) {
  g.output(group_norm(image_input(g), g.module("gn"), g["num_groups"]));
}

/// Over channels, without a weight; composed of elementwise operators as the original is. Inputs so
/// small that eps counts.
void rms_norm_task(Graph& g) {
  auto x = image_input(g, normal(0, 0.01));
  g.output(x / sqrt(mean(square(x), {.axis = 1, .keepdim = true}) + 1e-5));
}

/// Images with means of their own: the norm of a billion equal draws is the same number every time.
void frobenius_norm_task(Graph& g) {
  auto x = image_input(g, offset(normal()));
  g.output(x / norm(flatten(x), {.axis = 0}));
}

void l1_norm_task(Graph& g) {
  auto x = matrix_input(g);
  g.output(x / mean(abs(x), {.axis = 1, .keepdim = true}));
}

void l2_norm_task(Graph& g) {
  auto x = matrix_input(g);
  g.output(x / norm(x, {.axis = 1, .keepdim = true}));
}

}  // namespace

Tasks level1_norms() {
  return {
      {{1, 33},
       "BatchNorm",
       "norm",
       {{"batch_size", 2, 16, 64},
        {"features", 16, 64, 64},
        {"dim1", 14, 256, 512},
        {"dim2", 18, 256, 512}},
       batch_norm_task},
      {{1, 34},
       "InstanceNorm",
       "norm",
       {{"batch_size", 2, 16, 112},
        {"features", 16, 64, 64},
        {"dim1", 14, 256, 512},
        {"dim2", 18, 256, 512}},
       instance_norm_task},
      {{1, 35},
       "GroupNorm",
       "norm",
       {{"batch_size", 2, 16, 112},
        {"features", 16, 64, 64},
        {"num_groups", 8},
        {"dim1", 14, 256, 512},
        {"dim2", 18, 256, 512}},
       group_norm_task},
      {{1, 36},
       "RMSNorm",
       "norm",
       {{"batch_size", 2, 16, 112},
        {"features", 16, 64, 64},
        {"dim1", 14, 256, 512},
        {"dim2", 18, 256, 512}},
       rms_norm_task,
       {7e-5,
        "honest float32 is off by 3e-07 at most, and what is rounded to fewer bits by 9e-05"}},
      {{1, 37},
       "FrobeniusNorm",
       "norm",
       {{"batch_size", 2, 16, 112},
        {"features", 16, 64, 64},
        {"dim1", 14, 256, 512},
        {"dim2", 18, 256, 512}},
       frobenius_norm_task,
       {7e-6,
        "the sums of blocks added up in one float, honest float32 is off by 3e-06, and the norm of "
        "every second element by 9e-06"}},
      {{1, 38},
       "L1Norm",
       "norm",
       {{"batch_size", 4, 16, 32768}, {"dim", 255, 16384, 65535}},
       l1_norm_task},
      {{1, 39},
       "L2Norm",
       "norm",
       {{"batch_size", 4, 16, 32768}, {"dim", 255, 16384, 65535}},
       l2_norm_task,
       {2.5e-5, "added up in one float, honest float32 is off by 1e-05"}},
      {{1, 40},
       "LayerNorm",
       "norm",
       {{"batch_size", 2, 16, 16},
        {"features", 16, 64, 64},
        {"dim1", 14, 256, 256},
        {"dim2", 18, 256, 256}},
       layer_norm_task},
  };
}

}  // namespace kbench::levels
