#include "reference/ops/blocked_product.h"

#include <algorithm>
#include <limits>

#include "reference/parallel.h"
#include "reference/scratch.h"

namespace kbench::reference {
namespace {

constexpr int64_t kDepthBytes = 2048;  // of a chunk: a panel of a stays in the first-level cache
// Packed operands: what second-level caches hold, few bytes being touched again and again.
constexpr int64_t kSerialBytes = int64_t{4} << 20, kThreadBytes = int64_t{2} << 20;
constexpr int64_t kFewElements = 1 << 13;  // of an operand that fits the first-level cache

int64_t parts(int64_t n, int64_t size) { return (n + size - 1) / size; }

/// Tiles of a block: what a thread computes at a time.
struct Block {
  int64_t rows, cols;
};

/// Blocks that few rounds of all threads get through, large enough to use what they read often.
Block block_of(int64_t row_tiles, int64_t col_tiles, int64_t depth, int64_t tile_rows,
               int64_t tile_cols) {
  constexpr int64_t kMostRows = 256, kMostColTiles = 4;  // b's part stays in the second-level cache
  // In products: what reading an element costs, and handing out a block.
  constexpr double kReading = 16, kHandingOut = 1 << 17;
  const int64_t threads = thread_count();
  Block best = {1, 1};
  double least = std::numeric_limits<double>::max();
  for (int64_t cols = std::min(col_tiles, kMostColTiles); cols >= 1; --cols) {
    int64_t rows = std::min(row_tiles, kMostRows / tile_rows);
    for (;; rows = (rows + 1) / 2) {
      const int64_t rounds = parts(parts(row_tiles, rows) * parts(col_tiles, cols), threads);
      const auto m = static_cast<double>(rows * tile_rows), n = double(cols * tile_cols);
      const double cost = static_cast<double>(rounds) *
                          (m * n + kReading * (m + n) + kHandingOut / static_cast<double>(depth));
      if (cost < least) {
        least = cost;
        best = {rows, cols};
      }
      if (rows == 1) break;
    }
  }
  return best;
}

template <class T, bool parallel>
class Worker {
 public:
  explicit Worker(const BlockedProduct<T>& p)
      : p_(p),
        k_(kernels<T>()),
        chunks_(parts(p.k, kDepthBytes / sizeof(T))),
        // Operands that are read once or twice are read where they stand.
        pack_a_(p.n > 2 * k_.tile_cols || (p.a.depth_step != 1 && p.m * p.k > kFewElements)),
        pack_b_(p.b.step != 1 || p.m > 2 * k_.tile_rows) {
    const int64_t depth = parts(p.k, chunks_);
    const int64_t bytes =
        parallel ? std::max(kSerialBytes, kThreadBytes * thread_count()) : kSerialBytes;
    const int64_t room = bytes / int64_t{sizeof(T)};
    // Halves until one chunk's panels have room.
    rows_ = p.m;
    cols_ = p.n;
    while ((packed_rows(rows_) + packed_cols(cols_)) * depth > room && rows_ + cols_ > 1024) {
      int64_t& larger = packed_rows(rows_) > packed_cols(cols_) ? rows_ : cols_;
      const int64_t tile = &larger == &rows_ ? k_.tile_rows : k_.tile_cols;
      larger = parts(parts(larger, 2), tile) * tile;
    }
    const int64_t line = (packed_rows(rows_) + packed_cols(cols_)) * depth;
    pass_chunks_ = std::clamp<int64_t>(room / std::max<int64_t>(line, 1), 1, chunks_);
    depth_ = std::min(p.k, pass_chunks_ * depth);
    const int64_t a_panels = packed_rows(rows_) / k_.tile_rows;
    const int64_t b_panels = packed_cols(cols_) / k_.tile_cols;
    const int64_t a_panel = panel(k_.tile_rows, depth_), b_panel = panel(k_.tile_cols, depth_);
    packed_ = Scratch<T>(a_panels * a_panel + b_panels * b_panel);
    packed_a_ = packed_.get();
    packed_b_ = packed_a_ + a_panels * a_panel;
  }

  void run() {
    for (int64_t col = 0; col < p_.n; col += cols_) {
      for (int64_t chunk = 0; chunk < chunks_; chunk += pass_chunks_) {
        for (int64_t row = 0; row < p_.m; row += rows_) {  // the first packs b for all
          pass(row, std::min(rows_, p_.m - row), col, std::min(cols_, p_.n - col), chunk,
               std::min(chunk + pass_chunks_, chunks_));
        }
      }
    }
  }

 private:
  int64_t packed_rows(int64_t rows) const {
    return pack_a_ ? parts(rows, k_.tile_rows) * k_.tile_rows : 0;
  }
  int64_t packed_cols(int64_t cols) const {
    // One panel where b has no whole vectors to read at the end of its rows.
    return (pack_b_ ? parts(cols, k_.tile_cols) : 1) * k_.tile_cols;
  }
  /// Elements from one panel to the next: an odd number of lines more or less spreads panels over
  /// the caches' sets.
  static int64_t panel(int64_t width, int64_t depth) {
    constexpr int64_t kLine = 64 / sizeof(T);
    return (parts(width * depth, kLine) | 1) * kLine;
  }
  /// Where a chunk begins.
  int64_t depth_of(int64_t chunk) const { return p_.k * chunk / chunks_; }

  template <class Body>
  static void each(int64_t n, const Body& body) {
    if constexpr (parallel) {
      parallel_tasks(n, body);
    } else {
      for (int64_t i = 0; i < n; ++i) body(i);
    }
  }

  /// Chunks [begin, end) of rows [row, row + m) and columns [col, col + n).
  void pass(int64_t row, int64_t m, int64_t col, int64_t n, int64_t begin, int64_t end) {
    const int64_t start = depth_of(begin), depth = depth_of(end) - start;
    const ProductOperand<T> a = p_.a.at(row, start), b = p_.b.at(col, start);
    const int64_t lanes = k_.vector_bytes / sizeof(T);
    const int64_t in_place = pack_b_ ? 0 : n % lanes == 0 ? n : n / k_.tile_cols * k_.tile_cols;
    pack(a, pack_a_ ? m : 0, b.at(in_place, 0), row == 0 ? n - in_place : 0, depth);

    const int64_t a_panel = panel(k_.tile_rows, depth), b_panel = panel(k_.tile_cols, depth);
    const int64_t row_tiles = parts(m, k_.tile_rows), col_tiles = parts(n, k_.tile_cols);
    const Block block = parallel ? block_of(row_tiles, col_tiles, depth, k_.tile_rows, k_.tile_cols)
                                 : Block{row_tiles, 4};
    const int64_t down = parts(row_tiles, block.rows);
    each(down * parts(col_tiles, block.cols), [&](int64_t i) {
      const int64_t first_row = i % down * block.rows * k_.tile_rows;
      const int64_t first_col = i / down * block.cols * k_.tile_cols;
      const int64_t last_row = std::min(first_row + block.rows * k_.tile_rows, m);
      const int64_t last_col = std::min(first_col + block.cols * k_.tile_cols, n);
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t k = depth_of(chunk) - start;
        ProductTile<T> t;
        t.depth = depth_of(chunk + 1) - start - k;
        for (int64_t r = first_row; r < last_row; r += k_.tile_rows) {
          t.a =
              pack_a_ ? packed_a_ + r / k_.tile_rows * a_panel + k * k_.tile_rows : a.at(r, k).data;
          t.a_row = pack_a_ ? 1 : a.step;
          t.a_col = pack_a_ ? k_.tile_rows : a.depth_step;
          t.c_row = p_.c_step;
          for (int64_t c = first_col; c < last_col; c += k_.tile_cols) {
            const bool packed = c >= in_place;
            t.b = packed ? packed_b_ + (c - in_place) / k_.tile_cols * b_panel + k * k_.tile_cols
                         : b.at(c, k).data;
            t.b_row = packed ? k_.tile_cols : b.depth_step;
            t.c = p_.c + (row + r) * p_.c_step + col + c;
            const bool first = chunk == 0;
            t.start = !first ? t.c : p_.bias != nullptr ? p_.bias + col + c : nullptr;
            t.start_row = first ? 0 : p_.c_step;
            k_.tile(static_cast<int>(std::min<int64_t>(k_.tile_rows, last_row - r)),
                    static_cast<int>(std::min<int64_t>(k_.tile_cols, last_col - c)), t);
          }
        }
      }
    });
  }

  /// Panels of a's first m rows and b's first n columns, a piece of an operand at a time: long in
  /// the direction in which it is contiguous.
  void pack(const ProductOperand<T>& a, int64_t m, const ProductOperand<T>& b, int64_t n,
            int64_t depth) {
    struct Side {
      const ProductOperand<T>& from;
      int64_t count, tile, width, deep, down;
      T* to;
      decltype(Kernels<T>::pack_rows) run;

      int64_t pieces() const { return down * parts(count, width); }
    };
    const auto side = [&](const ProductOperand<T>& from, int64_t count, int64_t tile, T* to,
                          auto run) {
      const bool across = from.step == 1;
      const int64_t width = (across ? 768 : 48) / tile * tile, deep = across ? 32 : 512;
      return Side{from, count, tile, width, deep, parts(depth, deep), to, run};
    };
    const Side sides[] = {side(a, m, k_.tile_rows, packed_a_, k_.pack_rows),
                          side(b, n, k_.tile_cols, packed_b_, k_.pack_cols)};
    each(sides[0].pieces() + sides[1].pieces(), [&](int64_t i) {
      const bool left = i < sides[0].pieces();
      const Side& s = sides[left ? 0 : 1];
      const int64_t piece = left ? i : i - sides[0].pieces();
      const int64_t first = piece / s.down * s.width, k = piece % s.down * s.deep;
      s.run(s.from.at(first, k), std::min(s.width, s.count - first), std::min(s.deep, depth - k),
            panel(s.tile, depth), s.to + first / s.tile * panel(s.tile, depth) + k * s.tile);
    });
  }

  const BlockedProduct<T>& p_;
  const Kernels<T>& k_;
  const int64_t chunks_;
  const bool pack_a_, pack_b_;
  int64_t rows_, cols_, pass_chunks_, depth_;  ///< of a pass
  Scratch<T> packed_{0};
  T *packed_a_, *packed_b_;
};

}  // namespace

template <class T>
void run_serial(const BlockedProduct<T>& product) {
  Worker<T, false>(product).run();
}

template <class T>
void run_parallel(const BlockedProduct<T>& product) {
  Worker<T, true>(product).run();
}

template void run_serial<float>(const BlockedProduct<float>&);
template void run_serial<double>(const BlockedProduct<double>&);
template void run_parallel<float>(const BlockedProduct<float>&);
template void run_parallel<double>(const BlockedProduct<double>&);

}  // namespace kbench::reference
