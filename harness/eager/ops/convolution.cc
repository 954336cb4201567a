// Convolutions: as a matrix product whose second factor is read through the window, or, where a
// group has few output channels, directly.
#include "harness/eager/convolution.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "harness/eager/gemm.h"
#include "harness/eager/planning.h"
#include "harness/eager/registry.h"
#include "kbench/error.h"

namespace kbench::eager {
namespace {

/// Up to this many output channels a group, a tile of a matrix product would be mostly empty.
constexpr int64_t kFewChannels = 16;
constexpr int64_t kDirectThreads = 128, kDepthwiseThreads = 256;
constexpr int64_t kDirectPixels = 4;
/// Workgroups of a direct convolution that keep a large GPU busy.
constexpr int64_t kBusyGroups = 1024;
/// Rows of a packed weight are whole slices of every tile.
constexpr int64_t kPackedQuantum = 16;

using Extents = std::array<int64_t, 3>;  // depth, height, width

/// A convolution in three dimensions, those it lacks being of extent 1.
struct Convolution {
  bool bias, padded, volume, transposed;
  Extents in, out, kernel, stride, padding, dilation;
  int64_t images, groups, group_channels, group_out_channels;
  int64_t taps;    ///< of a row of the weight as the kernels read it
  int64_t plane;   ///< elements of an output channel
  int64_t pixels;  ///< that one matrix product covers, over all images
  int64_t phases;  ///< products a channel group
};

Extents extents(std::vector<int64_t> values, size_t dims, int64_t missing) {
  if (values.size() == 1) values.resize(dims, values[0]);
  Extents result;
  result.fill(missing);
  std::copy(values.begin(), values.end(), result.end() - static_cast<int64_t>(dims));
  return result;
}

int64_t product(const Extents& values) { return values[0] * values[1] * values[2]; }

/// The most taps that an output position meets.
int64_t most_taps(const Convolution& conv) {
  int64_t taps = 1;
  for (size_t d = 0; d < 3; ++d) {
    taps *= ceil_div(conv.kernel[d], conv.stride[d] / std::gcd(conv.stride[d], conv.dilation[d]));
  }
  return taps;
}

Convolution describe(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const Shape& weight = call.inputs[1].shape;
  const Shape& out = call.outputs[0].shape;
  const size_t dims = x.size() - 2;
  const auto list = [&](const char* name, int64_t missing) {
    return extents(call.attributes.list(name), dims, missing);
  };
  Convolution conv;
  conv.bias = call.inputs.size() > 2;
  conv.volume = dims == 3;
  conv.transposed = call.op->name.starts_with("conv_transpose");
  conv.in = extents({x.begin() + 2, x.end()}, dims, 1);
  conv.out = extents({out.begin() + 2, out.end()}, dims, 1);
  conv.kernel = extents({weight.begin() + 2, weight.end()}, dims, 1);
  conv.stride = list("stride", 1);
  conv.padding = list("padding", 0);
  conv.dilation = list("dilation", 1);
  conv.images = x[0];
  conv.groups = call.attributes.integer("groups");
  conv.group_channels = x[1] / conv.groups;
  conv.group_out_channels = out[1] / conv.groups;
  conv.plane = product(conv.out);
  if (conv.transposed) {
    conv.padded = true;
    conv.taps = ceil_div(conv.group_channels * most_taps(conv), kPackedQuantum) * kPackedQuantum;
    conv.pixels = conv.images;
    for (size_t d = 0; d < 3; ++d) conv.pixels *= ceil_div(conv.out[d], conv.stride[d]);
    conv.phases = product(conv.stride);
  } else {
    conv.padded = conv.padding != Extents{};
    conv.taps = conv.group_channels * product(conv.kernel);
    conv.pixels = conv.images * conv.plane;
    conv.phases = 1;
  }
  return conv;
}

/// Throws where shaders/conv_window.glsl could not count the window or the image.
void require_countable(const Convolution& conv) {
  for (size_t d = 0; d < 3; ++d) {
    const int64_t reach = (conv.kernel[d] - 1) * conv.dilation[d];
    if (reach > (conv.volume ? 1023 : INT16_MAX)) {
      throw Error(ErrorCode::kUnsupported,
                  "the eager convolution takes windows up to 32767, in three dimensions up to "
                  "1023, got " +
                      std::to_string(reach));
    }
  }
  if (conv.group_channels * product(conv.in) > INT32_MAX || conv.plane > INT32_MAX) {
    throw Error(ErrorCode::kUnsupported,
                "the eager convolution takes up to 2^31 elements a channel group of an image");
  }
}

void add_window_macros(Launch& launch, const Convolution& conv) {
  const std::pair<const char*, const Extents*> windows[] = {
      {"KERNEL_", &conv.kernel}, {"STRIDE_", &conv.stride}, {"DILATION_", &conv.dilation}};
  for (const auto& [name, values] : windows) {
    for (size_t d = conv.volume ? 0 : 1; d < 3; ++d) {
      launch.macros.emplace_back(std::string(name) + "DHW"[d], std::to_string((*values)[d]));
    }
  }
  launch.macros.emplace_back("VOLUME", conv.volume ? "1" : "0");
  launch.macros.emplace_back("TRANSPOSED", conv.transposed ? "1" : "0");
  launch.macros.emplace_back("PADDED", conv.padded ? "1" : "0");
  const int64_t window = conv.transposed ? most_taps(conv) : product(conv.kernel);
  launch.macros.emplace_back("MASKED", conv.padded && window <= 32 ? "1" : "0");
}

void add_geometry(Launch& launch, const Convolution& conv) {
  if (conv.volume) launch.add(conv.in[0]).add(conv.out[0]).add(conv.padding[0]);
  launch.add(conv.in[1]).add(conv.in[2]).add(conv.out[1]).add(conv.out[2]);
  launch.add(conv.padding[1]).add(conv.padding[2]);
}

/// Macros, addresses and words that both kernels take, as shaders/conv_window.glsl has them. A
/// transposed convolution's weight is the packed one, scratch 0.
Launch start(std::string shader, const Convolution& conv, Operand to, int64_t groups,
             const DeviceTraits& traits) {
  require_countable(conv);
  std::vector<Operand> addresses = {input(0), conv.transposed ? scratch(0) : input(1)};
  if (conv.bias) addresses.push_back(input(2));
  addresses.push_back(to);
  Launch launch = make_launch(std::move(shader), {{"BIAS", conv.bias}}, addresses, groups, traits);
  add_window_macros(launch, conv);
  add_geometry(launch, conv);
  launch.add(conv.groups * conv.group_channels).add(conv.group_channels);
  launch.add(conv.group_out_channels).add(conv.groups * conv.group_out_channels);
  launch.add(conv.taps).add(conv.pixels);
  return launch;
}

/// The plan of that launch, with the weight packed before it where it is to be.
CallPlan with_packing(const Convolution& conv, Launch launch, const DeviceTraits& traits) {
  if (!conv.transposed) return {{std::move(launch)}, {}};
  const int64_t out_channels = conv.groups * conv.group_out_channels;
  const int64_t elements = conv.phases * out_channels * conv.taps;
  const int64_t groups = ceil_div(elements, kDirectThreads);
  Launch pack = make_launch("conv_pack.comp", {{"THREADS", kDirectThreads}}, {input(1), scratch(0)},
                            groups, traits);
  add_window_macros(pack, conv);
  add_geometry(pack, conv);
  pack.add(conv.group_channels).add(conv.group_out_channels).add(out_channels);
  pack.add(conv.taps).add(elements).add(groups);
  return {{std::move(pack), std::move(launch)}, {elements * 4}};
}

CallPlan direct(const Convolution& conv, const DeviceTraits& traits) {
  const int64_t channels = conv.group_out_channels;
  int64_t pixels = traits.software ? 1 : kDirectPixels;
  // Fewer where that would leave processors idle.
  while (pixels > 1 &&
         ceil_div(conv.pixels, kDirectThreads * pixels) * conv.groups * conv.phases < kBusyGroups) {
    pixels /= 2;
  }
  const int64_t blocks = ceil_div(conv.pixels, kDirectThreads * pixels);
  const int64_t groups = blocks * conv.groups * conv.phases;
  Launch launch = start("conv_direct.comp", conv, output(0), groups, traits);
  launch.macros.emplace_back("THREADS", std::to_string(kDirectThreads));
  launch.macros.emplace_back("PIXELS", std::to_string(pixels));
  launch.macros.emplace_back("CHANNELS", std::to_string(channels));
  launch.add(blocks).add(groups);
  return with_packing(conv, std::move(launch), traits);
}

CallPlan as_product(Convolution conv, const TileChoice& choice, const DeviceTraits& traits) {
  const Tile& tile = choice.tile;
  const bool split = choice.splits > 1, bias = conv.bias;
  const int64_t tiles_m = ceil_div(conv.group_out_channels, tile.m);
  const int64_t tiles_n = ceil_div(conv.pixels, tile.n);
  const int64_t groups = tiles_m * tiles_n * conv.groups * conv.phases * choice.splits;
  const Operand parts = scratch(conv.transposed ? 1 : 0);
  if (split) conv.bias = false;  // added when the parts are
  Launch launch = start("conv_gemm.comp", conv, split ? parts : output(0), groups, traits);
  launch.macros.emplace_back("A_QUADS", conv.taps % 4 == 0 ? "1" : "0");
  launch.macros.emplace_back("C_QUADS", conv.plane % 4 == 0 && conv.phases == 1 ? "1" : "0");
  const bool edges = conv.group_out_channels % tile.m != 0 || conv.taps % tile.depth != 0;
  launch.macros.emplace_back("EDGES", edges ? "1" : "0");
  launch.macros.emplace_back("GATHERED", std::to_string(tile.depth * tile.n / tile.threads()));
  add_tile_macros(launch, tile, traits);
  launch.add(tiles_m).add(tiles_n).add(conv.images);
  launch.add(choice.splits).add(choice.split_k / tile.depth).add(groups);
  CallPlan plan = with_packing(conv, std::move(launch), traits);
  if (split) {
    const int64_t channels = conv.groups * conv.group_out_channels;
    const int64_t elements = conv.images * channels * conv.plane;
    Merge merge{parts, output(0), {}, elements, choice.splits, conv.plane, channels};
    if (bias) merge.bias = input(2);
    plan.launches.push_back(merge_launch(merge, traits));
    plan.scratch_bytes.push_back(choice.splits * elements * 4);
  }
  return plan;
}

/// One channel in and out a group, over planes.
CallPlan depthwise(const Convolution& conv, const DeviceTraits& traits) {
  require_countable(conv);
  const WindowRows rows = window_rows(conv.kernel[1], conv.kernel[2], conv.stride[1],
                                      conv.dilation[1], conv.out[1], traits);
  const int64_t items = conv.images * conv.groups * rows.blocks * conv.out[2];
  const int64_t groups = ceil_div(items, kDepthwiseThreads);
  std::vector<Operand> addresses = {input(0), input(1)};
  if (conv.bias) addresses.push_back(input(2));
  addresses.push_back(output(0));
  Launch launch = make_launch("conv_depthwise.comp",
                              {{"THREADS", kDepthwiseThreads},
                               {"ROWS", rows.count},
                               {"UNROLL", rows.unroll},
                               {"BIAS", conv.bias}},
                              addresses, groups, traits);
  add_window_macros(launch, conv);
  add_geometry(launch, conv);
  launch.add(conv.groups).add(rows.blocks).add(items).add(groups);
  return {{launch}, {}};
}

CallPlan convolution(const OperatorCall& call, const DeviceTraits& traits) {
  const Convolution conv = describe(call);
  if (conv.group_channels == 1 && conv.group_out_channels == 1 && !conv.transposed &&
      !conv.volume) {
    return depthwise(conv, traits);
  }
  if (conv.group_out_channels <= kFewChannels) return direct(conv, traits);
  const TileChoice choice = choose_tile(conv.group_out_channels, conv.pixels, conv.taps,
                                        conv.groups * conv.phases, true, traits);
  return as_product(conv, choice, traits);
}

}  // namespace

CallPlan plan_convolution(const OperatorCall& call, const Tile& tile, int64_t splits,
                          const DeviceTraits& traits) {
  const Convolution conv = describe(call);
  return as_product(conv, with_splits(tile, conv.taps, splits), traits);
}

const std::vector<EagerKernel>& convolution_kernels() {
  static const std::vector<EagerKernel> kernels = {
      {"conv1d", convolution},           {"conv2d", convolution},
      {"conv3d", convolution},           {"conv_transpose1d", convolution},
      {"conv_transpose2d", convolution}, {"conv_transpose3d", convolution},
  };
  return kernels;
}

}  // namespace kbench::eager
