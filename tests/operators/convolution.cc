// Convolutions by walking their windows, transposed ones by scattering. A tap counts its
// multiply-add wherever it falls; a bias counts an addition an output.
#include <algorithm>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

struct Options {
  std::vector<int64_t> stride, padding, dilation, output_padding;
  int64_t groups = 1;
};

/// The call's options, one value a dimension.
Options options_of(const OperatorCall& call, size_t dims) {
  const auto list = [&](const char* name) {
    std::vector<int64_t> values = call.attributes.list(name);
    if (values.size() == 1) values.resize(dims, values[0]);
    return values;
  };
  Options o{
      list("stride"), list("padding"), list("dilation"), {}, call.attributes.integer("groups")};
  if (call.attributes.find("output_padding")) o.output_padding = list("output_padding");
  return o;
}

/// A list for `dims` dimensions, or one value for all of them.
std::vector<int64_t> draw_list(Dice& dice, size_t dims, int64_t lo, int64_t hi) {
  std::vector<int64_t> values(dice.coin() ? 1 : dims);
  for (int64_t& v : values) v = dice.between(lo, hi);
  return values;
}

/// Groups and the extents of x and weight but for the spatial ones; a third of the time each
/// channel is by itself.
struct Channels {
  int64_t groups, in, out;
};
Channels draw_channels(Dice& dice) {
  switch (dice.between(0, 2)) {
    case 0: {
      const int64_t in = dice.extent();
      return {in, in, dice.coin() ? in : dice.extent(in)};
    }
    case 1:
      return {3, dice.extent(3), dice.extent(3)};
    default:
      return {1, dice.extent(), dice.extent()};
  }
}

Sample draw_conv(Dice& dice, size_t dims, bool transposed) {
  Shape kernel(dims);
  for (int64_t& extent : kernel) extent = dice.kernel();
  const Channels c = draw_channels(dice);
  Shape x = {dice.extent(), c.in};
  const auto stride = draw_list(dice, dims, 1, 3), dilation = draw_list(dice, dims, 1, 2);
  // Padding up to what leaves a whole window, or, transposed, one output.
  std::vector<int64_t> padding = draw_list(dice, dims, 0, 3), extra(dims, 0);
  for (size_t d = 0; d < dims; ++d) {
    const int64_t step = stride[stride.size() == 1 ? 0 : d];
    const int64_t spread = dilation[dilation.size() == 1 ? 0 : d];
    const int64_t border = padding[padding.size() == 1 ? 0 : d];
    const int64_t span = spread * (kernel[d] - 1) + 1;
    int64_t extent = dice.extent();
    if (transposed) {
      while ((extent - 1) * step + span - 2 * border < 1) extent = dice.extent();
      extra[d] = dice.between(0, std::max(step, spread) - 1);
    } else {
      while (extent + 2 * border < span) extent = dice.extent();
    }
    x.push_back(extent);
  }
  Shape weight = transposed ? Shape{c.in, c.out / c.groups} : Shape{c.out, c.in / c.groups};
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  Sample sample{{dice.normal(x), dice.normal(weight)},
                {{"stride", stride}, {"padding", padding}, {"dilation", dilation}}};
  if (c.groups != 1) sample.attributes.set("groups", c.groups);
  if (transposed) sample.attributes.set("output_padding", extra);
  if (dice.coin()) sample.inputs.push_back(dice.normal({c.out}));
  return sample;
}

/// How many windows fit, by sliding one along.
int64_t windows(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  int64_t fit = 0;
  for (int64_t at = -padding; at + dilation * (kernel - 1) < in + padding; at += stride) ++fit;
  return fit;
}

Shape spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

void add_bias(const std::vector<Array>& in, Answer& answer) {
  if (in.size() < 3) return;
  for_each_index(answer.outputs[0].shape, [&](const Index& i) {
    answer.outputs[0].at(i) += in[2].at({i[1]});
    answer.flops += 1;
  });
}

Answer conv(const OperatorCall& call, const std::vector<Array>& in) {
  const size_t dims = in[0].shape.size() - 2;
  const Options o = options_of(call, dims);
  const Shape x = spatial(in[0].shape), kernel = spatial(in[1].shape);
  const int64_t in_group = in[1].shape[1], out_group = in[1].shape[0] / o.groups;
  Shape y = {in[0].shape[0], in[1].shape[0]};
  for (size_t d = 0; d < dims; ++d) {
    y.push_back(windows(x[d], kernel[d], o.stride.at(d), o.padding.at(d), o.dilation.at(d)));
  }
  Answer answer{{Array(y)}, 0};
  Index from(dims + 2), weight(dims + 2);
  for_each_index(y, [&](const Index& at) {
    double sum = 0;
    from[0] = at[0];
    weight[0] = at[1];
    for_each_index(kernel, [&](const Index& u) {
      bool inside = true;
      std::copy(u.begin(), u.end(), weight.begin() + 2);
      for (size_t d = 0; d < dims; ++d) {
        from[2 + d] = at[2 + d] * o.stride[d] + u[d] * o.dilation[d] - o.padding[d];
        inside = inside && from[2 + d] >= 0 && from[2 + d] < x[d];
      }
      for (int64_t c = 0; c < in_group; ++c) {
        from[1] = at[1] / out_group * in_group + c;
        weight[1] = c;
        if (inside) sum += in[0].at(from) * in[1].at(weight);
        answer.flops += 2;
      }
    });
    answer.outputs[0].at(at) = sum;
  });
  add_bias(in, answer);
  return answer;
}

/// Every input element is scattered into a canvas that has room for every tap; the output is cut
/// out of the canvas, padding off at both ends and output_padding on at the far one.
Answer conv_transpose(const OperatorCall& call, const std::vector<Array>& in) {
  const size_t dims = in[0].shape.size() - 2;
  const Options o = options_of(call, dims);
  const Shape kernel = spatial(in[1].shape);
  const int64_t out_group = in[1].shape[1], in_group = in[0].shape[1] / o.groups;
  Shape canvas_shape = {in[0].shape[0], out_group * o.groups}, y = canvas_shape;
  for (size_t d = 0; d < dims; ++d) {
    int64_t last = 0;  // the furthest place any tap reaches
    for (int64_t i = 0; i < in[0].shape[2 + d]; ++i) {
      for (int64_t u = 0; u < kernel[d]; ++u) {
        last = std::max(last, i * o.stride.at(d) + u * o.dilation.at(d));
      }
    }
    canvas_shape.push_back(last + 1);
    y.push_back(last + 1 - 2 * o.padding.at(d) + o.output_padding.at(d));
  }
  Answer answer{{Array(y)}, 0};
  Array canvas(canvas_shape);
  Index to(dims + 2), weight(dims + 2);
  for_each_index(in[0].shape, [&](const Index& at) {
    const double v = in[0].at(at);
    to[0] = at[0];
    weight[0] = at[1];
    for_each_index(kernel, [&](const Index& u) {
      std::copy(u.begin(), u.end(), weight.begin() + 2);
      for (size_t d = 0; d < dims; ++d) to[2 + d] = at[2 + d] * o.stride[d] + u[d] * o.dilation[d];
      for (int64_t c = 0; c < out_group; ++c) {
        to[1] = at[1] / in_group * out_group + c;
        weight[1] = c;
        canvas.at(to) += v * in[1].at(weight);
        answer.flops += 2;
      }
    });
  });
  for_each_index(y, [&](const Index& at) {
    Index from = at;
    bool inside = true;
    for (size_t d = 0; d < dims; ++d) {
      from[2 + d] += o.padding[d];
      inside = inside && from[2 + d] < canvas.shape[2 + d];
    }
    answer.outputs[0].at(at) = inside ? canvas.at(from) : 0;
  });
  add_bias(in, answer);
  return answer;
}

Definition definition(bool transposed, size_t dims) {
  Definition d;
  d.op = (transposed ? "conv_transpose" : "conv") + std::to_string(dims) + "d";
  d.draw = [=](Dice& dice) { return draw_conv(dice, dims, transposed); };
  d.work_out = transposed ? conv_transpose : conv;
  return d;
}

}  // namespace

std::vector<Definition> convolution_definitions() {
  std::vector<Definition> all;
  for (bool transposed : {false, true}) {
    for (size_t dims = 1; dims <= 3; ++dims) all.push_back(definition(transposed, dims));
  }
  return all;
}

}  // namespace kbench::definitions
