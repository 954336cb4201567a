#include <array>

#include "reference/windows.h"
#include "tests/reference/calls.h"

namespace kbench::reference {
namespace {

TEST(Inside, AgreesWithTryingEveryOutput) {
  for (int64_t offset = -7; offset <= 7; ++offset) {
    for (int64_t stride : {1, 2, 3, 5}) {
      for (int64_t in : {1, 4, 9}) {
        for (int64_t out : {1, 3, 8}) {
          const Range range = inside(offset, stride, in, out);
          for (int64_t o = 0; o < out; ++o) {
            const int64_t at = o * stride + offset;
            EXPECT_EQ(o >= range.begin && o < range.end, at >= 0 && at < in)
                << offset << " " << stride << " " << in << " " << o;
          }
          EXPECT_LE(range.begin, range.end);
        }
      }
    }
  }
}

template <class T>
class Pooling : public ::testing::Test {};
TYPED_TEST_SUITE(Pooling, RealTypes);

using Triple = std::array<int64_t, 3>;

struct PoolExtents {
  int64_t planes = 3;  ///< batch and channels
  Triple in = {1, 1, 1}, out = {1, 1, 1};
  Triple kernel = {1, 1, 1}, stride = {1, 1, 1}, padding = {0, 0, 0}, dilation = {1, 1, 1};
};

template <class T>
std::vector<T> run_pool(const char* op, const PoolExtents& e, bool ceil_mode,
                        const std::vector<T>& x, bool dilated) {
  const auto list = [](const Triple& t) { return std::vector<int64_t>(t.begin(), t.end()); };
  Attributes attributes = {{"kernel", list(e.kernel)},
                           {"stride", list(e.stride)},
                           {"padding", list(e.padding)},
                           {"ceil_mode", int64_t{ceil_mode}}};
  if (dilated) attributes.set("dilation", list(e.dilation));
  const Tensor y =
      run_call<T>(op, {tensor_of<T>({1, e.planes, e.in[0], e.in[1], e.in[2]}, x)}, attributes)[0];
  EXPECT_EQ(y.shape(), (Shape{1, e.planes, e.out[0], e.out[1], e.out[2]}));
  return values_of<T>(y);
}

/// Output extents, rounded down or, as PyTorch's ceil_mode does, up.
Triple outputs(const PoolExtents& e, bool ceil_mode) {
  Triple out;
  for (int i = 0; i < 3; ++i) {
    const int64_t room = e.in[i] + 2 * e.padding[i] - e.dilation[i] * (e.kernel[i] - 1) - 1;
    out[i] = (room + (ceil_mode ? e.stride[i] - 1 : 0)) / e.stride[i] + 1;
    if (ceil_mode && (out[i] - 1) * e.stride[i] >= e.in[i] + e.padding[i]) --out[i];
  }
  return out;
}

/// For each output calls start(), tap(input, or -1 outside it; whether inside its padding) for each
/// tap, and end(output).
template <class Start, class Tap, class End>
void for_windows(const PoolExtents& e, const Start& start, const Tap& tap, const End& end) {
  const int64_t outputs = e.out[0] * e.out[1] * e.out[2];
  const int64_t inputs = e.in[0] * e.in[1] * e.in[2];
  for (int64_t i = 0; i < e.planes * outputs; ++i) {
    const Triple o = {i % outputs / (e.out[1] * e.out[2]), i % outputs / e.out[2] % e.out[1],
                      i % e.out[2]};
    start();
    for (int64_t t = 0; t < e.kernel[0] * e.kernel[1] * e.kernel[2]; ++t) {
      const Triple u = {t / (e.kernel[1] * e.kernel[2]), t / e.kernel[2] % e.kernel[1],
                        t % e.kernel[2]};
      int64_t at = 0;
      bool inside = true, counted = true;
      for (int d = 0; d < 3; ++d) {
        const int64_t x = o[d] * e.stride[d] + u[d] * e.dilation[d] - e.padding[d];
        inside &= x >= 0 && x < e.in[d];
        counted &= x < e.in[d] + e.padding[d];
        at = at * e.in[d] + x;
      }
      tap(inside ? i / outputs * inputs + at : -1, counted);
    }
    end(i);
  }
}

const PoolExtents kPools[] = {
    {.in = {1, 19, 23}, .kernel = {1, 2, 2}, .stride = {1, 2, 2}},
    {.in = {1, 19, 23}, .kernel = {1, 3, 3}, .stride = {1, 1, 1}, .padding = {0, 1, 1}},
    {.in = {1, 19, 23}, .kernel = {1, 5, 1}, .stride = {1, 1, 5}, .padding = {0, 2, 0}},
    {.in = {1, 1, 37}, .kernel = {1, 1, 4}, .stride = {1, 1, 3}, .padding = {0, 0, 2}},
    {.in = {7, 5, 11}, .kernel = {3, 2, 3}, .stride = {2, 3, 2}, .padding = {1, 0, 1}},
    {.in = {9, 10, 6}, .kernel = {2, 3, 5}, .stride = {3, 4, 5}, .padding = {1, 1, 2}},
};

TYPED_TEST(Pooling, MaxMatchesBruteForceAndSpreadsNan) {
  using T = TypeParam;
  for (PoolExtents e : kPools) {
    for (const Triple& dilation : {Triple{1, 1, 1}, Triple{2, 1, 1}, Triple{1, 3, 2}}) {
      for (bool ceil_mode : {false, true}) {
        e.dilation = dilation;
        e.out = outputs(e, ceil_mode);
        if (*std::min_element(e.out.begin(), e.out.end()) < 1) continue;
        auto x = random_array<T>(e.planes * e.in[0] * e.in[1] * e.in[2]);
        for (size_t i = 0; i < x.size(); i += 97) x[i] = std::numeric_limits<T>::quiet_NaN();
        const auto y = run_pool("max_pool3d", e, ceil_mode, x, true);
        T truth;
        bool nan;
        for_windows(
            e,
            [&] {
              truth = -std::numeric_limits<T>::infinity();
              nan = false;
            },
            [&](int64_t at, bool) {
              if (at < 0) return;
              nan |= std::isnan(x[at]);
              truth = std::max(truth, x[at]);
            },
            [&](int64_t i) {
              if (nan) {
                ASSERT_TRUE(std::isnan(y[i])) << i;
              } else {
                ASSERT_EQ(y[i], truth) << i;
              }
            });
      }
    }
  }
}

TYPED_TEST(Pooling, AverageCountsPaddingButNotWhatHangsOver) {
  using T = TypeParam;
  for (PoolExtents e : kPools) {
    for (bool ceil_mode : {false, true}) {
      e.out = outputs(e, ceil_mode);
      const auto x = random_array<T>(e.planes * e.in[0] * e.in[1] * e.in[2]);
      const auto y = run_pool("avg_pool3d", e, ceil_mode, x, false);
      std::vector<double> truth(y.size());
      double sum;
      int64_t count;
      for_windows(
          e, [&] { sum = 0, count = 0; },
          [&](int64_t at, bool counted) {
            sum += at < 0 ? 0 : double(x[at]);
            count += counted;
          },
          [&](int64_t i) { truth[i] = sum / static_cast<double>(count); });
      expect_close(y, truth, 8);
    }
  }
}

TYPED_TEST(Pooling, AdaptiveAverageCutsTheInputIntoOverlappingCells) {
  using T = TypeParam;
  constexpr std::array<int64_t, 2> kIn = {13, 7};
  for (const std::array<int64_t, 2>& out :
       {std::array<int64_t, 2>{1, 1}, {5, 3}, {13, 7}, {6, 11}}) {
    const auto x = random_array<T>(3 * kIn[0] * kIn[1]);
    const auto y =
        values_of<T>(run_call<T>("adaptive_avg_pool2d", {tensor_of<T>({1, 3, kIn[0], kIn[1]}, x)},
                                 {{"output", std::vector<int64_t>{out[0], out[1]}}})[0]);
    std::vector<double> truth;
    for (int64_t i = 0; i < 3 * out[0]; ++i) {
      for (int64_t j = 0; j < out[1]; ++j) {
        double sum = 0, count = 0;
        for (int64_t r = 0; r < kIn[0]; ++r) {
          for (int64_t c = 0; c < kIn[1]; ++c) {
            // A cell holds what overlaps [i, i + 1) / out of the whole.
            const int64_t row = i % out[0];
            if (r * out[0] >= (row + 1) * kIn[0] || (r + 1) * out[0] <= row * kIn[0]) continue;
            if (c * out[1] >= (j + 1) * kIn[1] || (c + 1) * out[1] <= j * kIn[1]) continue;
            sum += x[(i / out[0] * kIn[0] + r) * kIn[1] + c];
            ++count;
          }
        }
        truth.push_back(sum / count);
      }
    }
    expect_close(y, truth, 4);
  }
}

}  // namespace
}  // namespace kbench::reference
