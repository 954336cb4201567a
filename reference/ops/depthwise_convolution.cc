#include "reference/arrays.h"
#include "reference/ops/convolution.h"
#include "reference/parallel.h"
#include "reference/windows.h"

namespace kbench::reference {
namespace {

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

}  // namespace kbench::reference
