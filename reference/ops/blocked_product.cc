#include "reference/ops/blocked_product.h"

#include <algorithm>
#include <vector>

#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"

namespace kbench::reference {
namespace {

constexpr int64_t kDepth = 512;     // of a pass: a panel of a stays in the first-level cache
constexpr int64_t kBlockTiles = 4;  // columns of b a thread keeps in its second-level cache

/// One pass: columns [begin, begin + depth) of a times those rows of b, added to c.
template <class T>
class Pass {
 public:
  Pass(const Product& p, int64_t begin, int64_t depth, const T* packed, const T* b, T* c)
      : p_(p),
        begin_(begin),
        depth_(depth),
        packed_(packed),
        b_(b),
        c_(c),
        k_(kernels<T>()),
        zeros_(k_.tile_rows) {}

  /// Columns [first, first + count) of c, panels [panel, last_panel) of its rows; `gathered` holds
  /// depth x ld, `tile` one tile.
  void columns(int64_t first, int64_t count, int64_t panel, int64_t last_panel, T* gathered,
               int64_t ld, T* tile) const {
    for (int64_t k = 0; k < depth_; ++k) {
      std::copy_n(b_ + (begin_ + k) * p_.n + first, count, gathered + k * ld);
    }
    for (; panel < last_panel; ++panel) {
      const int64_t row = panel * k_.tile_rows;
      for (int64_t at = 0; at < count; at += k_.tile_cols) {
        multiply(row, first + at, std::min<int64_t>(k_.tile_cols, count - at), gathered + at, ld,
                 tile);
      }
    }
  }

 private:
  void multiply(int64_t row, int64_t col, int64_t columns, const T* gathered, int64_t ld,
                T* tile) const {
    const int64_t rows = std::min<int64_t>(k_.tile_rows, p_.m - row);
    const T* a = packed_ + row * depth_;
    const T* start = begin_ == 0 ? zeros_.data() : nullptr;
    T* out = c_ + row * p_.n + col;
    if (rows == k_.tile_rows && columns == k_.tile_cols) {
      return k_.tile(depth_, a, gathered, ld, start, out, p_.n);
    }
    for (int64_t r = 0; start == nullptr && r < rows; ++r) {
      std::copy_n(out + r * p_.n, columns, tile + r * k_.tile_cols);
    }
    k_.tile(depth_, a, gathered, ld, start, tile, k_.tile_cols);
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(tile + r * k_.tile_cols, columns, out + r * p_.n);
    }
  }

  const Product& p_;
  int64_t begin_, depth_;
  const T* packed_;
  const T* b_;
  T* c_;
  const Kernels<T>& k_;
  std::vector<T> zeros_;
};

/// Columns [begin, begin + depth) of a as panels of `rows` rows each, depth by depth, the last
/// panel filled up with zeros. Panels [first, last).
template <class T>
void pack(const Product& p, const T* a, int64_t begin, int64_t depth, int64_t rows, int64_t first,
          int64_t last, T* packed) {
  for (int64_t panel = first; panel < last; ++panel) {
    T* to = packed + panel * rows * depth;
    const int64_t real = std::min(rows, p.m - panel * rows);
    if (real < rows) std::fill_n(to, rows * depth, T(0));
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t r = 0; r < real; ++r) {
        const int64_t row = panel * rows + r, column = begin + k;
        to[k * rows + r] = p.transpose_a ? a[column * p.m + row] : a[row * p.k + column];
      }
    }
  }
}

}  // namespace

template <class T>
bool blocked_product_pays(const Product& p) {
  return kernels<T>().vector_bytes == 64 && !p.transpose_b && p.m >= 32 &&
         p.n >= kernels<T>().tile_cols && p.k >= 16;
}

template <class T>
void blocked_product(const Product& p, bool parallel, const T* a, const T* b, T* c) {
  const Kernels<T>& kernel = kernels<T>();
  const auto spread = [&](int64_t n, int64_t work, const auto& body) {
    parallel_for(n, parallel ? grain_of(work) : n, body);
  };
  const int64_t panels = (p.m + kernel.tile_rows - 1) / kernel.tile_rows;
  const int64_t width = kBlockTiles * kernel.tile_cols, blocks = (p.n + width - 1) / width;
  const int64_t passes = (p.k + kDepth - 1) / kDepth, deepest = (p.k + passes - 1) / passes;
  Scratch<T> packed(panels * kernel.tile_rows * deepest);
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t begin = p.k * pass / passes, depth = p.k * (pass + 1) / passes - begin;
    spread(panels, kernel.tile_rows * depth, [&](int64_t first, int64_t last) {
      pack(p, a, begin, depth, kernel.tile_rows, first, last, packed.get());
    });
    const Pass<T> work(p, begin, depth, packed.get(), b, c);
    // Fewer blocks of columns than threads: rows are shared out too.
    const int64_t shares = parallel ? std::clamp<int64_t>(thread_count() / blocks, 1, panels) : 1;
    spread(blocks * shares, p.m * width * depth / 16 / shares, [&](int64_t first, int64_t last) {
      const int64_t line = 64 / sizeof(T), ld = width + line;  // rows spread over the cache's sets
      Scratch<T> gathered(depth * ld), tile(kernel.tile_rows * kernel.tile_cols);
      for (int64_t i = first; i < last; ++i) {
        const int64_t column = i / shares * width, share = i % shares;
        work.columns(column, std::min(width, p.n - column), panels * share / shares,
                     panels * (share + 1) / shares, gathered.get(), ld, tile.get());
      }
    });
  }
}

template bool blocked_product_pays<float>(const Product&);
template bool blocked_product_pays<double>(const Product&);
template void blocked_product<float>(const Product&, bool, const float*, const float*, float*);
template void blocked_product<double>(const Product&, bool, const double*, const double*, double*);

}  // namespace kbench::reference
