// A task's shape variables as options of a convolution.
#pragma once

#include "kbench/ops.h"

namespace kbench::levels {

/// Options: Conv or ConvTranspose. Stride 1, dilation 1 and no padding where the task has no such
/// variable.
template <class Options>
Options conv_options(const Graph& g) {
  Options conv{.out_channels = g["out_channels"], .kernel = g.sizes("kernel_size")};
  if (g.has("stride")) conv.stride = g.sizes("stride");
  if (g.has("padding")) conv.padding = g.sizes("padding");
  if (g.has("dilation")) conv.dilation = g.sizes("dilation");
  if constexpr (requires { conv.output_padding; }) {
    if (g.has("output_padding")) conv.output_padding = g.sizes("output_padding");
  }
  return conv;
}
template <class Options>
Options unbiased_options(const Graph& g) {
  Options conv = conv_options<Options>(g);
  conv.bias = false;
  return conv;
}

}  // namespace kbench::levels
