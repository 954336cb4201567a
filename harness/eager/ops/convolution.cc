// Convolutions: as a matrix product whose second factor is read through the window, or, where a
// group has few output channels, directly.
#include "harness/eager/convolution.h"

#include <algorithm>

#include "harness/eager/gemm.h"
#include "harness/eager/planning.h"
#include "harness/eager/registry.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

/// Up to this many output channels a group, a tile of a matrix product would be mostly empty.
constexpr int64_t kFewChannels = 16;
constexpr int64_t kDirectThreads = 128;
constexpr int64_t kDirectPixels = 2;

struct Convolution {
  bool bias, padded;
  int64_t groups, group_channels, group_out_channels, taps, plane, pixels;
};

Convolution describe(const OperatorCall& call) {
  const Shape& weight = call.inputs[1].shape;
  const Shape& out = call.outputs[0].shape;
  const auto& padding = call.attributes.list("padding");
  Convolution conv;
  conv.bias = call.inputs.size() > 2;
  conv.padded = padding[0] != 0 || padding[1] != 0;
  conv.groups = call.attributes.integer("groups");
  conv.group_channels = weight[1];
  conv.group_out_channels = weight[0] / conv.groups;
  conv.taps = weight[1] * weight[2] * weight[3];
  conv.plane = out[2] * out[3];
  conv.pixels = out[0] * conv.plane;
  return conv;
}

/// Macros, addresses and words that both kernels take, as shaders/conv_window.glsl has them.
Launch start(std::string shader, const OperatorCall& call, const Convolution& conv, int64_t groups,
             const DeviceTraits& traits) {
  const Shape& x = call.inputs[0].shape;
  const Shape& weight = call.inputs[1].shape;
  const Shape& out = call.outputs[0].shape;
  const auto& stride = call.attributes.list("stride");
  const auto& padding = call.attributes.list("padding");
  const auto& dilation = call.attributes.list("dilation");
  const int64_t reach_h = (weight[2] - 1) * dilation[0], reach_w = (weight[3] - 1) * dilation[1];
  if (reach_h > INT16_MAX || reach_w > INT16_MAX || conv.group_channels * x[2] * x[3] > INT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                "the eager convolution takes windows up to 32767 and up to 2^31 elements a channel "
                "group of an image");
  }
  std::vector<Operand> addresses = {input(0), input(1)};
  if (conv.bias) addresses.push_back(input(2));
  addresses.push_back(output(0));
  Launch launch = make_launch(std::move(shader),
                              {{"KERNEL_H", weight[2]},
                               {"KERNEL_W", weight[3]},
                               {"STRIDE_H", stride[0]},
                               {"STRIDE_W", stride[1]},
                               {"DILATION_H", dilation[0]},
                               {"DILATION_W", dilation[1]},
                               {"PADDED", conv.padded},
                               {"BIAS", conv.bias}},
                              addresses, groups, traits);
  launch.add(x[2]).add(x[3]).add(out[2]).add(out[3]).add(padding[0]).add(padding[1]);
  launch.add(x[1]).add(conv.group_channels).add(conv.group_out_channels).add(out[1]);
  launch.add(conv.taps).add(conv.pixels);
  return launch;
}

CallPlan direct(const OperatorCall& call, const Convolution& conv, const DeviceTraits& traits) {
  const int64_t channels = conv.group_out_channels;
  const int64_t pixels = traits.software ? 1 : kDirectPixels;
  const int64_t blocks = ceil_div(conv.pixels, kDirectThreads * pixels);
  const int64_t groups = blocks * conv.groups;
  Launch launch = start("conv_direct.comp", call, conv, groups, traits);
  launch.macros.emplace_back("THREADS", std::to_string(kDirectThreads));
  launch.macros.emplace_back("PIXELS", std::to_string(pixels));
  launch.macros.emplace_back("CHANNELS", std::to_string(channels));
  launch.add(blocks).add(groups);
  return {{launch}, {}};
}

CallPlan as_product(const OperatorCall& call, const Convolution& conv, const Tile& tile,
                    const DeviceTraits& traits) {
  const int64_t tiles_m = ceil_div(conv.group_out_channels, tile.m);
  const int64_t tiles_n = ceil_div(conv.pixels, tile.n);
  const int64_t groups = tiles_m * tiles_n * conv.groups;
  Launch launch = start("conv_gemm.comp", call, conv, groups, traits);
  launch.macros.emplace_back("A_QUADS", conv.taps % 4 == 0 ? "1" : "0");
  launch.macros.emplace_back("C_QUADS", conv.plane % 4 == 0 ? "1" : "0");
  const bool edges = conv.group_out_channels % tile.m != 0 || conv.taps % tile.depth != 0;
  launch.macros.emplace_back("EDGES", edges ? "1" : "0");
  launch.macros.emplace_back("GATHERED", std::to_string(tile.depth * tile.n / tile.threads()));
  add_tile_macros(launch, tile, traits);
  launch.add(tiles_m).add(tiles_n).add(groups);
  return {{launch}, {}};
}

CallPlan conv2d(const OperatorCall& call, const DeviceTraits& traits) {
  const Convolution conv = describe(call);
  if (conv.group_out_channels <= kFewChannels) return direct(call, conv, traits);
  const TileChoice choice =
      choose_tile(conv.group_out_channels, conv.pixels, conv.taps, conv.groups, false, traits);
  return as_product(call, conv, choice.tile, traits);
}

}  // namespace

CallPlan plan_convolution(const OperatorCall& call, const Tile& tile, const DeviceTraits& traits) {
  return as_product(call, describe(call), tile, traits);
}

const std::vector<EagerKernel>& convolution_kernels() {
  static const std::vector<EagerKernel> kernels = {{"conv2d", conv2d}};
  return kernels;
}

}  // namespace kbench::eager
