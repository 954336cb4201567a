// How level 2's tasks begin: an input, and a convolution or a linear layer on it.
#pragma once

#include <algorithm>

#include "kbench/ops.h"
#include "levels/blocks.h"

namespace kbench::levels {

/// x [batch_size, features].
inline Value rows(Graph& g, const char* features = "in_features",
                  Distribution distribution = normal()) {
  return g.input("x", {g["batch_size"], g[features]}, distribution);
}

/// linear(x) of the module, to the extent that variable names.
inline Value linear_layer(Graph& g, const char* module, const char* in = "in_features",
                          const char* out = "out_features") {
  return linear(rows(g, in), g.module(module), {.out = g[out]});
}

/// x [batch_size, in_channels, ...]: an image, or a volume named by depth or by D, H and W.
inline Value image(Graph& g, Distribution distribution = normal()) {
  return g.input("x", {g["batch_size"], g["in_channels"], g["height"], g["width"]}, distribution);
}
inline Value volume(Graph& g, Distribution distribution = normal()) {
  const bool short_names = g.has("D");
  return g.input("x",
                 {g["batch_size"], g["in_channels"], g[short_names ? "D" : "depth"],
                  g[short_names ? "H" : "height"], g[short_names ? "W" : "width"]},
                 distribution);
}

/// What a convolution is given where the task averages over whole images later: images whose means
/// differ, so that the averages do (kbench/random.h).
inline Distribution distinct_means() { return offset(normal()); }

inline Value image_conv(Graph& g, Distribution distribution = normal()) {
  return conv2d(image(g, distribution), g.module("conv"), conv_options<Conv>(g));
}
inline Value volume_conv(Graph& g, Distribution distribution = normal()) {
  return conv3d(volume(g, distribution), g.module("conv"), conv_options<Conv>(g));
}
inline Value image_conv_transpose(Graph& g, Distribution distribution = normal()) {
  return conv_transpose2d(image(g, distribution), g.module("conv_transpose"),
                          conv_options<ConvTranspose>(g));
}
inline Value volume_conv_transpose(Graph& g, Distribution distribution = normal()) {
  return conv_transpose3d(volume(g, distribution), g.module("conv_transpose"),
                          conv_options<ConvTranspose>(g));
}

/// A parameter of the shape that a variable holds: a number a channel or a feature, as a rule.
inline Value shaped_parameter(Graph& g, const char* name, const char* shape,
                              Distribution distribution = uniform(-0.5, 0.5)) {
  return g.parameter(name, followed_list(g, shape), distribution);
}

/// nn.LayerNorm(shape), which does not take its extents from x.
inline Value layer_norm_of(Value x, const Module& m, const Shape& shape, Norm options = {}) {
  const bool fits = shape.size() <= x.shape().size() &&
                    std::equal(shape.rbegin(), shape.rend(), x.shape().rbegin());
  require(fits, "layer_norm", x, "the module normalises over last extents " + to_string(shape));
  return layer_norm(x, m, static_cast<int>(shape.size()), options);
}

/// nn.Hardtanh(lo, hi).
inline Value hardtanh(Value x, double lo, double hi) {
  require(lo < hi, "hardtanh", x, "its lower bound must be below the upper one");
  return clamp(x, lo, hi);
}

inline Value swish(Value x) { return x * sigmoid(x); }

}  // namespace kbench::levels
