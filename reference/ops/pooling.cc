// Pooling over windows in up to three spatial dimensions; one or two are three with extents of 1.
#include <array>
#include <cmath>

#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

using Triple = std::array<int64_t, 3>;

struct Windows {
  int64_t planes = 1;  ///< batch and channels
  Triple in, out, kernel, stride, padding, dilation;

  explicit Windows(const OperatorCall& call) {
    const Shape& x = call.inputs[0].shape;
    const Shape& y = call.outputs[0].shape;
    const auto triple = [](std::span<const int64_t> values, int64_t rest) {
      Triple result = {rest, rest, rest};
      std::copy(values.begin(), values.end(), result.end() - std::ssize(values));
      return result;
    };
    const auto option = [&](const char* name, int64_t rest) {
      return triple(call.attributes.list(name), rest);
    };
    planes = x[0] * x[1];
    in = triple(std::span(x).subspan(2), 1);
    out = triple(std::span(y).subspan(2), 1);
    kernel = option("kernel", 1);
    stride = option("stride", 1);
    padding = option("padding", 0);
    dilation = call.attributes.find("dilation") ? option("dilation", 1) : Triple{1, 1, 1};
  }

  /// Places of window i along a dimension that lie inside input or padding.
  int64_t counted(int dim, int64_t i) const {
    return std::min(kernel[dim], in[dim] + 2 * padding[dim] - i * stride[dim]);
  }
};

/// Pools in two steps. A row of outputs needs the same rows of x at every column: those are
/// combined into one row first, between columns of padding, then windows along it. combine(to,
/// from) takes in one more tap, from nothing being `start`; finish(depth, row, y) ends a row of
/// outputs.
template <class T, class Combine, class Finish>
void pool(const Windows& w, const T* x, T start, const Combine& combine, T* y,
          const Finish& finish) {
  const Triple &in = w.in, &out = w.out, &kernel = w.kernel;
  const Triple &stride = w.stride, &padding = w.padding, &dilation = w.dilation;
  const int64_t span = (out[2] - 1) * stride[2] + 1;  // places at which windows may begin
  const int64_t length = std::max(padding[2] + in[2], span + (kernel[2] - 1) * dilation[2]);
  const int64_t work = (kernel[0] * kernel[1] * in[2] + kernel[2] * span) / 8 + out[2];
  parallel_blocks(w.planes * out[0] * out[1], grain_of(work), [&](int64_t begin, int64_t end) {
    std::vector<T> memory(length + span);
    auto line = array(memory.data(), length), windows = array(memory.data() + length, span);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plane = i / (out[0] * out[1]), depth = i / out[1] % out[0], row = i % out[1];
      line.setConstant(start);
      for (int64_t u = 0; u < kernel[0]; ++u) {
        const int64_t d = depth * stride[0] + u * dilation[0] - padding[0];
        if (d < 0 || d >= in[0]) continue;
        for (int64_t v = 0; v < kernel[1]; ++v) {
          const int64_t r = row * stride[1] + v * dilation[1] - padding[1];
          if (r < 0 || r >= in[1]) continue;
          combine(line.segment(padding[2], in[2]),
                  array(x + ((plane * in[0] + d) * in[1] + r) * in[2], in[2]));
        }
      }
      windows = line.head(span);
      for (int64_t tap = 1; tap < kernel[2]; ++tap) {
        combine(windows, line.segment(tap * dilation[2], span));
      }
      auto to = array(y + i * out[2], out[2]);
      to = array(windows.data(), out[2], stride[2]);
      finish(depth, row, to);
    }
  });
}

}  // namespace

void run_max_pool(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    pool(
        Windows(call), elements<T>(in, 0), -std::numeric_limits<T>::infinity(),
        [](auto to, const auto& from) { to = larger(to, from); }, result<T>(out),
        [](int64_t, int64_t, const auto&) {});
  });
}

void run_avg_pool(const OperatorCall& call, Inputs in, Outputs out) {
  const Windows w(call);
  with_type(out[0], [&]<class T>() {
    pool(
        w, elements<T>(in, 0), T(0), [](auto to, const auto& from) { to += from; }, result<T>(out),
        [&](int64_t depth, int64_t row, auto& to) {
          const int64_t lines = w.counted(0, depth) * w.counted(1, row), last = to.size() - 1;
          to.head(last) /= static_cast<T>(lines * w.kernel[2]);
          to[last] /= static_cast<T>(lines * w.counted(2, last));  // what may hang over
        });
  });
}

void run_adaptive_avg_pool2d(const OperatorCall&, Inputs in, Outputs out) {
  const Shape& from = in[0].shape();
  const Shape& to = out[0].shape();
  const auto first = [&](int dim, int64_t i) { return i * from[dim] / to[dim]; };
  const auto last = [&](int dim, int64_t i) {
    return ((i + 1) * from[dim] + to[dim] - 1) / to[dim];
  };
  with_type(out[0], [&]<class T>() {
    const int64_t work = from[2] * from[3] / to[2];
    parallel_blocks(to[0] * to[1] * to[2], grain_of(work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* plane = elements<T>(in, 0) + i / to[2] * from[2] * from[3];
        const int64_t top = first(2, i % to[2]), rows = last(2, i % to[2]) - top;
        for (int64_t j = 0; j < to[3]; ++j) {
          const int64_t left = first(3, j), columns = last(3, j) - left;
          double total = 0;
          for (int64_t r = top; r < top + rows; ++r) {
            const auto row = array(plane + r * from[3] + left, columns);
            total = is_sequential() ? sum_in_turn(row, static_cast<T>(total)) : total + sum(row);
          }
          result<T>(out)[i * to[3] + j] =
              static_cast<T>(total / static_cast<double>(rows * columns));
        }
      }
    });
  });
}

}  // namespace kbench::reference
