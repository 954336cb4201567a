#include "harness/measure/eager/convolution.h"

#include <algorithm>
#include <numeric>

#include "kbench/error.h"

namespace kbench::eager {
namespace {

constexpr int64_t kPackThreads = 128, kFillThreads = 256;
/// Rows of a packed weight are whole slices of every tile.
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

bool Convolution::pointwise() const {
  return !transposed && product(kernel) == 1 && product(stride) == 1 && !padded() && in == out;
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
  const int64_t taps = group_channels * window();
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
  launch.add(conv.channels()).add(conv.group_channels);
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
  add_window_macros(pack, conv);
  add_geometry(pack, conv);
  pack.add(conv.group_channels).add(conv.group_out_channels).add(conv.out_channels());
  pack.add(conv.taps()).add(elements).add(groups);
  return pack;
}

TileChoice choose_tile(const Convolution& conv, const DeviceTraits& traits) {
  const int64_t batches = conv.groups * conv.phases();
  const auto choose = [&](DType stored) {
    return choose_tile(conv.group_out_channels, conv.pixels(), conv.taps(), batches, stored, true,
                       traits);
  };
  TileChoice choice = choose(conv.stored);
  if (!choice.tile.matrices || conv.pointwise()) return choice;
  // On matrix units what bounds a convolution is reading the input through its windows, two bytes
  // at a time and once for each row of tiles. Elements a second, measured on an H200.
  const double rate = conv.transposed || conv.volume ? 0.19e12 : 0.4e12;
  const int64_t read =
      ceil_div(conv.group_out_channels, choice.tile.m) * conv.taps() * conv.pixels() * batches;
  choice.seconds = std::max(choice.seconds, static_cast<double>(read) / rate);
  const TileChoice without = choose(DType::f32);
  return choice.seconds < without.seconds ? choice : without;
}

CallPlan plan_product(const Convolution& whole, const TileChoice& choice,
                      const DeviceTraits& traits) {
  CallPlan plan;
  const auto reserve = [&](int64_t bytes) {
    plan.scratch_bytes.push_back(bytes);
    return scratch(whole.first_scratch + static_cast<int>(plan.scratch_bytes.size()) - 1);
  };
  Convolution conv = whole;
  const GemmTile& tile = choice.tile;
  const int64_t elements = conv.images * conv.out_channels() * conv.plane();
  // Written once in order, rather than an element here and there.
  const bool filled = choice.splits == 1 && conv.has_empty_phases();
  if (filled) plan.launches.push_back(fill_launch(conv, traits));
  if (conv.transposed) {
    const DType packed = tile.matrices ? conv.stored : DType::f32;
    conv.weight = reserve(packed_bytes(conv, packed));
    conv.weight.scratch_dtype = packed;
    plan.launches.push_back(pack_launch(whole, conv.weight, traits));
    plan.launches.back().beside_last = filled;
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
  const bool pointwise = tile.matrices && conv.pointwise() && conv.plane() % piece == 0;
  launch.macros.emplace_back("POINTWISE", pointwise ? "1" : "0");
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
                      const DeviceTraits& traits) {
  const Convolution conv = describe_convolution(call);
  return plan_product(conv, with_splits(tile, conv.taps(), splits), traits);
}

}  // namespace kbench::eager
