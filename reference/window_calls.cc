#include <array>

#include "reference/call.h"
#include "reference/ops/convolution.h"
#include "reference/ops/transposed_convolution.h"

namespace kbench::reference {
namespace {

using Triple = std::array<int64_t, 3>;

/// One to three values for the innermost spatial dimensions, those further out being `rest`.
Triple triple(std::span<const int64_t> values, int64_t rest) {
  Triple result = {rest, rest, rest};
  std::copy(values.begin(), values.end(), result.end() - static_cast<int64_t>(values.size()));
  return result;
}
Triple spatial(const Shape& shape) { return triple(std::span(shape).subspan(2), 1); }
Triple option(const OperatorCall& call, std::string_view name, int64_t rest) {
  return triple(call.attributes.list(name), rest);
}

ConvExtents conv_extents(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const Shape& y = call.outputs[0].shape;
  const Triple in = spatial(x), out = spatial(y), kernel = spatial(call.inputs[1].shape);
  const Triple stride = option(call, "stride", 1), padding = option(call, "padding", 0),
               dilation = option(call, "dilation", 1);
  return {.batch = x[0],
          .channels = x[1],
          .out_channels = y[1],
          .groups = call.attributes.integer("groups"),
          .in = {in[1], in[2]},
          .out = {out[1], out[2]},
          .window = {{kernel[1], kernel[2]},
                     {stride[1], stride[2]},
                     {padding[1], padding[2]},
                     {dilation[1], dilation[2]}},
          .depth = {kernel[0], stride[0], padding[0], dilation[0], in[0], out[0]}};
}

}  // namespace

void run_conv(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    convolve<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2), conv_extents(call),
                out[0].data<T>().data());
  });
}

void run_conv_transpose(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    convolve_transposed<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2),
                           conv_extents(call), out[0].data<T>().data());
  });
}

}  // namespace kbench::reference
