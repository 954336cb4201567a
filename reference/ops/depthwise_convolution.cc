#include "reference/ops/depthwise_convolution.h"

#include <algorithm>
#include <vector>

#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"
#include "reference/windows.h"

namespace kbench::reference {
namespace {

/// Works through bands of output rows. Of the input rows a band needs, a padded copy is made,
/// sorted by the remainders of row and column modulo the strides: [row phase, column phase, row,
/// column]. In it each tap meets the whole band as one run (of rows as long as the copy's, their
/// ends not used), so that a band is one pass over contiguous memory whatever its shape.
template <class T>
class Band {
 public:
  explicit Band(const ConvExtents& e)
      : e_(e),
        k_(kernels<T>()),
        phases_{std::min(e.window.stride[0], reach(0) + 1),
                std::min(e.window.stride[1], reach(1) + 1)},
        pitch_(e.out[1] + reach(1) / e.window.stride[1]),
        rows_(std::clamp<int64_t>(kCopyElements / (phases_[0] * phases_[1] * pitch_), 1, e.out[0])),
        phase_rows_(rows_ + reach(0) / e.window.stride[0]),
        copy_(phases_[0] * phases_[1] * phase_rows_ * pitch_ + kRunSlack),
        sums_(rows_ * pitch_ + kRunSlack) {
    // What lies past the copy's end is read into sums that are not used; it must be readable.
    std::fill_n(copy_.get() + phases_[0] * phases_[1] * phase_rows_ * pitch_, kRunSlack, T(0));
    const auto& [kernel, stride, padding, dilation] = e.window;
    for (int64_t u = 0; u < kernel[0]; ++u) {
      for (int64_t v = 0; v < kernel[1]; ++v) {
        const int64_t down = u * dilation[0], across = v * dilation[1];
        const int64_t phase = down % stride[0] * phases_[1] + across % stride[1];
        offsets_.push_back((phase * phase_rows_ + down / stride[0]) * pitch_ + across / stride[1]);
      }
    }
  }

  /// Input rows for output rows [first, first + count), count <= rows().
  void load(const T* plane, int64_t first, int64_t count) {
    const auto& [kernel, stride, padding, dilation] = e_.window;
    const int64_t needed = count + reach(0) / stride[0];
    for (int64_t i = 0; i < phases_[0]; ++i) {
      for (int64_t j = 0; j < phases_[1]; ++j) {
        T* to = copy_.get() + (i * phases_[1] + j) * phase_rows_ * pitch_;
        const int64_t offset = j - padding[1];
        const Range valid = inside(offset, stride[1], e_.in[1], pitch_);
        for (int64_t r = 0; r < needed; ++r, to += pitch_) {
          const int64_t row = (first + r) * stride[0] + i - padding[0];
          if (row < 0 || row >= e_.in[0]) {
            std::fill_n(to, pitch_, T(0));
            continue;
          }
          std::fill(to, to + valid.begin, T(0));
          k_.copy_strided(plane + row * e_.in[1] + valid.begin * stride[1] + offset, stride[1],
                          to + valid.begin, valid.end - valid.begin);
          std::fill(to + valid.end, to + pitch_, T(0));
        }
      }
    }
  }

  void convolve(const T* weight, T bias, int64_t first, int64_t count, T* plane) {
    k_.correlate(copy_.get(), offsets_.data(), weight, static_cast<int64_t>(offsets_.size()), bias,
                 sums_.get(), (count - 1) * pitch_ + e_.out[1]);
    for (int64_t r = 0; r < count; ++r) {
      std::copy_n(sums_.get() + r * pitch_, e_.out[1], plane + (first + r) * e_.out[1]);
    }
  }

  int64_t rows() const { return rows_; }

 private:
  static constexpr int64_t kCopyElements = 4096;  // stay in the first-level cache

  int64_t reach(int dim) const { return (e_.window.kernel[dim] - 1) * e_.window.dilation[dim]; }

  const ConvExtents& e_;
  const Kernels<T>& k_;
  std::array<int64_t, 2> phases_;
  int64_t pitch_, rows_, phase_rows_;
  Scratch<T> copy_, sums_;
  std::vector<int64_t> offsets_;
};

}  // namespace

bool is_depthwise(const ConvExtents& e) {
  constexpr int64_t kFew = 4;
  return e.groups == e.channels && e.groups > 1 && e.out_channels / e.groups <= kFew &&
         e.depth.kernel == 1 && e.depth.stride == 1 && e.depth.padding == 0;
}

template <class T>
void convolve_depthwise(const T* x, const T* weight, const T* bias, const ConvExtents& e, T* y) {
  const int64_t copies = e.out_channels / e.channels, depth = e.depth.in;
  const int64_t taps = e.window.kernel[0] * e.window.kernel[1];
  const int64_t in_plane = e.in[0] * e.in[1], out_plane = e.out[0] * e.out[1];
  const int64_t work = (in_plane + copies * taps * out_plane) / 4;
  parallel_for(e.batch * e.channels * depth, grain_of(work), [&](int64_t begin, int64_t end) {
    Band<T> band(e);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / (e.channels * depth), channel = i / depth % e.channels;
      for (int64_t first = 0; first < e.out[0]; first += band.rows()) {
        const int64_t count = std::min(band.rows(), e.out[0] - first);
        band.load(x + i * in_plane, first, count);
        for (int64_t o = channel * copies; o < (channel + 1) * copies; ++o) {
          band.convolve(weight + o * taps, bias != nullptr ? bias[o] : T(0), first, count,
                        y + ((image * e.out_channels + o) * depth + i % depth) * out_plane);
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
