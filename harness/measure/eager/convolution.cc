#include "harness/measure/eager/convolution.h"

#include <algorithm>
#include <numeric>

#include "kbench/error.h"

namespace kbench::eager {

namespace {

constexpr int64_t kPackThreads = 128, kFillThreads = 256, kLastThreads = 256;
/// Elements of a tile that conv_channels_last.comp takes through shared memory, and its channels.
constexpr int64_t kLastTile = 4096, kMostLastChannels = 64;
/// Rows of a packed weight are padded with zeros to a multiple of this: whole slices of every tile
/// but the one that is 64 deep, whose last slice may be cut (EDGES).
constexpr int64_t kPackedQuantum = 32;

Extents extents(std::vector<int64_t> values, size_t dims, int64_t missing) {
  if (values.size() == 1) values.resize(dims, values[0]);
  Extents result;
  result.fill(missing);
  std::copy(values.begin(), values.end(), result.end() - static_cast<int64_t>(dims));
  return result;
}

Launch fill_launch(const Convolution& conv, const DeviceTraits& traits) {
  const int64_t width = conv.plane() % 4 == 0 ? 4 : 1;
  const int64_t pieces = conv.images * conv.out_channels() * conv.plane() / width;
  const int64_t groups = ceil_div(pieces, kFillThreads);
  std::vector<LaunchOperand> addresses = {conv.y};
  if (conv.bias) addresses.push_back(*conv.bias);
  Launch fill =
      make_launch("conv_fill.comp",
                  {{"THREADS", kFillThreads}, {"WIDTH", width}, {"BIAS", conv.bias.has_value()}},
                  addresses, groups, traits);
  fill.add(conv.plane() / width).add(conv.out_channels()).add(pieces).add(groups);
  return fill;
}

/// Copies the input to `last`, the channels of each position together.
Launch channels_last_launch(const Convolution& conv, LaunchOperand last,
                            const DeviceTraits& traits) {
  const int64_t channels = std::min(conv.channels_last, kMostLastChannels);
  const int64_t positions = kLastTile / next_power_of_two(channels), plane = product(conv.in);
  const int64_t channel_tiles = ceil_div(conv.channels_last, channels);
  const int64_t position_tiles = ceil_div(plane, positions);
  const int64_t groups = channel_tiles * position_tiles * conv.images * conv.groups;
  Launch launch = make_launch("conv_channels_last.comp",
                              {{"THREADS", kLastThreads},
                               {"TILE_CHANNELS", channels},
                               {"TILE_POSITIONS", positions},
                               {"CHANNELS_LAST", conv.channels_last}},
                              {conv.x, last}, groups, traits);
  launch.add(conv.group_channels).add(plane).add(channel_tiles).add(position_tiles).add(groups);
  return launch;
}

int64_t channels_last_bytes(const Convolution& conv) {
  return saturated_product({conv.images, conv.groups, product(conv.in), conv.channels_last,
                            static_cast<int64_t>(size_of(conv.stored))});
}

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

int64_t product(const Extents& values) {
  return saturated_product({values[0], values[1], values[2]});
}

bool Convolution::padded() const {
  if (transposed) return true;
  for (size_t d = 0; d < 3; ++d) {
    // Without padding only a transposed convolution's output padding, seen as a plain one, does.
    const int64_t last = (out[d] - 1) * stride[d] + (kernel[d] - 1) * dilation[d];
    if (padding[d] != 0 || last >= in[d]) return true;
  }
  return false;
}

bool Convolution::pointwise(const GemmTile& tile) const {
  return tile.matrices && !transposed && product(kernel) == 1 && product(stride) == 1 &&
         !padded() && in == out && channels_last == 0 && plane() % piece_elements(tile) == 0;
}

int64_t Convolution::pixels() const {
  int64_t pixels = images;
  for (size_t d = 0; d < 3; ++d) pixels *= transposed ? ceil_div(out[d], stride[d]) : out[d];
  return pixels;
}

int64_t Convolution::window() const {
  if (!transposed) return product(kernel);
  int64_t positions = 1;
  for (size_t d = 0; d < 3; ++d) {
    positions *= ceil_div(kernel[d], stride[d] / std::gcd(stride[d], dilation[d]));
  }
  return positions;
}

bool Convolution::has_empty_phases() const {
  if (!transposed) return false;
  for (size_t d = 0; d < 3; ++d) {
    // The taps' residues modulo the stride repeat after stride / gcd(stride, dilation).
    if (std::min(kernel[d], stride[d] / std::gcd(stride[d], dilation[d])) < stride[d]) return true;
  }
  return false;
}

int64_t Convolution::taps() const {
  const int64_t taps = (channels_last != 0 ? channels_last : group_channels) * window();
  return transposed ? ceil_div(taps, kPackedQuantum) * kPackedQuantum : taps;
}

Convolution describe_convolution(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const Shape& weight = call.inputs[1].shape;
  const Shape& out = call.outputs[0].shape;
  const size_t dims = x.size() - 2;
  const auto list = [&](const char* name, int64_t missing) {
    return extents(call.attributes.list(name), dims, missing);
  };
  Convolution conv;
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
  conv.stored = call.inputs[0].dtype;
  conv.x = input(0);
  conv.weight = input(1);
  conv.y = output(0);
  if (call.inputs.size() > 2) conv.bias = input(2);
  if (conv.transposed && product(conv.stride) == 1) {
    conv.transposed = false;
    conv.backwards = true;
    for (size_t d = 0; d < 3; ++d) {
      conv.padding[d] = (conv.kernel[d] - 1) * conv.dilation[d] - conv.padding[d];
    }
  }
  // Every phase has a weight and pixels of its own, even where a large stride leaves both empty.
  const int64_t phases = conv.phases(), channels = conv.out_channels();
  if (std::max(saturated_product({phases, channels, conv.taps()}),
               saturated_product({phases, channels, conv.pixels()})) > kMostElements) {
    throw Error(ErrorCode::kUnsupported,
                "the eager transposed convolution takes smaller strides, got " +
                    std::to_string(conv.stride[0]) + " x " + std::to_string(conv.stride[1]) +
                    " x " + std::to_string(conv.stride[2]));
  }
  return conv;
}

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
  if (conv.group_channels * product(conv.in) > INT32_MAX || conv.plane() > INT32_MAX) {
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
  launch.macros.emplace_back("CHANNELS_LAST", std::to_string(conv.channels_last));
  launch.macros.emplace_back("PADDED", conv.padded() ? "1" : "0");
  launch.macros.emplace_back("MASKED", conv.padded() && conv.window() <= 32 ? "1" : "0");
}

void add_geometry(Launch& launch, const Convolution& conv) {
  if (conv.volume) launch.add(conv.in[0]).add(conv.out[0]).add(conv.padding[0]);
  launch.add(conv.in[1]).add(conv.in[2]).add(conv.out[1]).add(conv.out[2]);
  launch.add(conv.padding[1]).add(conv.padding[2]);
}

Launch start_convolution(std::string shader, const Convolution& conv, LaunchOperand weight,
                         LaunchOperand y, int64_t groups, const DeviceTraits& traits) {
  require_countable(conv);
  std::vector<LaunchOperand> addresses = {conv.x, weight, y};
  if (conv.bias) addresses.push_back(*conv.bias);
  Launch launch =
      make_launch(std::move(shader), {{"BIAS", conv.bias.has_value()}}, addresses, groups, traits);
  add_window_macros(launch, conv);
  add_geometry(launch, conv);
  const bool last = conv.channels_last != 0;  // A group's channels are one plane then.
  launch.add(last ? conv.groups : conv.channels()).add(last ? 1 : conv.group_channels);
  launch.add(conv.group_out_channels).add(conv.out_channels());
  launch.add(conv.taps()).add(conv.pixels());
  return launch;
}

int64_t packed_bytes(const Convolution& conv, DType dtype) {
  return conv.phases() * conv.out_channels() * conv.taps() * static_cast<int64_t>(size_of(dtype));
}

Launch pack_launch(const Convolution& conv, LaunchOperand packed, const DeviceTraits& traits) {
  const int64_t elements = conv.phases() * conv.out_channels() * conv.taps();
  const int64_t groups = ceil_div(elements, kPackThreads);
  Launch pack = make_launch("conv_pack.comp", {{"THREADS", kPackThreads}}, {conv.weight, packed},
                            groups, traits);
  pack.macros.emplace_back("BACKWARDS", conv.backwards ? "1" : "0");
  add_window_macros(pack, conv);
  add_geometry(pack, conv);
  pack.add(conv.group_channels).add(conv.group_out_channels).add(conv.out_channels());
  pack.add(conv.taps()).add(elements).add(groups);
  return pack;
}

std::optional<Convolution> with_channels_last(const Convolution& conv, const DeviceTraits& traits) {
  if (!on_matrices(conv.stored, traits)) return std::nullopt;
  Convolution last = conv;
  last.channels_last = ceil_div(conv.group_channels, kHalvesAPiece) * kHalvesAPiece;
  if (saturated_product({last.channels_last, product(last.in)}) > INT32_MAX) return std::nullopt;
  return last;
}

ConvolutionProduct choose_product(const Convolution& conv, const DeviceTraits& traits) {
  const int64_t batches = conv.groups * conv.phases();
  const auto choose = [&](const Convolution& form, DType stored) {
    return choose_tile(form.group_out_channels, form.pixels(), form.taps(), batches, stored, true,
                       traits);
  };
  ConvolutionProduct best = {conv, choose(conv, conv.stored)};
  if (!best.choice.tile.matrices || conv.pointwise(best.choice.tile)) return best;
  // Of an input in planes every tap is a load of its own, once for each row of tiles, which bounds
  // the product. Loads a second, measured on an H200.
  const double rate = conv.transposed || conv.volume ? 0.19e12 : 0.4e12;
  const int64_t rows = ceil_div(conv.group_out_channels, best.choice.tile.m);
  const auto loads = static_cast<double>(rows * conv.taps() * conv.pixels() * batches);
  best.choice.seconds = std::max(best.choice.seconds, loads / rate);
  const auto better = [&best](const Convolution& form, const TileChoice& choice) {
    if (choice.seconds < best.choice.seconds) best = {form, choice};
  };
  better(conv, choose(conv, DType::f32));
  if (const auto last = with_channels_last(conv, traits)) {
    // Finding a window's taps takes time beside the products, more where the window is a phase's.
    const double slower = conv.transposed ? 2.0 : 1.3;
    TileChoice choice = choose(*last, conv.stored);
    choice.seconds = slower * choice.seconds + streaming_seconds(2 * channels_last_bytes(*last), 2);
    better(*last, choice);
  }
  return best;
}

CallPlan plan_product(const ConvolutionProduct& product, const DeviceTraits& traits) {
  const Convolution& whole = product.conv;
  const TileChoice& choice = product.choice;
  CallPlan plan;
  const auto reserve = [&](int64_t bytes, DType dtype = DType::f32) {
    plan.scratch_bytes.push_back(bytes);
    LaunchOperand operand =
        scratch(whole.first_scratch + static_cast<int>(plan.scratch_bytes.size()) - 1);
    operand.scratch_dtype = dtype;
    return operand;
  };
  // What is written before the product: each needs nothing of the others.
  const auto prepare = [&](Launch launch) {
    launch.beside_last = !plan.launches.empty();
    plan.launches.push_back(std::move(launch));
  };
  Convolution conv = whole;
  const GemmTile& tile = choice.tile;
  const int64_t elements = conv.images * conv.out_channels() * conv.plane();
  // Written once in order, rather than an element here and there.
  const bool filled = choice.splits == 1 && conv.has_empty_phases();
  if (filled) prepare(fill_launch(conv, traits));
  if (conv.channels_last != 0) {
    conv.x = reserve(channels_last_bytes(conv), conv.stored);
    prepare(channels_last_launch(whole, conv.x, traits));
  }
  if (conv.packs_weight()) {
    const DType packed = tile.matrices ? conv.stored : DType::f32;
    conv.weight = reserve(packed_bytes(conv, packed), packed);
    prepare(pack_launch(whole, conv.weight, traits));
  }
  if (choice.splits > 1) {
    conv.y = reserve(choice.splits * elements * 4);
    conv.bias.reset();  // added when the parts are
  }
  const int64_t tiles_m = ceil_div(conv.group_out_channels, tile.m);
  const int64_t tiles_n = ceil_div(conv.pixels(), tile.n);
  const int64_t groups = tiles_m * tiles_n * conv.groups * conv.phases() * choice.splits;
  Launch launch = start_convolution("conv_gemm.comp", conv, conv.weight, conv.y, groups, traits);
  const int64_t piece = piece_elements(tile);
  launch.macros.emplace_back("A_ALIGNED", conv.taps() % piece == 0 ? "1" : "0");
  launch.macros.emplace_back("C_QUADS", conv.plane() % 4 == 0 && conv.phases() == 1 ? "1" : "0");
  launch.macros.emplace_back("POINTWISE", conv.pointwise(tile) ? "1" : "0");
  launch.macros.emplace_back("FILLED", filled ? "1" : "0");
  const bool edges = conv.group_out_channels % tile.m != 0 || conv.taps() % tile.depth != 0;
  launch.macros.emplace_back("EDGES", edges ? "1" : "0");
  launch.macros.emplace_back("GATHERED", std::to_string(tile.depth * tile.n / tile.threads() /
                                                        (tile.matrices ? piece : 1)));
  add_tile_macros(launch, tile, traits);
  launch.add(tiles_m).add(tiles_n).add(conv.images);
  launch.add(choice.splits).add(choice.split_k / tile.depth).add(groups);
  plan.launches.push_back(std::move(launch));
  if (choice.splits > 1) {
    plan.launches.push_back(merge_launch(
        {conv.y, whole.y, whole.bias, elements, choice.splits, conv.plane(), conv.out_channels()},
        traits));
  }
  return plan;
}

CallPlan plan_product(const OperatorCall& call, const GemmTile& tile, int64_t splits,
                      const DeviceTraits& traits, bool channels_last) {
  Convolution conv = describe_convolution(call);
  if (channels_last) conv = with_channels_last(conv, traits).value();
  return plan_product({conv, with_splits(tile, conv.taps(), splits)}, traits);
}

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
