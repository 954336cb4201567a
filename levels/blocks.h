// Building blocks that the networks of level 3 share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "kbench/ops.h"
#include "levels/checks.h"

namespace kbench::levels {

/// Entry i of a Sequential or a ModuleList; entries without parameters count too.
inline Module at(const Module& list, int64_t i) { return list.module(std::to_string(i)); }

/// How biases are drawn.
inline Distribution bias_init() { return uniform(-0.5, 0.5); }

/// x W^T + b, W [out, in] and b [out] declared but left out of the computation: a layer that the
/// original owns and whose result it drops.
inline void unused_linear(const Module& m, int64_t in, int64_t out) {
  m.parameter("weight", {out, in}, weight_init(in));
  m.parameter("bias", {out}, bias_init());
}

// --- convolutional networks
/// A batch of square RGB images.
inline Value rgb_images(Graph& g, int64_t extent) {
  return g.input("x", {g["batch_size"], 3, extent, extent});
}

/// Refuses images of other than three channels, for networks whose first layer takes no others.
inline void require_rgb(Value x) {
  require(x.rank() == 4 && x.dim(1) == 3, "conv2d", x,
          "the network's first layer takes 3 channels");
}

inline Value relu6(Value x) { return clamp(x, 0, 6); }

/// Convolution without bias, then batch norm.
inline Value conv_bn(Value x, const Module& conv, const Module& norm, Conv options) {
  options.bias = false;
  return batch_norm(conv2d(x, conv, options), norm);
}

/// conv_bn of each channel by itself; the padding keeps the extent at stride 1.
inline Value depthwise_bn(Value x, const Module& conv, const Module& norm, int64_t kernel,
                          int64_t stride) {
  return conv_bn(x, conv, norm,
                 {.out_channels = x.dim(1),
                  .kernel = {kernel},
                  .stride = {stride},
                  .padding = {(kernel - 1) / 2},
                  .groups = x.dim(1)});
}

/// The pooling that halves height and width in ResNet's age.
inline Value halving_max_pool(Value x) {
  return max_pool2d(x, {.kernel = {3}, .stride = {2}, .padding = {1}});
}

/// How ResNets and DenseNets begin: a quarter of height and width, 64 channels.
inline Value stem(Value x, const Module& conv, const Module& norm) {
  x = conv_bn(x, conv, norm, {.out_channels = 64, .kernel = {7}, .stride = {2}, .padding = {3}});
  return halving_max_pool(relu(x));
}

/// How most of them end: the mean over height and width, then a linear layer.
inline Value classify(Value x, const Module& fc, int64_t classes) {
  return linear(flatten(global_avg_pool(x), 1), fc, {.out = classes});
}

/// Memory for a constant: 1 GiB at most, it being made with the graph.
inline Tensor constant_data(DType dtype, Shape shape) {
  const TensorType type{dtype, std::move(shape)};
  require(type.bytes() <= int64_t{1} << 30, "a constant " + to_string(type) + " is over 1 GiB");
  return Tensor(type);
}

// --- transformers
/// [batch, tokens, heads * d] to [batch, heads, tokens, d].
inline Value split_heads(Value x, int64_t heads) {
  require(heads > 0 && x.dim(2) % heads == 0, "attention", x,
          "the embedding must be divisible by " + std::to_string(heads) + " heads");
  return transpose(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), 1, 2);
}

/// [batch, heads, tokens, d] to [batch, tokens, heads * d].
inline Value merge_heads(Value x) { return flatten(transpose(x, 1, 2), 2); }

}  // namespace kbench::levels
