// Pooling by walking its windows. A tap counts a comparison or an addition wherever it falls.
#include <algorithm>
#include <limits>

#include "tests/operators/definition.h"

namespace kbench::definitions {
namespace {

struct Dimension {
  int64_t in, kernel, stride, padding, dilation;
};

/// The dimensions' extents and options, one value an option standing for every dimension.
std::vector<Dimension> dimensions_of(const OperatorCall& call) {
  std::vector<Dimension> all;
  const Shape& x = call.inputs[0].shape;
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    const auto option = [&](const char* name, int64_t otherwise) {
      if (call.attributes.find(name) == nullptr) return otherwise;
      const auto& list = call.attributes.list(name);
      return list.size() == 1 ? list[0] : list.at(d);
    };
    all.push_back({x[2 + d], option("kernel", 1), option("stride", 1), option("padding", 0),
                   option("dilation", 1)});
  }
  return all;
}

/// Slides a window along until the next one would hang over the end of the padding. With ceil_mode
/// one more follows where elements are left over, if it begins before the padding at the end.
int64_t windows(const Dimension& d, bool ceil_mode) {
  const int64_t reach = d.dilation * (d.kernel - 1), end = d.in + d.padding;
  int64_t count = 0, at = -d.padding;
  while (at + reach < end) {
    ++count;
    at += d.stride;
  }
  const bool left_over = at - d.stride + reach + 1 < end;
  return ceil_mode && left_over && at < d.in ? count + 1 : count;
}

Answer pool(const OperatorCall& call, const std::vector<Array>& in) {
  const bool largest = call.op->name.starts_with("max");
  const auto dimensions = dimensions_of(call);
  Shape y = {in[0].shape[0], in[0].shape[1]}, kernel;
  for (const Dimension& d : dimensions) {
    y.push_back(windows(d, call.attributes.flag("ceil_mode")));
    kernel.push_back(d.kernel);
  }
  Answer answer{{Array(y)}, 0};
  for_each_index(y, [&](const Index& at) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    int64_t counted = 0;  // places inside the input or its padding
    Index from = at;
    for_each_index(kernel, [&](const Index& u) {
      bool inside = true, padded = true;
      for (size_t k = 0; k < dimensions.size(); ++k) {
        const Dimension& d = dimensions[k];
        from[2 + k] = at[2 + k] * d.stride + u[k] * d.dilation - d.padding;
        inside = inside && from[2 + k] >= 0 && from[2 + k] < d.in;
        padded = padded && from[2 + k] < d.in + d.padding;
      }
      const double v = inside ? in[0].at(from) : 0;
      if (inside) max = std::max(max, v);
      sum += v;
      counted += padded ? 1 : 0;
      answer.flops += 1;
    });
    answer.outputs[0].at(at) = largest ? max : sum / static_cast<double>(counted);
  });
  return answer;
}

/// Cell i of n covers [i, i + 1) / n of the dimension: every element it overlaps belongs to it.
bool overlaps(int64_t element, int64_t in, int64_t cell, int64_t out) {
  return element * out < (cell + 1) * in && (element + 1) * out > cell * in;
}

Answer adaptive(const OperatorCall& call, const std::vector<Array>& in) {
  std::vector<int64_t> output = call.attributes.list("output");
  if (output.size() == 1) output.push_back(output[0]);
  const Shape& x = in[0].shape;
  Answer answer{{Array({x[0], x[1], output.at(0), output.at(1)})}, 0};
  for_each_index(answer.outputs[0].shape, [&](const Index& at) {
    double sum = 0, count = 0;
    for (int64_t row = 0; row < x[2]; ++row) {
      for (int64_t column = 0; column < x[3]; ++column) {
        if (!overlaps(row, x[2], at[2], output[0])) continue;
        if (!overlaps(column, x[3], at[3], output[1])) continue;
        sum += in[0].at({at[0], at[1], row, column});
        count += 1;
      }
    }
    answer.flops += count;
    answer.outputs[0].at(at) = sum / count;
  });
  return answer;
}

}  // namespace

std::vector<Definition> pooling_definitions() {
  return {{"max_pool1d", pool},
          {"max_pool2d", pool},
          {"max_pool3d", pool},
          {"avg_pool1d", pool},
          {"avg_pool2d", pool},
          {"avg_pool3d", pool},
          {"adaptive_avg_pool2d", adaptive}};
}

}  // namespace kbench::definitions
