// What the tables of tasks share: checks of sizes, options of convolutions, parts that are dead,
// and the building blocks of level 3's networks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kbench/error.h"
#include "kbench/ops.h"
#include "kbench/task.h"

namespace kbench::levels {

// --- what the originals ask of sizes beyond what their operators do
/// Throws kShape, naming what would be computed and from what, unless the condition holds.
inline void require(bool condition, const std::string& what, const Value& x,
                    const std::string& message) {
  if (condition) return;
  throw Error(ErrorCode::kShape, what + "(" + to_string(x.type()) + "): " + message);
}

/// Throws kInvalidArgument unless the condition on shape variables holds.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw Error(ErrorCode::kInvalidArgument, message);
}

/// A list that follows from other variables where it is not given. It is not counted as read by the
/// task; those variables are.
inline const std::vector<int64_t>& followed_list(const Graph& g, const std::string& name) {
  const auto it = g.variables().find(name);
  require(it != g.variables().end(), "the task has no shape variable '" + name + "'");
  const auto* list = std::get_if<std::vector<int64_t>>(&it->second);
  require(list != nullptr, "shape variable '" + name + "' must be a list of integers");
  return *list;
}

// --- a task's shape variables as options of a convolution
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

// --- parts of tasks that no output depends on, each with its proof. `kbench-dev audit` finds such
// parts and checks the proofs in float64.
/// A bias that is added to all that one mean is taken of, which the norm then takes away.
inline Dead bias_before_norm(const std::string& op) {
  return {{"without the bias of *" + op + "*"},
          "the norm behind it takes the mean away, and the bias, the same for all the elements of "
          "that mean, with it"};
}

/// A norm's bias that convolutions of one tap alone read, other terms added to it or not. `norms`:
/// a pattern of their names.
inline Dead bias_before_one_tap(const std::string& norms) {
  return {{"without the bias of batch_norm '" + norms + "'"},
          "a convolution of one tap makes of it one number a channel, which the norm behind takes "
          "away"};
}

/// An operator whose result is its input, for all inputs.
inline Dead identity(const std::string& op, const std::string& proof) {
  return {{"without " + op}, proof};
}

// --- modules
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
