// Level 1: transposed convolutions.
#include "kbench/ops.h"
#include "levels/blocks.h"
#include "levels/tables.h"

namespace kbench::levels {
namespace {

Value transposed1d(Graph& g) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g["length"]});
  return conv_transpose1d(x, g.module("conv1d_transpose"), unbiased_options<ConvTranspose>(g));
}

Value transposed2d(Graph& g, const char* height, const char* width, ConvTranspose conv) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g[height], g[width]});
  return conv_transpose2d(x, g.module("conv_transpose2d"), conv);
}

Value transposed3d(Graph& g, const char* depth, const char* height, const char* width,
                   ConvTranspose conv) {
  auto x = g.input("x", {g["batch_size"], g["in_channels"], g[depth], g[height], g[width]});
  return conv_transpose3d(x, g.module("conv_transpose3d"), conv);
}

void conv_transpose1d_task(Graph& g) { g.output(transposed1d(g)); }
void conv_transpose2d_task(Graph& g) {
  g.output(transposed2d(g, "height", "width", unbiased_options<ConvTranspose>(g)));
}
void conv_transpose2d_asymmetric(Graph& g) {
  g.output(transposed2d(g, "height_in", "width_in", unbiased_options<ConvTranspose>(g)));
}
void conv_transpose2d_grouped(Graph& g) {
  ConvTranspose conv = unbiased_options<ConvTranspose>(g);
  conv.groups = g["groups"];
  g.output(transposed2d(g, "height", "width", conv));
}

/// Also task 73, whose `groups` the original hands over as output_padding and so never uses.
void conv_transpose3d_task(Graph& g) {
  g.output(transposed3d(g, "depth", "height", "width", unbiased_options<ConvTranspose>(g)));
}
void conv_transpose3d_asymmetric(Graph& g) {
  g.output(
      transposed3d(g, "depth_in", "height_in", "width_in", unbiased_options<ConvTranspose>(g)));
}
void conv_transpose3d_grouped(Graph& g) {
  ConvTranspose conv = unbiased_options<ConvTranspose>(g);
  conv.groups = g["groups"];
  g.output(transposed3d(g, "depth", "height", "width", conv));
}

void conv_transpose3d_kernel_by_extent(Graph& g) {
  ConvTranspose conv{.out_channels = g["out_channels"],
                     .kernel = {g["kernel_depth"], g["kernel_width"], g["kernel_height"]},
                     .bias = false};
  g.output(transposed3d(g, "depth", "width", "height", conv));
}

}  // namespace

Tasks level1_transposed_convolutions() {
  using List = std::vector<int64_t>;
  return {
      {{1, 57},
       "conv_transposed_2D__square_input__square_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 64},
        {"kernel_size", 3},
        {"height", 14, 128, 1024},
        {"width", 18, 128, 1024}},
       conv_transpose2d_task},
      {{1, 58},
       "conv_transposed_3D__asymmetric_input__asymmetric_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16},
        {"kernel_size", List{3, 5, 7}},
        {"depth_in", 6, 16, 16},
        {"height_in", 12, 32, 32},
        {"width_in", 16, 64, 64}},
       conv_transpose3d_asymmetric},
      {{1, 61},
       "conv_transposed_3D__square_input__square_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 3, 48},
        {"out_channels", 16, 64, 48},
        {"kernel_size", 3},
        {"depth", 6, 32, 64},
        {"height", 14, 32, 64},
        {"width", 18, 32, 64}},
       conv_transpose3d_task},
      {{1, 64},
       "conv_transposed_1D",
       "transposed convolution",
       {{"batch_size", 2, 16, 64},
        {"in_channels", 8, 64, 128},
        {"out_channels", 16, 3, 128},
        {"kernel_size", 3},
        {"length", 64, 128, 65536}},
       conv_transpose1d_task},
      {{1, 65},
       "conv_transposed_2D__square_input__asymmetric_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 64},
        {"kernel_size", List{3, 7}, List{3, 5}, List{3, 7}},
        {"width", 18, 128, 512},
        {"height", 14, 128, 512}},
       conv_transpose2d_task},
      {{1, 68},
       "conv_transposed_3D__square_input__asymmetric_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_depth", 3},
        {"kernel_width", 5},
        {"kernel_height", 5},
        {"depth", 6, 64, 64},
        {"width", 9, 64, 64},
        {"height", 7, 64, 64}},
       conv_transpose3d_kernel_by_extent},
      {{1, 69},
       "conv_transposed_2D__asymmetric_input__asymmetric_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 64},
        {"in_channels", 8, 32, 64},
        {"out_channels", 16, 64, 128},
        {"kernel_size", List{3, 5}},
        {"height_in", 12, 16, 128},
        {"width_in", 16, 32, 256}},
       conv_transpose2d_asymmetric},
      {{1, 70},
       "conv_transposed_3D__asymmetric_input__square_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 32, 48},
        {"out_channels", 16, 16, 24},
        {"kernel_size", 3},
        {"depth", 6, 16, 96},
        {"height", 14, 32, 96},
        {"width", 18, 64, 96}},
       conv_transpose3d_task},
      {{1, 71},
       "conv_transposed_2D__asymmetric_input__square_kernel",
       "transposed convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 32},
        {"kernel_size", 3},
        {"height_in", 12, 128, 512},
        {"width_in", 16, 256, 1024}},
       conv_transpose2d_asymmetric},
      {{1, 72},
       "conv_transposed_3D_asymmetric_input_asymmetric_kernel___strided_padded_grouped",
       "transposed convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 32},
        {"kernel_size", List{3, 5, 7}},
        {"depth", 6, 16, 12},
        {"height", 14, 32, 24},
        {"width", 18, 64, 48},
        {"stride", List{2, 2, 2}},
        {"padding", List{1, 2, 3}},
        {"output_padding", List{1, 1, 1}},
        {"groups", 4}},
       conv_transpose3d_grouped},
      {{1, 73},
       "conv_transposed_3D_asymmetric_input_square_kernel__strided_padded__grouped",
       "transposed convolution",
       {{"batch_size", 2, 16, 4},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 32},
        {"kernel_size", 3},
        {"depth", 6, 16, 32},
        {"height", 14, 32, 64},
        {"width", 18, 32, 128},
        {"stride", 2},
        {"padding", 1, 3, 1},
        {"groups", 4}},
       conv_transpose3d_task},
      {{1, 74},
       "conv_transposed_1D_dilated",
       "transposed convolution",
       {{"batch_size", 2, 16, 32},
        {"in_channels", 8, 3, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_size", 5},
        {"length", 64, 256, 131072},
        {"stride", 1},
        {"padding", 0},
        {"dilation", 3}},
       conv_transpose1d_task},
      {{1, 75},
       "conv_transposed_2D_asymmetric_input_asymmetric_kernel_strided__grouped____padded____"
       "dilated",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_size", List{3, 5}},
        {"height", 14, 128, 128},
        {"width", 18, 256, 256},
        {"stride", List{2, 3}},
        {"padding", List{1, 2}},
        {"dilation", List{2, 1}},
        {"groups", 4}},
       conv_transpose2d_grouped},
      {{1, 77},
       "conv_transposed_3D_square_input_square_kernel___padded____dilated____strided",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_size", 3},
        {"depth", 6, 16, 16},
        {"height", 14, 32, 32},
        {"width", 18, 32, 32},
        {"stride", 2},
        {"padding", 1},
        {"dilation", 2}},
       conv_transpose3d_task},
      {{1, 78},
       "conv_transposed_2D_asymmetric_input_asymmetric_kernel___padded",
       "transposed convolution",
       {{"batch_size", 2, 16, 8},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 32},
        {"kernel_size", List{3, 7}, List{3, 5}, List{3, 7}},
        {"height", 14, 128, 512},
        {"width", 18, 256, 1024},
        {"stride", List{1, 1}},
        {"padding", List{1, 3}, List{1, 2}, List{1, 3}}},
       conv_transpose2d_task},
      {{1, 79},
       "conv_transposed_1D_asymmetric_input_square_kernel___padded____strided____dilated",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_size", 3},
        {"length", 64, 128, 131072},
        {"stride", 2},
        {"padding", 1},
        {"dilation", 2}},
       conv_transpose1d_task},
      {{1, 81},
       "conv_transposed_2D_asymmetric_input_square_kernel___dilated____padded____strided",
       "transposed convolution",
       {{"batch_size", 2, 16, 16},
        {"in_channels", 8, 32, 32},
        {"out_channels", 16, 64, 64},
        {"kernel_size", 3},
        {"height_in", 12, 64, 64},
        {"width_in", 16, 128, 128},
        {"stride", 5},
        {"padding", 1},
        {"dilation", 2}},
       conv_transpose2d_asymmetric},
  };
}

}  // namespace kbench::levels
