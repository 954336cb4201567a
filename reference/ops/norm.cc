#include "reference/ops/norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

/// Chan's rule for the moments of two samples together.
void combine(Moments& total, const Moments& part) {
  const double count = total.count + part.count, delta = part.mean - total.mean;
  if (part.count == 0) return;
  total.m2 += part.m2 + delta * delta * total.count * part.count / count;
  total.mean += delta * part.count / count;
  total.count = count;
}

double inverse_deviation(const Moments& moments, double eps) {
  return 1 / std::sqrt(moments.m2 / moments.count + eps);
}

/// Moments of one long row, its pieces in parallel and combined in order.
template <class T>
Moments long_moments(const T* x, int64_t n) {
  constexpr int64_t kPiece = 1 << 16;
  std::vector<Moments> parts((n + kPiece - 1) / kPiece);
  parallel_for(static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      parts[i] = kernels<T>().moments(x + i * kPiece, std::min(kPiece, n - i * kPiece));
    }
  });
  Moments total;
  for (const Moments& part : parts) combine(total, part);
  return total;
}

/// The row's elements [begin, end), normalised.
template <class T>
void normalize(const T* x, const Moments& moments, const T* weight, const T* bias, double eps, T* y,
               int64_t begin, int64_t end) {
  const T mean = static_cast<T>(moments.mean);
  const T scale = static_cast<T>(inverse_deviation(moments, eps));
  if (weight != nullptr) {
    kernels<T>().affine_each(x + begin, mean, scale, weight + begin, bias + begin, y + begin,
                             end - begin);
  } else {
    kernels<T>().affine(x + begin, mean, scale, T(0), y + begin, end - begin);
  }
}

}  // namespace

template <class T>
void batch_norm(const T* x, int64_t batch, int64_t channels, int64_t inner, const T* weight,
                const T* bias, double eps, T* y) {
  const auto affine = [&](int64_t channel, const Moments& moments, const T* from, T* to,
                          int64_t n) {
    const double scale =
        inverse_deviation(moments, eps) * (weight != nullptr ? weight[channel] : 1.0);
    kernels<T>().affine(from, static_cast<T>(moments.mean), static_cast<T>(scale),
                        bias != nullptr ? bias[channel] : T(0), to, n);
  };
  constexpr int64_t kLine = 16;  // elements that should be read together
  if (inner >= kLine) {
    return parallel_for(channels, grain_of(batch * inner), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        Moments moments;
        for (int64_t b = 0; b < batch; ++b) {
          combine(moments, kernels<T>().moments(x + (b * channels + c) * inner, inner));
        }
        for (int64_t b = 0; b < batch; ++b) {
          const int64_t at = (b * channels + c) * inner;
          affine(c, moments, x + at, y + at, inner);
        }
      }
    });
  }
  // Short runs: a block of channels is gathered, one after another, worked on and scattered.
  const int64_t block = std::min(channels, kLine / inner);
  const int64_t blocks = (channels + block - 1) / block, n = batch * inner;
  parallel_for(blocks, grain_of(n * block), [&](int64_t begin, int64_t end) {
    Scratch<T> gathered(block * n);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * block, count = std::min(block, channels - first);
      const auto each = [&](const auto& visit) {
        for (int64_t b = 0; b < batch; ++b) {
          for (int64_t c = 0; c < count; ++c) {
            for (int64_t s = 0; s < inner; ++s) {
              visit((b * channels + first + c) * inner + s, c * n + b * inner + s);
            }
          }
        }
      };
      each([&](int64_t at, int64_t g) { gathered[g] = x[at]; });
      for (int64_t c = 0; c < count; ++c) {
        T* row = gathered.get() + c * n;
        affine(first + c, kernels<T>().moments(row, n), row, row, n);
      }
      each([&](int64_t at, int64_t g) { y[at] = gathered[g]; });
    }
  });
}

template <class T>
void group_norm(const T* x, int64_t batch, int64_t channels, int64_t inner, int64_t groups,
                const T* weight, const T* bias, double eps, T* y) {
  if (inner == 1 && groups == 1) return layer_norm(x, batch, channels, weight, bias, eps, y);
  const int64_t rows = batch * groups, members = channels / groups, n = members * inner;
  /// Channels [begin, end) of the row's group.
  const auto normalize_channels = [&](int64_t row, const Moments& moments, int64_t begin,
                                      int64_t end) {
    const int64_t at = row * n, channel = row % groups * members;
    const T mean = static_cast<T>(moments.mean);
    const double scale = inverse_deviation(moments, eps);
    if (inner == 1 && weight != nullptr) {
      return kernels<T>().affine_each(x + at + begin, mean, static_cast<T>(scale),
                                      weight + channel + begin, bias + channel + begin,
                                      y + at + begin, end - begin);
    }
    if (weight == nullptr) {
      return kernels<T>().affine(x + at + begin * inner, mean, static_cast<T>(scale), T(0),
                                 y + at + begin * inner, (end - begin) * inner);
    }
    for (int64_t c = begin; c < end; ++c) {
      kernels<T>().affine(x + at + c * inner, mean, static_cast<T>(scale * weight[channel + c]),
                          bias[channel + c], y + at + c * inner, inner);
    }
  };
  if (rows < thread_count()) {
    for (int64_t row = 0; row < rows; ++row) {
      const Moments moments = long_moments(x + row * n, n);
      parallel_for(members, grain_of(inner), [&](int64_t begin, int64_t end) {
        normalize_channels(row, moments, begin, end);
      });
    }
    return;
  }
  parallel_for(rows, grain_of(n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      normalize_channels(row, kernels<T>().moments(x + row * n, n), 0, members);
    }
  });
}

template <class T>
void layer_norm(const T* x, int64_t rows, int64_t n, const T* weight, const T* bias, double eps,
                T* y) {
  constexpr int64_t kLongRow = 1 << 18;
  if (n >= kLongRow || (rows < thread_count() && n >= 2 * grain_of(1))) {
    // All threads on one row, so that its second pass still finds it in the last-level cache.
    for (int64_t r = 0; r < rows; ++r) {
      const Moments moments = long_moments(x + r * n, n);
      parallel_for(n, grain_of(1), [&](int64_t begin, int64_t end) {
        normalize(x + r * n, moments, weight, bias, eps, y + r * n, begin, end);
      });
    }
    return;
  }
  parallel_for(rows, grain_of(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      normalize(x + r * n, kernels<T>().moments(x + r * n, n), weight, bias, eps, y + r * n, 0, n);
    }
  });
}

#define KBENCH_INSTANTIATE(T)                                                                   \
  template void batch_norm<T>(const T*, int64_t, int64_t, int64_t, const T*, const T*, double,  \
                              T*);                                                              \
  template void group_norm<T>(const T*, int64_t, int64_t, int64_t, int64_t, const T*, const T*, \
                              double, T*);                                                      \
  template void layer_norm<T>(const T*, int64_t, int64_t, const T*, const T*, double, T*);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

}  // namespace kbench::reference
