#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/ops/convolution.h"
#include "reference/parallel.h"
#include "reference/scratch.h"

namespace kbench::reference {

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
