#include "reference/ops/convolution.h"

#include <algorithm>
#include <vector>

#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"
#include "reference/windows.h"

namespace kbench::reference {
namespace {

constexpr int64_t kMaxDepth = 384;  // rows of a gathered block

int64_t round_up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Part of one row of outputs: `count` positions from `column` on, the first `at` in its block.
struct Segment {
  int64_t image, row, column, count, at;
};

/// The positions one tile covers; the first one's image and place in it.
struct Columns {
  int64_t position, count, image, pixel;
};

/// What a thread works with, block after block.
template <class T>
struct Workspace {
  Workspace(int64_t rows, int64_t ld, int64_t tile)
      : ld(ld), gathered(rows * ld + kRunSlack), tile(tile) {}

  int64_t ld;             ///< between rows of `gathered`
  Scratch<T> gathered;    ///< [depth of a pass, positions]
  Scratch<T> tile;        ///< of outputs, where it cannot go straight into y
  std::vector<T> padded;  ///< rows of x with their padding
  std::vector<Segment> segments;
  // Where the pass's windows are found: at source + channel * channel_step + tap_offset[tap], runs.
  const T* source = nullptr;
  int64_t channel_step = 0;
  std::vector<int64_t> tap_offset;
  std::vector<Run> runs;
};

/// One convolution at work. Output positions are numbered through all images, [batch, out];
/// a group's products are [out_channels / groups, depth] x [depth, positions].
template <class T>
class Convolution {
 public:
  Convolution(const T* x, const T* weight, const T* bias, const Conv2dExtents& extents, T* y)
      : e_(extents),
        x_(x),
        y_(y),
        k_(kernels<T>()),
        plane_(e_.out[0] * e_.out[1]),
        positions_(e_.batch * plane_),
        taps_(e_.window.kernel[0] * e_.window.kernel[1]),
        depth_(e_.channels / e_.groups * taps_),
        group_rows_(e_.out_channels / e_.groups),
        panels_((group_rows_ + k_.tile_rows - 1) / k_.tile_rows),
        weights_(e_.groups * panels_ * k_.tile_rows * depth_),
        bias_(e_.groups * panels_ * k_.tile_rows) {
    pack_weights(weight, bias);
  }

  void run() {
    const int64_t threads = thread_count();
    // Blocks of positions, fewer than a full one each where the work must be spread.
    constexpr int64_t kMaxTiles = 8;
    const int64_t tiles = (positions_ + k_.tile_cols - 1) / k_.tile_cols;
    const int64_t per_thread = (tiles * e_.groups + 2 * threads - 1) / (2 * threads);
    width_ = std::clamp<int64_t>(per_thread, 1, kMaxTiles) * k_.tile_cols;
    const int64_t blocks = (positions_ + width_ - 1) / width_;
    // Where that leaves threads idle, the rows of a block are shared out too.
    const bool large = depth_ * group_rows_ * k_.tile_cols >= 1 << 18;
    const int64_t shares =
        large ? std::clamp<int64_t>(threads / (blocks * e_.groups), 1, panels_) : 1;
    const int64_t work = depth_ * group_rows_ * std::min(width_, positions_) / 16 / shares;
    parallel_for(e_.groups * blocks * shares, grain_of(work), [&](int64_t begin, int64_t end) {
      // An odd number of cache lines a row: rows spread over the cache's sets.
      const int64_t lines = round_up(width_ + kRunSlack, 64 / sizeof(T)) * sizeof(T) / 64;
      Workspace<T> workspace(std::min(depth_, kMaxDepth), (lines | 1) * 64 / sizeof(T),
                             k_.tile_rows * k_.tile_cols);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / (blocks * shares), share = i % shares;
        block(group, i / shares % blocks * width_, panels_ * share / shares,
              panels_ * (share + 1) / shares, workspace);
      }
    });
  }

 private:
  /// Panels of tile_rows output channels, depth by depth, filled up with zeros.
  void pack_weights(const T* weight, const T* bias) {
    const int64_t rows = k_.tile_rows;
    parallel_for(e_.groups * panels_, grain_of(rows * depth_), [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) {
        const int64_t group = panel / panels_, first = panel % panels_ * rows;
        T* to = weights_.get() + panel * rows * depth_;
        for (int64_t r = 0; r < rows; ++r) {
          const bool real = first + r < group_rows_;
          const int64_t channel = group * group_rows_ + first + r;
          bias_[panel * rows + r] = real && bias != nullptr ? bias[channel] : T(0);
          for (int64_t k = 0; k < depth_; ++k) {
            to[k * rows + r] = real ? weight[channel * depth_ + k] : T(0);
          }
        }
      }
    });
  }

  /// Output positions [first, first + width_) of panels [panel_begin, panel_end) of a group.
  void block(int64_t group, int64_t first, int64_t panel_begin, int64_t panel_end,
             Workspace<T>& w) const {
    const int64_t count = std::min(width_, positions_ - first);
    w.segments.clear();
    for (int64_t at = 0; at < count; at += w.segments.back().count) {
      const int64_t position = first + at, column = position % e_.out[1];
      w.segments.push_back({position / plane_, position % plane_ / e_.out[1], column,
                            std::min(e_.out[1] - column, count - at), at});
    }
    const int64_t passes = (depth_ + kMaxDepth - 1) / kMaxDepth;
    for (int64_t pass = 0; pass < passes; ++pass) {
      const int64_t begin = depth_ * pass / passes, end = depth_ * (pass + 1) / passes;
      const int64_t channel = begin / taps_;
      locate(group * (e_.channels / e_.groups) + channel, (end - 1) / taps_ + 1 - channel, w);
      T* row = w.gathered.get();
      for (int64_t k = begin, tap = begin % taps_; k < end; ++k, row += w.ld) {
        k_.copy_runs(w.source + w.tap_offset[tap], w.runs.data(),
                     static_cast<int64_t>(w.runs.size()), row);
        if (++tap == taps_) {
          tap = 0;
          w.source += w.channel_step;
        }
      }
      for (int64_t at = 0; at < count; at += k_.tile_cols) {
        const Columns columns = {.position = first + at,
                                 .count = std::min<int64_t>(k_.tile_cols, count - at),
                                 .image = (first + at) / plane_,
                                 .pixel = (first + at) % plane_};
        for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
          multiply(group, panel, begin, end, columns, w.gathered.get() + at, w.ld, w.tile.get());
        }
      }
    }
  }

  /// Makes the block's windows in `count` channels from `channel` on plain runs of a source: x
  /// itself where neither padding nor stride is in the way, else a padded copy of the rows needed.
  void locate(int64_t channel, int64_t count, Workspace<T>& w) const {
    const auto& [kernel, stride, padding, dilation] = e_.window;
    const int64_t in_plane = e_.in[0] * e_.in[1];
    const int64_t planes = w.segments.back().image * e_.channels + channel + count;
    const bool direct = stride[1] == 1 && padding[0] == 0 && padding[1] == 0 &&
                        planes * in_plane + kRunSlack <= e_.batch * e_.channels * in_plane;
    w.runs.clear();
    w.tap_offset.clear();
    if (!direct) return copy_padded(channel, count, w);
    w.source = x_ + channel * in_plane;
    w.channel_step = in_plane;
    for (const Segment& s : w.segments) {
      w.runs.push_back({s.image * e_.channels * in_plane + s.row * stride[0] * e_.in[1] + s.column,
                        s.at, s.count});
    }
    for (int64_t tap = 0; tap < taps_; ++tap) {
      w.tap_offset.push_back(tap / kernel[1] * dilation[0] * e_.in[1] +
                             tap % kernel[1] * dilation[1]);
    }
  }

  /// The padded copy: [channel, line, phase, column], a line being a row of x, its columns sorted
  /// by their remainder modulo the stride, so that what one tap meets along a row is contiguous.
  void copy_padded(int64_t channel, int64_t count, Workspace<T>& w) const {
    const auto& [kernel, stride, padding, dilation] = e_.window;
    const int64_t span = (kernel[0] - 1) * dilation[0];  // lines a window reaches down
    const int64_t reach = (kernel[1] - 1) * dilation[1];
    const bool one_row = w.segments.size() == 1;
    const int64_t first_column = one_row ? w.segments[0].column : 0;
    const int64_t columns = one_row ? w.segments[0].count : e_.out[1];
    const int64_t phases = std::min(stride[1], reach + 1);
    const int64_t pitch = columns + reach / stride[1], line = phases * pitch;

    struct Rows {  // of one image: lines [begin, end) of the copy hold input rows from `first` on
      int64_t image, first, begin, end;
    };
    std::vector<Rows> images;
    for (const Segment& s : w.segments) {
      const int64_t first = s.row * stride[0] - padding[0];
      if (images.empty() || images.back().image != s.image) {
        const int64_t begin = images.empty() ? 0 : images.back().end;
        images.push_back({s.image, first, begin, begin});
      }
      Rows& rows = images.back();
      rows.end = rows.begin + first - rows.first + span + 1;
      w.runs.push_back(
          {(rows.begin + first - rows.first) * line + s.column - first_column, s.at, s.count});
    }
    for (int64_t tap = 0; tap < taps_; ++tap) {
      const int64_t across = tap % kernel[1] * dilation[1];
      w.tap_offset.push_back(tap / kernel[1] * dilation[0] * line + across % stride[1] * pitch +
                             across / stride[1]);
    }
    w.channel_step = images.back().end * line;
    w.padded.resize(std::max<size_t>(w.padded.size(), count * w.channel_step + kRunSlack));
    w.source = w.padded.data();

    for (int64_t c = 0; c < count; ++c) {
      for (const Rows& rows : images) {
        const T* plane = x_ + (rows.image * e_.channels + channel + c) * e_.in[0] * e_.in[1];
        for (int64_t l = rows.begin; l < rows.end; ++l) {
          if ((l - rows.begin) % stride[0] > span) continue;  // between windows
          const int64_t row = rows.first + l - rows.begin;
          T* to = w.padded.data() + c * w.channel_step + l * line;
          if (row < 0 || row >= e_.in[0]) {
            std::fill_n(to, line, T(0));
            continue;
          }
          for (int64_t phase = 0; phase < phases; ++phase, to += pitch) {
            const int64_t offset = first_column * stride[1] - padding[1] + phase;
            const Range valid = inside(offset, stride[1], e_.in[1], pitch);
            std::fill(to, to + valid.begin, T(0));
            k_.copy_strided(plane + row * e_.in[1] + valid.begin * stride[1] + offset, stride[1],
                            to + valid.begin, valid.end - valid.begin);
            std::fill(to + valid.end, to + pitch, T(0));
          }
        }
      }
    }
  }

  /// One tile of outputs, depths [begin, end): straight into y where it lies whole in one image.
  void multiply(int64_t group, int64_t panel, int64_t begin, int64_t end, const Columns& columns,
                const T* gathered, int64_t ld, T* tile) const {
    const int64_t rows = std::min<int64_t>(k_.tile_rows, group_rows_ - panel * k_.tile_rows);
    const int64_t at = group * panels_ + panel;
    const T* weights = weights_.get() + (at * depth_ + begin) * k_.tile_rows;
    const T* bias = begin == 0 ? bias_.get() + at * k_.tile_rows : nullptr;
    const int64_t channel = group * group_rows_ + panel * k_.tile_rows;
    if (rows == k_.tile_rows && columns.count == k_.tile_cols &&
        columns.pixel + columns.count <= plane_) {
      T* out = y_ + (columns.image * e_.out_channels + channel) * plane_ + columns.pixel;
      return k_.tile(end - begin, weights, gathered, ld, bias, out, plane_);
    }
    const auto each_run = [&](const auto& copy) {  // the tile's runs within one image
      for (int64_t c = 0; c < columns.count;) {
        const int64_t image = (columns.position + c) / plane_;
        const int64_t pixel = (columns.position + c) % plane_;
        const int64_t run = std::min(columns.count - c, plane_ - pixel);
        T* out = y_ + (image * e_.out_channels + channel) * plane_ + pixel;
        for (int64_t r = 0; r < rows; ++r) {
          copy(out + r * plane_, tile + r * k_.tile_cols + c, run);
        }
        c += run;
      }
    };
    if (bias == nullptr) {
      each_run([](const T* out, T* in_tile, int64_t n) { std::copy_n(out, n, in_tile); });
    }
    k_.tile(end - begin, weights, gathered, ld, bias, tile, k_.tile_cols);
    each_run([](T* out, const T* in_tile, int64_t n) { std::copy_n(in_tile, n, out); });
  }

  const Conv2dExtents& e_;
  const T* x_;
  T* y_;
  const Kernels<T>& k_;
  int64_t plane_, positions_, taps_, depth_, group_rows_, panels_;
  Scratch<T> weights_, bias_;
  int64_t width_ = 0;
};

}  // namespace

template <class T>
void conv2d(const T* x, const T* weight, const T* bias, const Conv2dExtents& extents, T* y) {
  Conv2dExtents e = extents;
  const Window2d& w = e.window;
  if (w.kernel == std::array<int64_t, 2>{1, 1} && w.stride == w.kernel &&
      w.padding == std::array<int64_t, 2>{0, 0}) {
    // Every position stands for itself: one long row is gathered by plain copies.
    e.in = e.out = {1, e.in[0] * e.in[1]};
  }
  Convolution<T>(x, weight, bias, e, y).run();
}

template void conv2d<float>(const float*, const float*, const float*, const Conv2dExtents&, float*);
template void conv2d<double>(const double*, const double*, const double*, const Conv2dExtents&,
                             double*);

}  // namespace kbench::reference
