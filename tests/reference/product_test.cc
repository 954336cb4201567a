// The kernels that matrix products are made of, in every instruction set this machine runs.
#include "reference/simd/kernels.h"
#include "tests/reference/arrays.h"

namespace kbench::reference {
namespace {

template <class T>
class ProductKernels : public ::testing::Test {
 protected:
  /// f(kernels) for every set.
  template <class F>
  void each_set(F f) {
    KernelSet<T> sets[3];
    for (int s = 0, n = kernel_sets(sets); s < n; ++s) {
      SCOPED_TRACE(sets[s].name);
      f(*sets[s].kernels);
    }
  }
};
TYPED_TEST_SUITE(ProductKernels, RealTypes);

constexpr int64_t kDepth = 19;

/// start + a b in double; b[k, j] at b[k * b_k + j * b_j].
template <class T>
std::vector<double> brute_force(const ProductTile<T>& t, int rows, int cols, int64_t b_k,
                                int64_t b_j) {
  std::vector<double> c;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      double sum = t.start == nullptr ? 0 : double(t.start[i * t.start_row + j]);
      for (int64_t k = 0; k < t.depth; ++k) {
        sum += double(t.a[i * t.a_row + k * t.a_col]) * t.b[k * b_k + j * b_j];
      }
      c.push_back(sum);
    }
  }
  return c;
}

/// Runs the kernel into an array of rows `pitch` apart and holds it against the truth; what lies
/// outside the tile must stay as it was.
template <class T, class Run>
void expect_product(ProductTile<T> t, int rows, int cols, const std::vector<double>& truth,
                    bool adds, std::vector<T> c, int64_t pitch, Run run) {
  const std::vector<T> before = c;
  t.c = c.data();
  t.c_row = pitch;
  if (adds) t.start = t.c, t.start_row = pitch;
  run(rows, cols, t);
  std::vector<T> got;
  for (int64_t i = 0; i < static_cast<int64_t>(c.size()); ++i) {
    if (i / pitch < rows && i % pitch < cols) {
      got.push_back(c[i]);
    } else {
      ASSERT_EQ(c[i], before[i]) << "element " << i << " is none of the tile's";
    }
  }
  expect_close(got, truth, kDepth);
}

TYPED_TEST(ProductKernels, TilesOfEverySizeMatchBruteForce) {
  using T = TypeParam;
  this->each_set([](const Kernels<T>& k) {
    const int64_t pitch = k.tile_cols + 3;
    const auto a = random_array<T>(64 * kDepth, 1), b = random_array<T>(pitch * kDepth + 64, 2),
               c = random_array<T>((k.tile_rows + 1) * pitch, 3), bias = random_array<T>(pitch, 4);
    for (int rows = 1; rows <= k.tile_rows; ++rows) {
      for (int cols = 1; cols <= k.tile_cols; ++cols) {
        for (bool depth_first : {false, true}) {
          ProductTile<T> t = {};
          t.depth = kDepth;
          t.a = a.data();
          t.a_row = depth_first ? 1 : kDepth + 2;
          t.a_col = depth_first ? k.tile_rows : 1;
          t.b = b.data();
          t.b_row = pitch;
          expect_product(t, rows, cols, brute_force(t, rows, cols, pitch, 1), false, c, pitch,
                         k.tile);
          t.start = bias.data();
          expect_product(t, rows, cols, brute_force(t, rows, cols, pitch, 1), false, c, pitch,
                         k.tile);
          t.start = c.data();
          t.start_row = pitch;
          expect_product(t, rows, cols, brute_force(t, rows, cols, pitch, 1), true, c, pitch,
                         k.tile);
        }
      }
    }
  });
}

TYPED_TEST(ProductKernels, DotsMatchBruteForceAtEveryTailLength) {
  using T = TypeParam;
  this->each_set([](const Kernels<T>& k) {
    const auto a = random_array<T>(16 * 80, 1), b = random_array<T>(16 * 80, 2),
               c = random_array<T>(16 * 16, 3);
    for (int64_t depth : {1, 3, 16, 37, 64, 79}) {
      for (int rows : {1, 2, 4, 7}) {
        for (int cols : {1, 3, 4, 9}) {
          ProductTile<T> t = {};
          t.depth = depth;
          t.a = a.data();
          t.b = b.data();
          t.a_row = t.b_row = 80;
          t.a_col = 1;
          expect_product(t, rows, cols, brute_force(t, rows, cols, 1, 80), false, c, 16, k.dots);
          t.start = c.data();
          t.start_row = 16;
          expect_product(t, rows, cols, brute_force(t, rows, cols, 1, 80), true, c, 16, k.dots);
        }
      }
    }
  });
}

TYPED_TEST(ProductKernels, PanelsHoldEveryElementAndZerosBehind) {
  using T = TypeParam;
  this->each_set([](const Kernels<T>& k) {
    const auto x = random_array<T>(200 * 200, 1);
    const ProductOperand<T> operands[] = {
        {x.data(), 1, 131}, {x.data(), 97, 1}, {x.data(), 3, 211}};
    for (const ProductOperand<T>& from : operands) {
      for (int64_t count : {1, 7, 48, 61, 101}) {
        for (int64_t depth : {1, 17, 40}) {
          for (bool rows : {false, true}) {
            const int64_t width = rows ? k.tile_rows : k.tile_cols, step = width * depth + 5;
            const int64_t panels = (count + width - 1) / width;
            std::vector<T> to(panels * step, T(7));
            (rows ? k.pack_rows : k.pack_cols)(from, count, depth, step, to.data());
            for (int64_t i = 0; i < panels * width; ++i) {
              for (int64_t d = 0; d < depth; ++d) {
                const T want = i < count ? from.at(i, d).data[0] : T(0);
                ASSERT_EQ(to[i / width * step + d * width + i % width], want) << i << ", " << d;
              }
            }
            for (int64_t p = 0; p < panels; ++p) {
              for (int64_t gap = width * depth; gap < step; ++gap) {
                ASSERT_EQ(to[p * step + gap], T(7));
              }
            }
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace kbench::reference
