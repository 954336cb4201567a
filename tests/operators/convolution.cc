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

}  // namespace

std::vector<Definition> convolution_definitions() {
  std::vector<Definition> all;
  for (const char* dims : {"1d", "2d", "3d"}) {
    all.push_back({std::string("conv") + dims, conv});
    all.push_back({std::string("conv_transpose") + dims, conv_transpose});
  }
  return all;
}

}  // namespace kbench::definitions
