// Convolutions: as a matrix product whose second factor is read through the window, by minimal
// filtering where that saves time, or, where a group has few output channels, directly.
#include "harness/measure/eager/convolution.h"

#include "harness/measure/eager/planning.h"

namespace kbench::eager {
namespace {

/// Up to this many output channels a group, a tile of a matrix product would be mostly empty.
/// Fewer on matrix units, where there are many taps.
constexpr int64_t kFewChannels = 16, kFewForMatrices = 15, kManyTaps = 512;
constexpr int64_t kDirectThreads = 128, kDepthwiseThreads = 256;
constexpr int64_t kDirectPixels = 4;
/// Workgroups of a direct convolution that keep a large GPU busy.
constexpr int64_t kBusyGroups = 1024;
/// Minimal filtering must promise this share of the product's time at most: it takes more memory.
constexpr double kWorthwhile = 0.9;
constexpr int64_t kMostScratch = int64_t{8} << 30;

CallPlan direct(const Convolution& conv, const DeviceTraits& traits) {
  const int64_t channels = conv.group_out_channels;
  int64_t pixels = traits.software ? 1 : kDirectPixels;
  // Fewer where that would leave processors idle.
  while (pixels > 1 &&
         ceil_div(conv.pixels(), kDirectThreads * pixels) * conv.groups * conv.phases() <
             kBusyGroups) {
    pixels /= 2;
  }
  const int64_t blocks = ceil_div(conv.pixels(), kDirectThreads * pixels);
  const int64_t groups = blocks * conv.groups * conv.phases();
  const bool packs = conv.packs_weight();
  const LaunchOperand weight = packs ? scratch(conv.first_scratch) : conv.weight;
  Launch launch = start_convolution("conv_direct.comp", conv, weight, conv.y, groups, traits);
  launch.macros.emplace_back("THREADS", std::to_string(kDirectThreads));
  launch.macros.emplace_back("PIXELS", std::to_string(pixels));
  launch.macros.emplace_back("CHANNELS", std::to_string(channels));
  launch.add(blocks).add(groups);
  if (!packs) return {{std::move(launch)}, {}};
  return {{pack_launch(conv, weight, traits), std::move(launch)}, {packed_bytes(conv, DType::f32)}};
}

/// One channel in and out a group, over planes.
CallPlan depthwise(const Convolution& conv, const DeviceTraits& traits) {
  require_countable(conv);
  const WindowRows rows = window_rows(conv.kernel[1], conv.kernel[2], conv.stride[1],
                                      conv.dilation[1], conv.out[1], traits);
  const int64_t items = conv.images * conv.groups * rows.blocks * conv.out[2];
  const int64_t groups = ceil_div(items, kDepthwiseThreads);
  std::vector<LaunchOperand> addresses = {conv.x, conv.weight, conv.y};
  if (conv.bias) addresses.push_back(*conv.bias);
  Launch launch = make_launch("conv_depthwise.comp",
                              {{"THREADS", kDepthwiseThreads},
                               {"ROWS", rows.count},
                               {"UNROLL", rows.unroll},
                               {"BIAS", conv.bias.has_value()}},
                              addresses, groups, traits);
  add_window_macros(launch, conv);
  add_geometry(launch, conv);
  launch.add(conv.groups).add(rows.blocks).add(items).add(groups);
  return {{launch}, {}};
}

CallPlan convolution(const OperatorCall& call, const DeviceTraits& traits) {
  const Convolution conv = describe_convolution(call);
  if (conv.group_channels == 1 && conv.group_out_channels == 1 && !conv.packs_weight() &&
      !conv.volume) {
    return depthwise(conv, traits);
  }
  const bool by_matrices =
      on_matrices(conv.stored, traits) && !conv.transposed && conv.taps() >= kManyTaps;
  if (conv.group_out_channels <= (by_matrices ? kFewForMatrices : kFewChannels)) {
    return direct(conv, traits);
  }
  const ConvolutionProduct product = choose_product(conv, traits);
  if (!traits.software) {
    const auto winograd = plan_winograd(conv, traits);
    if (winograd && winograd->seconds < kWorthwhile * product.choice.seconds &&
        winograd->plan.scratch_total() <= kMostScratch) {
      return winograd->plan;
    }
  }
  return plan_product(product, traits);
}

}  // namespace

const std::vector<EagerKernel>& convolution_kernels() {
  static const std::vector<EagerKernel> kernels = {
      {"conv1d", convolution},           {"conv2d", convolution},
      {"conv3d", convolution},           {"conv_transpose1d", convolution},
      {"conv_transpose2d", convolution}, {"conv_transpose3d", convolution},
  };
  return kernels;
}

}  // namespace kbench::eager
