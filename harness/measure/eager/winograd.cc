#include "harness/measure/eager/winograd.h"

namespace kbench::eager {
namespace {

constexpr int64_t kPoints = 6;

/// Along which dimension, and its extents there; `inner` counts the elements below it.
struct Split1D {
  int64_t window, in, out, padding;
  int64_t tiles;  ///< of `outputs` output rows
  int64_t inner_in = 1, inner_out = 1, inner_window = 1;
  int64_t outputs() const { return kPoints + 1 - window; }
};

/// `width` elements a load where rows allow it.
int64_t load_width(int64_t inner) { return inner % 4 == 0 ? 4 : 1; }

Launch weight_launch(const Convolution& conv, const Split1D& split, LaunchOperand u,
                     const DeviceTraits& traits) {
  const int64_t elements = conv.out_channels() * conv.group_channels * split.inner_window;
  const int64_t groups = ceil_div(elements, kThreads);
  Launch launch =
      make_launch("winograd_weight.comp",
                  {{"THREADS", kThreads}, {"WINDOW", split.window}, {"BACKWARDS", conv.backwards}},
                  {conv.weight, u}, groups, traits);
  launch.add(conv.group_channels).add(conv.group_out_channels).add(split.inner_window);
  launch.add(elements).add(groups);
  return launch;
}

Launch input_launch(const Convolution& conv, const Split1D& split, LaunchOperand v,
                    const DeviceTraits& traits) {
  const int64_t width = load_width(split.inner_in);
  const int64_t items = conv.images * conv.channels() * split.tiles * split.inner_in / width;
  const int64_t groups = ceil_div(items, kThreads);
  Launch launch =
      make_launch("winograd_input.comp",
                  {{"THREADS", kThreads}, {"WIDTH", width}, {"OUTPUTS", split.outputs()}},
                  {conv.x, v}, groups, traits);
  launch.add(split.inner_in / width).add(split.tiles).add(conv.channels());
  launch.add(split.in).add(split.padding).add(items).add(groups);
  return launch;
}

Launch output_launch(const Convolution& conv, const Split1D& split, LaunchOperand m,
                     const DeviceTraits& traits) {
  const int64_t width = load_width(split.inner_out);
  const int64_t items = conv.images * conv.out_channels() * split.tiles * split.inner_out / width;
  const int64_t groups = ceil_div(items, kThreads);
  std::vector<LaunchOperand> addresses = {m, conv.y};
  if (conv.bias) addresses.push_back(*conv.bias);
  Launch launch = make_launch("winograd_output.comp",
                              {{"THREADS", kThreads},
                               {"WIDTH", width},
                               {"OUTPUTS", split.outputs()},
                               {"BIAS", conv.bias.has_value()}},
                              addresses, groups, traits);
  launch.add(split.inner_out / width).add(split.tiles).add(conv.out_channels());
  launch.add(split.out).add(items).add(groups);
  return launch;
}

}  // namespace

std::optional<WinogradPlan> plan_winograd(const Convolution& conv, const DeviceTraits& traits) {
  if (conv.transposed) return {};
  const size_t dim = conv.volume ? 0 : 1;
  Split1D split{conv.kernel[dim], conv.in[dim], conv.out[dim], conv.padding[dim], 0};
  if (split.window < 3 || split.window > 5) return {};
  if (conv.stride[dim] != 1 || conv.dilation[dim] != 1) return {};
  split.tiles = ceil_div(split.out, split.outputs());
  for (size_t d = dim + 1; d < 3; ++d) {
    split.inner_in *= conv.in[d];
    split.inner_out *= conv.out[d];
    split.inner_window *= conv.kernel[d];
  }

  // The products of each point: a convolution in the dimensions that remain, a channel group for
  // each point and group.
  Convolution inner = conv;
  inner.in[dim] = inner.out[dim] = split.tiles;
  inner.kernel[dim] = 1;
  inner.padding[dim] = 0;
  inner.groups = kPoints * conv.groups;
  inner.bias.reset();
  inner.backwards = false;  // the transformed weight is not
  inner.stored = DType::f32;
  inner.weight = scratch(conv.first_scratch);
  inner.x = scratch(conv.first_scratch + 1);
  inner.y = scratch(conv.first_scratch + 2);
  inner.first_scratch = conv.first_scratch + 3;
  // Padding may make far more of the input's elements than there are.
  if (saturated_product({inner.images, inner.channels(), product(inner.in)}) > kMostElements) {
    return {};
  }
  const int64_t weights = inner.out_channels() * inner.taps();
  const int64_t sums = inner.images * inner.channels() * product(inner.in);
  const int64_t products = inner.images * inner.out_channels() * inner.plane();

  WinogradPlan result;
  CallPlan& plan = result.plan;
  plan.launches = {weight_launch(conv, split, inner.weight, traits),
                   input_launch(conv, split, inner.x, traits)};
  plan.launches.back().beside_last = true;
  plan.scratch_bytes = {weights * 4, sums * 4, products * 4};
  const ConvolutionProduct chosen = choose_product(inner, traits);
  CallPlan middle = plan_product(chosen, traits);
  for (Launch& launch : middle.launches) plan.launches.push_back(std::move(launch));
  for (const int64_t bytes : middle.scratch_bytes) plan.scratch_bytes.push_back(bytes);
  plan.launches.push_back(output_launch(conv, split, inner.y, traits));

  const int64_t before = conv.images * conv.channels() * product(conv.in);
  const int64_t after = conv.images * conv.out_channels() * conv.plane();
  result.seconds =
      chosen.choice.seconds +
      streaming_seconds(
          static_cast<int64_t>(size_of(conv.stored)) * (before + after) + 4 * (sums + products), 2);
  return result;
}

}  // namespace kbench::eager
