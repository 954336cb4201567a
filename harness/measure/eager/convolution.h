// What the plans of convolutions share: their geometry, and the convolution as a matrix product.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/measure/eager/eager.h"
#include "harness/measure/eager/gemm.h"
#include "harness/measure/eager/planning.h"

namespace kbench::eager {

using Extents = std::array<int64_t, 3>;  // depth, height, width

int64_t product(const Extents& values);

/// A convolution in three dimensions, those it lacks being of extent 1. A transposed one of stride
/// 1 is seen as the plain one it is, with its weight backwards.
struct Convolution {
  bool volume, transposed;
  Extents in, out, kernel, stride, padding, dilation;
  int64_t images, groups, group_channels, group_out_channels;
  LaunchOperand x, weight, y;
  std::optional<LaunchOperand> bias;
  DType stored = DType::f32;  ///< of operands
  /// Channels of a group that lie together at each position of the input, with zeros up to a whole
  /// number of 16-byte pieces; 0 where each channel is a plane of its own.
  int64_t channels_last = 0;
  /// Whether the weight is [channels, out channels a group, window] and read from its window's end.
  bool backwards = false;
  int first_scratch = 0;  ///< the number of the first scratch that its plan may ask for

  int64_t channels() const { return groups * group_channels; }
  int64_t out_channels() const { return groups * group_out_channels; }
  int64_t plane() const { return product(out); }  ///< elements of an output channel
  /// Whether kernels take the weight as pack_launch() writes it.
  bool packs_weight() const { return transposed || backwards || channels_last != 0; }
  /// Whether windows may leave the input.
  bool padded() const;
  /// Parts that are convolutions of stride 1, one for each output position modulo the stride of a
  /// transposed convolution.
  int64_t phases() const { return transposed ? product(stride) : 1; }
  /// Whether some phases meet no tap: their output is the bias.
  bool has_empty_phases() const;
  /// Whether matrix units can read the input as a matrix of channels x pixels, as the output is, in
  /// whole pieces of the tile's.
  bool pointwise(const GemmTile& tile) const;
  /// Output pixels of a phase, over all images.
  int64_t pixels() const;
  /// Window positions that an output pixel meets, at most.
  int64_t window() const;
  /// Elements of a row of the weight as the kernels read it.
  int64_t taps() const;
};

/// Operands are the call's own.
Convolution describe_convolution(const OperatorCall& call);

/// Throws where shaders/conv_window.glsl could not count the window or the image.
void require_countable(const Convolution& conv);

/// Sets the macros of shaders/conv_window.glsl, and its struct Input.
void add_window_macros(Launch& launch, const Convolution& conv);
void add_geometry(Launch& launch, const Convolution& conv);

/// Macros, addresses and words that conv_gemm.comp and conv_direct.comp both take, up to the number
/// of pixels. `weight` is the packed one where packs_weight() says so.
Launch start_convolution(std::string shader, const Convolution& conv, LaunchOperand weight,
                         LaunchOperand y, int64_t groups, const DeviceTraits& traits);

/// Writes the weight to `packed` as the kernels read it, in its scratch_dtype.
Launch pack_launch(const Convolution& conv, LaunchOperand packed, const DeviceTraits& traits);
int64_t packed_bytes(const Convolution& conv, DType dtype);

/// A convolution as a matrix product whose second factor is read through the window.
struct ConvolutionProduct {
  Convolution conv;
  TileChoice choice;
};

/// The convolution with its channels last; nothing where matrix units take no such operands, or it
/// would be too large to count.
std::optional<Convolution> with_channels_last(const Convolution& conv, const DeviceTraits& traits);

/// The fastest by a model of a large GPU. An input whose channels are to lie last is copied first.
ConvolutionProduct choose_product(const Convolution& conv, const DeviceTraits& traits);
CallPlan plan_product(const ConvolutionProduct& product, const DeviceTraits& traits);

/// A call with this tile, the depth in this many parts and this order of channels, not those chosen
/// for its sizes.
CallPlan plan_product(const OperatorCall& call, const GemmTile& tile, int64_t splits,
                      const DeviceTraits& traits, bool channels_last = false);

// Convolutions by minimal filtering along one dimension: Winograd's algorithm, as Lavin and Gray
// use it for convolutions ("Fast Algorithms for Convolutional Neural Networks", CVPR 2016), in one
// dimension, F(7 - r, r) for windows of r = 3, 4 or 5 positions.
//
// Six input rows become six sums each of which meets one transformed weight, and give 7 - r output
// rows where the window would multiply (7 - r) r times: half the multiplications for r = 3 and 4,
// three fifths for r = 5. The transforms' points are 0, 1, -1, 2, -2 and infinity; in one dimension
// they cost less than two bits of accuracy.

struct WinogradPlan {
  CallPlan plan;
  double seconds = 0;  ///< by the model that choose_product() uses
};

/// Empty where no dimension allows it: it takes a stride and dilation of 1 and a window of 3 to 5
/// positions in the outermost dimension, and stride 1 everywhere for transposed convolutions.
std::optional<WinogradPlan> plan_winograd(const Convolution& conv, const DeviceTraits& traits);

}  // namespace kbench::eager
