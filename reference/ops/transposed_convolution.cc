#include "reference/ops/transposed_convolution.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/parallel.h"
#include "reference/scratch.h"

namespace kbench::reference {
namespace {

/// One dimension's options.
struct Line {
  int64_t kernel, stride, padding, dilation, in, out;
};

/// The outputs o of one dimension with (o + padding) % stride == remainder. They meet every
/// (stride / gcd)-th tap only, and neighbours among them meet neighbouring inputs: a convolution of
/// unit stride with those taps in reverse order.
struct Phase {
  int64_t first = 0, count = 0;   ///< outputs: first, first + stride ...
  int64_t tap = 0, tap_step = 1;  ///< taps met, in order of falling distance
  int64_t taps = 0;
  int64_t padding = 0, dilation = 1;  ///< of the convolution; padding may be negative
};

Phase phase_of(const Line& line, int64_t remainder) {
  Phase phase;
  phase.first = ((remainder - line.padding) % line.stride + line.stride) % line.stride;
  if (phase.first < line.out) phase.count = (line.out - phase.first - 1) / line.stride + 1;
  // Output first + t * stride gets tap u from input (first + padding - u * dilation) / stride + t.
  const int64_t common = std::gcd(line.stride, line.dilation);
  int64_t lowest = 0;
  while (lowest < line.kernel && lowest * line.dilation % line.stride != remainder) ++lowest;
  if (lowest == line.kernel) return phase;
  const int64_t step = line.stride / common;
  phase.taps = (line.kernel - 1 - lowest) / step + 1;
  phase.tap = lowest + (phase.taps - 1) * step;
  phase.tap_step = -step;
  phase.dilation = line.dilation / common;
  phase.padding = (phase.tap * line.dilation - phase.first - line.padding) / line.stride;
  return phase;
}

std::vector<Phase> phases_of(const Line& line) {
  std::vector<Phase> phases;
  for (int64_t r = 0; r < line.stride; ++r) {
    phases.push_back(phase_of(line, r));
    if (phases.back().count == 0) phases.pop_back();
  }
  return phases;
}

template <class T>
class Transposed {
 public:
  Transposed(const T* x, const T* weight, const T* bias, const ConvExtents& e, T* y)
      : x_(x), weight_(weight), bias_(bias), e_(e), y_(y) {
    const auto& [kernel, stride, padding, dilation] = e.window;
    lines_[0] = {e.depth.kernel,   e.depth.stride, e.depth.padding,
                 e.depth.dilation, e.depth.in,     e.depth.out};
    for (int i = 0; i < 2; ++i) {
      lines_[1 + i] = {kernel[i], stride[i], padding[i], dilation[i], e.in[i], e.out[i]};
    }
  }

  void run() const {
    Scratch<T> weights(e_.channels * (e_.out_channels / e_.groups) * lines_[0].kernel *
                       lines_[1].kernel * lines_[2].kernel);
    const auto rows = phases_of(lines_[1]), columns = phases_of(lines_[2]);
    for (const Phase& depth : phases_of(lines_[0])) {
      for (const Phase& row : rows) {
        for (const Phase& column : columns) phase({depth, row, column}, weights.get());
      }
    }
  }

 private:
  using Phases = std::array<Phase, 3>;

  void phase(const Phases& p, T* weights) const {
    const int64_t row = lines_[2].out, plane = lines_[1].out * row, volume = lines_[0].out * plane;
    const OutputStrides strides = {e_.out_channels * volume, volume, lines_[0].stride * plane,
                                   lines_[1].stride * row, lines_[2].stride};
    T* to = y_ + p[0].first * plane + p[1].first * row + p[2].first;
    if (p[0].taps * p[1].taps * p[2].taps == 0) return fill(p, strides, to);
    gather_weights(p, weights);
    ConvExtents e = {.batch = e_.batch,
                     .channels = e_.channels,
                     .out_channels = e_.out_channels,
                     .groups = e_.groups,
                     .in = e_.in,
                     .out = {p[1].count, p[2].count},
                     .window = {{p[1].taps, p[2].taps},
                                {1, 1},
                                {p[1].padding, p[2].padding},
                                {p[1].dilation, p[2].dilation}},
                     .depth = {.kernel = p[0].taps,
                               .padding = p[0].padding,
                               .dilation = p[0].dilation,
                               .in = e_.depth.in,
                               .out = p[0].count}};
    convolve_into(x_, weights, bias_, e, strides, to);
  }

  /// The phase's taps as a convolution's weights: [out_channels, channels / groups, taps].
  void gather_weights(const Phases& p, T* weights) const {
    const int64_t out_group = e_.out_channels / e_.groups, in_group = e_.channels / e_.groups;
    const int64_t kernel = lines_[0].kernel * lines_[1].kernel * lines_[2].kernel;
    const int64_t taps = p[0].taps * p[1].taps * p[2].taps;
    parallel_for(e_.out_channels, grain_of(in_group * taps), [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        T* to = weights + o * in_group * taps;
        for (int64_t c = 0; c < in_group; ++c) {
          const int64_t channel = o / out_group * in_group + c;
          const T* from = weight_ + (channel * out_group + o % out_group) * kernel;
          for (int64_t i = 0; i < p[0].taps; ++i) {
            for (int64_t j = 0; j < p[1].taps; ++j) {
              const int64_t at = ((p[0].tap + i * p[0].tap_step) * lines_[1].kernel + p[1].tap +
                                  j * p[1].tap_step) *
                                 lines_[2].kernel;
              for (int64_t k = 0; k < p[2].taps; ++k) {
                *to++ = from[at + p[2].tap + k * p[2].tap_step];
              }
            }
          }
        }
      }
    });
  }

  /// Outputs that no input reaches.
  void fill(const Phases& p, const OutputStrides& strides, T* to) const {
    const int64_t outputs = p[0].count * p[1].count * p[2].count;
    parallel_for(e_.batch * e_.out_channels, grain_of(outputs), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T value = bias_ != nullptr ? bias_[i % e_.out_channels] : T(0);
        for (int64_t j = 0; j < p[0].count * p[1].count; ++j) {
          T* row = to + i * strides.channel + j / p[1].count * strides.depth +
                   j % p[1].count * strides.row;
          for (int64_t k = 0; k < p[2].count; ++k) row[k * strides.column] = value;
        }
      }
    });
  }

  const T* x_;
  const T* weight_;
  const T* bias_;
  const ConvExtents& e_;
  T* y_;
  std::array<Line, 3> lines_;
};

}  // namespace

template <class T>
void convolve_transposed(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                         T* y) {
  Transposed<T>(x, weight, bias, extents, y).run();
}

template void convolve_transposed<float>(const float*, const float*, const float*,
                                         const ConvExtents&, float*);
template void convolve_transposed<double>(const double*, const double*, const double*,
                                          const ConvExtents&, double*);

}  // namespace kbench::reference
