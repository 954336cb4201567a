// Convolution as a matrix product, [out_channels, depth] x [depth, positions], depth being channels
// and taps. The matrix of windows is never built whole: a block of positions gathers its part, a
// few hundred kilobytes, and multiplies it while it is in the cache.
#include "reference/ops/convolution.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/arrays.h"
#include "reference/blas.h"
#include "reference/call.h"
#include "reference/parallel.h"
#include "reference/scratch.h"

namespace kbench::reference {
namespace {

/// Neighbouring elements of a row of x, and where they go.
struct Run {
  int64_t from, to, count;
};

template <class T>
class Convolution {
 public:
  Convolution(const T* x, const T* weight, const T* bias, const ConvExtents& e,
              const OutputSteps& steps, T* y)
      : e_(e), steps_(steps), x_(x), weight_(weight), bias_(bias), y_(y) {}

  void run() const {
    // Blocks of positions and, where those are few and the work is not, of output channels.
    constexpr int64_t kLeast = 64, kMost = 512, kBlocks = 32, kWork = 1 << 22;
    const int64_t positions = e_.batch * product(e_.out);
    const int64_t width = std::clamp(positions * e_.groups / kBlocks / 16 * 16, kLeast, kMost);
    const int64_t blocks = (positions + width - 1) / width;
    const int64_t work = depth_ * group_rows_ * std::min(width, positions);
    const int64_t parts = std::clamp<int64_t>(
        std::min({kBlocks / (blocks * e_.groups), work / kWork, group_rows_ / 16}), 1, kBlocks);
    parallel_tasks(blocks * e_.groups * parts, [&](int64_t i) {
      const int64_t part = i % parts, group = i / parts % e_.groups,
                    first = i / parts / e_.groups * width;
      const int64_t row = group_rows_ * part / parts;
      block(group, row, group_rows_ * (part + 1) / parts - row, first,
            std::min(width, positions - first));
    });
  }

 private:
  /// Outputs of `rows` channels of a group from `row` on, at `count` positions from `first` on;
  /// positions are numbered through all images.
  void block(int64_t group, int64_t row, int64_t rows, int64_t first, int64_t count) const {
    constexpr int64_t kMostDepth = 256;
    const int64_t out_channel = group * group_rows_ + row, in = product(e_.in);
    const Scratch<T> sums(rows * count);
    if (taps_ == 0) {  // a transposed convolution's outputs that no input reaches
      std::fill_n(sums.get(), rows * count, T(0));
      return write(out_channel, rows, first, count, sums.get());
    }
    const int64_t at_once = std::clamp<int64_t>(kMostDepth / taps_, 1, group_channels_);
    const std::vector<Run> runs = runs_of(first, count);
    const Scratch<T> windows(at_once * taps_ * count);
    std::fill_n(windows.get(), at_once * taps_ * count, T(0));  // runs leave what is padding
    for (int64_t channel = 0; channel < group_channels_; channel += at_once) {
      const int64_t channels = std::min(at_once, group_channels_ - channel);
      for (int64_t c = 0; c < channels; ++c) {
        gather(x_ + (group * group_channels_ + channel + c) * in, runs,
               windows.get() + c * taps_ * count);
      }
      gemm<T>(rows, count, channels * taps_,
              {weight_ + out_channel * depth_ + channel * taps_, depth_}, {windows.get(), count},
              T(channel > 0), sums.get(), count);
    }
    write(out_channel, rows, first, count, sums.get());
  }

  /// Calls visit(image, output depth, output row, first output column, columns, first position) for
  /// the rows of outputs that positions lie in.
  template <class Visit>
  void each_row(int64_t first, int64_t count, const Visit& visit) const {
    for (int64_t at = first, columns; at < first + count; at += columns) {
      const int64_t column = at % e_.out[2], row = at / e_.out[2];
      columns = std::min(e_.out[2] - column, first + count - at);
      visit(row / e_.out[1] / e_.out[0], row / e_.out[1] % e_.out[0], row % e_.out[1], column,
            columns, at - first);
    }
  }

  /// What the windows at those positions meet inside x's first channel, to [taps, count].
  std::vector<Run> runs_of(int64_t first, int64_t count) const {
    std::vector<Run> runs;
    each_row(
        first, count,
        [&](int64_t image, int64_t depth, int64_t row, int64_t column, int64_t columns,
            int64_t at) {
          for (int64_t tap = 0; tap < taps_; ++tap) {
            const Triple u = {tap / e_.kernel[2] / e_.kernel[1], tap / e_.kernel[2] % e_.kernel[1],
                              tap % e_.kernel[2]};
            const auto offset = [&](int i) { return u[i] * e_.dilation[i] - e_.padding[i]; };
            const int64_t d = depth * e_.stride[0] + offset(0), r = row * e_.stride[1] + offset(1);
            if (d < 0 || d >= e_.in[0] || r < 0 || r >= e_.in[1]) continue;
            const Range valid =
                inside(column * e_.stride[2] + offset(2), e_.stride[2], e_.in[2], columns);
            if (valid.begin == valid.end) continue;
            const int64_t line = (image * e_.channels * e_.in[0] + d) * e_.in[1] + r;
            runs.push_back({line * e_.in[2] + (column + valid.begin) * e_.stride[2] + offset(2),
                            tap * count + at + valid.begin, valid.end - valid.begin});
          }
        });
    return runs;
  }

  void gather(const T* x, const std::vector<Run>& runs, T* windows) const {
    const int64_t stride = e_.stride[2];
    for (const Run& run : runs) {
      const T* from = x + run.from;
      T* to = windows + run.to;
      if (stride == 1) {
        for (int64_t i = 0; i < run.count; ++i) to[i] = from[i];
      } else {
        for (int64_t i = 0; i < run.count; ++i) to[i] = from[i * stride];
      }
    }
  }

  void write(int64_t channel, int64_t rows, int64_t first, int64_t count, const T* sums) const {
    each_row(first, count,
             [&](int64_t image, int64_t depth, int64_t row, int64_t column, int64_t columns,
                 int64_t at) {
               T* y = y_ + image * steps_.batch + channel * steps_.channel +
                      depth * steps_.space[0] + row * steps_.space[1] + column * steps_.space[2];
               for (int64_t r = 0; r < rows; ++r) {
                 const T bias = bias_ != nullptr ? bias_[channel + r] : T(0);
                 array(y + r * steps_.channel, columns, steps_.space[2]) =
                     array(sums + r * count + at, columns) + bias;
               }
             });
  }

  const ConvExtents& e_;
  const OutputSteps& steps_;
  const T *x_, *weight_, *bias_;
  T* y_;
  const int64_t taps_ = product(e_.kernel), group_channels_ = e_.channels / e_.groups;
  const int64_t depth_ = group_channels_ * taps_, group_rows_ = e_.out_channels / e_.groups;
};

constexpr Triple kOnes = {1, 1, 1}, kZeros = {0, 0, 0};

/// One to three values for the innermost dimensions, those further out being `rest`.
Triple triple(std::span<const int64_t> values, int64_t rest) {
  Triple result = {rest, rest, rest};
  std::copy(values.begin(), values.end(), result.end() - static_cast<int64_t>(values.size()));
  return result;
}

Triple spatial(const Shape& shape) { return triple(std::span(shape).subspan(2), 1); }

ConvExtents extents_of(const OperatorCall& call) {
  const Shape& x = call.inputs[0].shape;
  const Shape& y = call.outputs[0].shape;
  return {.batch = x[0],
          .channels = x[1],
          .out_channels = y[1],
          .groups = call.attributes.integer("groups"),
          .in = spatial(x),
          .out = spatial(y),
          .kernel = spatial(call.inputs[1].shape),
          .stride = triple(call.attributes.list("stride"), 1),
          .padding = triple(call.attributes.list("padding"), 0),
          .dilation = triple(call.attributes.list("dilation"), 1)};
}

/// Adds what the taps of one plane of weights give to rows [first, last) of a plane of outputs:
/// each tap meets a rectangle of x.
template <class T>
void add_taps(const T* x, const T* weight, const ConvExtents& e, int64_t first, int64_t last,
              T* y) {
  using Steps = Eigen::Stride<Dynamic, Dynamic>;
  using Plane = Eigen::Map<const Eigen::Array<T, Dynamic, Dynamic, Eigen::RowMajor>, 0, Steps>;
  for (int64_t tap = 0; tap < e.kernel[1] * e.kernel[2]; ++tap) {
    const int64_t u = tap / e.kernel[2], v = tap % e.kernel[2];
    const int64_t down = first * e.stride[1] + u * e.dilation[1] - e.padding[1];
    const int64_t across = v * e.dilation[2] - e.padding[2];
    const Range rows = inside(down, e.stride[1], e.in[1], last - first);
    const Range columns = inside(across, e.stride[2], e.in[2], e.out[2]);
    const int64_t height = rows.end - rows.begin, width = columns.end - columns.begin;
    if (height == 0 || width == 0) continue;
    const int64_t pitch = e.stride[1] * e.in[2];
    const T* from = x + rows.begin * pitch + down * e.in[2] + columns.begin * e.stride[2] + across;
    auto to = table(y + (first + rows.begin) * e.out[2] + columns.begin, height, width, e.out[2]);
    if (e.stride[2] == 1) {  // known to the compiler: vectors
      to += weight[tap] * table(from, height, width, pitch);
    } else {
      to += weight[tap] * Plane(from, height, width, Steps(pitch, e.stride[2]));
    }
  }
}

}  // namespace

template <class T>
void convolve_into(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                   const OutputSteps& steps, T* y) {
  Convolution<T>(x, weight, bias, extents, steps, y).run();
}

template <class T>
void convolve(const T* x, const T* weight, const T* bias, const ConvExtents& extents, T* y) {
  if (is_depthwise(extents)) return convolve_depthwise(x, weight, bias, extents, y);
  ConvExtents e = extents;
  if (e.kernel == kOnes && e.stride == kOnes && e.padding == kZeros) {
    e.in = e.out = {1, 1, product(e.in)};  // every position stands for itself: one long row
  }
  const int64_t row = e.out[2], plane = e.out[1] * row, volume = e.out[0] * plane;
  convolve_into(x, weight, bias, e, {e.out_channels * volume, volume, {plane, row, 1}}, y);
}

#define KBENCH_INSTANTIATE(T)                                                      \
  template void convolve<T>(const T*, const T*, const T*, const ConvExtents&, T*); \
  template void convolve_into<T>(const T*, const T*, const T*, const ConvExtents&, \
                                 const OutputSteps&, T*);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

void run_conv(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    convolve<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2), extents_of(call),
                result<T>(out));
  });
}

void run_conv_transpose(const OperatorCall& call, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    convolve_transposed<T>(elements<T>(in, 0), elements<T>(in, 1), elements<T>(in, 2),
                           extents_of(call), result<T>(out));
  });
}

bool is_depthwise(const ConvExtents& e) {
  constexpr int64_t kFew = 4;
  return e.groups == e.channels && e.groups > 1 && e.out_channels / e.groups <= kFew;
}

template <class T>
void convolve_depthwise(const T* x, const T* weight, const T* bias, const ConvExtents& e, T* y) {
  constexpr int64_t kBand = 2048;  // outputs that stay in the first-level cache with what they read
  const int64_t copies = e.out_channels / e.channels, band = std::max<int64_t>(1, kBand / e.out[2]);
  const int64_t in_plane = e.in[1] * e.in[2], out_plane = e.out[1] * e.out[2];
  const int64_t planes = e.batch * e.out_channels * e.out[0];
  parallel_blocks(planes, grain_of(out_plane * product(e.kernel) / 4), [&](auto begin, auto end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / e.out[0] % e.out_channels, image = i / e.out[0] / e.out_channels;
      const T* channel = x + (image * e.channels + o / copies) * e.in[0] * in_plane;
      T* to = y + i * out_plane;
      array(to, out_plane) = bias != nullptr ? bias[o] : T(0);
      for (int64_t row = 0; row < e.out[1]; row += band) {
        for (int64_t u = 0; u < e.kernel[0]; ++u) {
          const int64_t depth = i % e.out[0] * e.stride[0] + u * e.dilation[0] - e.padding[0];
          if (depth < 0 || depth >= e.in[0]) continue;
          add_taps(channel + depth * in_plane,
                   weight + (o * e.kernel[0] + u) * e.kernel[1] * e.kernel[2], e, row,
                   std::min(row + band, e.out[1]), to);
        }
      }
    }
  });
}

template void convolve_depthwise<float>(const float*, const float*, const float*,
                                        const ConvExtents&, float*);
template void convolve_depthwise<double>(const double*, const double*, const double*,
                                         const ConvExtents&, double*);

/// The outputs o of one dimension with (o + padding) % stride == remainder. They meet every
/// (stride / gcd)-th tap only, and neighbours among them meet neighbouring inputs: a convolution of
/// unit stride with those taps in reverse order.
struct Phase {
  int64_t first = 0, count = 0;   ///< outputs: first, first + stride ...
  int64_t tap = 0, tap_step = 1;  ///< taps met: tap, tap - tap_step ...
  int64_t taps = 0;
  int64_t padding = 0, dilation = 1;  ///< of the convolution; padding may be negative
};

using Phases = std::array<Phase, 3>;

namespace {

/// The phases of dimension i that have outputs.
std::vector<Phase> phases_of(const ConvExtents& e, int i) {
  const int64_t stride = e.stride[i], dilation = e.dilation[i], kernel = e.kernel[i];
  const int64_t common = std::gcd(stride, dilation);
  std::vector<Phase> phases;
  for (int64_t remainder = 0; remainder < stride; ++remainder) {
    Phase phase = {.tap_step = stride / common, .dilation = dilation / common};
    phase.first = ((remainder - e.padding[i]) % stride + stride) % stride;
    if (phase.first >= e.out[i]) continue;
    phase.count = (e.out[i] - phase.first - 1) / stride + 1;
    int64_t lowest = 0;
    while (lowest < kernel && lowest * dilation % stride != remainder) ++lowest;
    if (lowest < kernel) {
      phase.taps = (kernel - 1 - lowest) / phase.tap_step + 1;
      phase.tap = lowest + (phase.taps - 1) * phase.tap_step;
      // Output first + t * stride gets tap u from input (first + padding - u * dilation) / stride +
      // t.
      phase.padding = (phase.tap * dilation - phase.first - e.padding[i]) / stride;
    }
    phases.push_back(phase);
  }
  return phases;
}

/// The phases' taps as a convolution's weights: [out_channels, channels / groups, taps].
template <class T>
void gather_weights(const T* weight, const ConvExtents& e, const Phases& p, T* to) {
  const int64_t out_group = e.out_channels / e.groups, in_group = e.channels / e.groups;
  for (int64_t o = 0; o < e.out_channels; ++o) {
    for (int64_t c = 0; c < in_group; ++c) {
      const int64_t channel = o / out_group * in_group + c;
      const T* from = weight + (channel * out_group + o % out_group) * product(e.kernel);
      for (int64_t i = 0; i < p[0].taps; ++i) {
        for (int64_t j = 0; j < p[1].taps; ++j) {
          for (int64_t k = 0; k < p[2].taps; ++k) {
            *to++ =
                from[((p[0].tap - i * p[0].tap_step) * e.kernel[1] + p[1].tap - j * p[1].tap_step) *
                         e.kernel[2] +
                     p[2].tap - k * p[2].tap_step];
          }
        }
      }
    }
  }
}

}  // namespace

template <class T>
void convolve_transposed(const T* x, const T* weight, const T* bias, const ConvExtents& e, T* y) {
  std::vector<Phases> all;
  for (const Phase& depth : phases_of(e, 0)) {
    for (const Phase& row : phases_of(e, 1)) {
      for (const Phase& column : phases_of(e, 2)) all.push_back({depth, row, column});
    }
  }
  const int64_t row = e.out[2], plane = e.out[1] * row, volume = e.out[0] * plane;
  parallel_tasks(static_cast<int64_t>(all.size()), [&](int64_t i) {
    const Phases& p = all[i];
    const ConvExtents convolution = {.batch = e.batch,
                                     .channels = e.channels,
                                     .out_channels = e.out_channels,
                                     .groups = e.groups,
                                     .in = e.in,
                                     .out = {p[0].count, p[1].count, p[2].count},
                                     .kernel = {p[0].taps, p[1].taps, p[2].taps},
                                     .padding = {p[0].padding, p[1].padding, p[2].padding},
                                     .dilation = {p[0].dilation, p[1].dilation, p[2].dilation}};
    const Scratch<T> weights(e.out_channels * (e.channels / e.groups) *
                             product(convolution.kernel));
    gather_weights(weight, e, p, weights.get());
    convolve_into(
        x, weights.get(), bias, convolution,
        {e.out_channels * volume, volume, {e.stride[0] * plane, e.stride[1] * row, e.stride[2]}},
        y + p[0].first * plane + p[1].first * row + p[2].first);
  });
}

template void convolve_transposed<float>(const float*, const float*, const float*,
                                         const ConvExtents&, float*);
template void convolve_transposed<double>(const double*, const double*, const double*,
                                          const ConvExtents&, double*);

}  // namespace kbench::reference
