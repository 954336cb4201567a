#include "reference/ops/convolution.h"

#include <algorithm>
#include <vector>

#include "reference/ops/depthwise_convolution.h"
#include "reference/parallel.h"
#include "reference/scratch.h"
#include "reference/simd/kernels.h"
#include "reference/windows.h"

namespace kbench::reference {
namespace {

constexpr int64_t kMaxDepth = 384;  // rows of a gathered block

int64_t round_up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Part of one row of outputs: `count` positions from `column` on, the first `at` in its block. An
/// image is one plane of outputs: a volume is as many images as it is deep.
struct Segment {
  int64_t image, row, column, count, at;
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
  // Where the pass's windows are found: at source + channel_offset[channel] + tap_offset[tap],
  // runs.
  const T* source = nullptr;
  std::vector<int64_t> channel_offset, tap_offset;
  std::vector<Run> runs;
};

/// One convolution at work. Output positions are numbered through all images, [batch, out];
/// a group's products are [out_channels / groups, depth] x [depth, positions]. The planes that a
/// window of several spans are taken for as many channels.
template <class T>
class Convolution {
 public:
  Convolution(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
              const OutputStrides& strides, T* y)
      : e_(extents),
        strides_(strides),
        x_(x),
        y_(y),
        k_(kernels<T>()),
        plane_(e_.out[0] * e_.out[1]),
        positions_(e_.batch * e_.depth.out * plane_),
        taps_(e_.window.kernel[0] * e_.window.kernel[1]),
        group_channels_(e_.channels / e_.groups * e_.depth.kernel),
        depth_(group_channels_ * taps_),
        group_rows_(e_.out_channels / e_.groups),
        panels_((group_rows_ + k_.tile_rows - 1) / k_.tile_rows),
        weights_(e_.groups * panels_ * k_.tile_rows * depth_),
        bias_(e_.groups * panels_ * k_.tile_rows * k_.tile_cols),
        run_(contiguous_outputs()),
        direct_(windows_are_runs()) {
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
  /// Positions whose outputs follow each other in memory, strides_.column apart.
  int64_t contiguous_outputs() const {
    if (strides_.row != e_.out[1] * strides_.column) return e_.out[1];
    return strides_.depth != plane_ * strides_.column ? plane_ : e_.depth.out * plane_;
  }

  /// Whether neither stride, padding nor an end of x is in the way of reading it as it is.
  bool windows_are_runs() const {
    const auto& [kernel, stride, padding, dilation] = e_.window;
    const Depth& d = e_.depth;
    const auto stays = [](int64_t in, int64_t out, int64_t k, int64_t s, int64_t pad, int64_t dil) {
      return pad == 0 && (out - 1) * s + (k - 1) * dil < in;
    };
    return stride[1] == 1 && stays(d.in, d.out, d.kernel, d.stride, d.padding, d.dilation) &&
           stays(e_.in[0], e_.out[0], kernel[0], stride[0], padding[0], dilation[0]) &&
           stays(e_.in[1], e_.out[1], kernel[1], stride[1], padding[1], dilation[1]);
  }

  /// The plane of x that an image's windows meet in a channel, counted from x; -1 outside.
  int64_t plane_of(int64_t image, int64_t channel) const {
    const Depth& d = e_.depth;
    const int64_t at = image % d.out * d.stride + channel % d.kernel * d.dilation - d.padding;
    if (at < 0 || at >= d.in) return -1;
    return (image / d.out * e_.channels + channel / d.kernel) * d.in + at;
  }

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
          std::fill_n(bias_.get() + (panel * rows + r) * k_.tile_cols, k_.tile_cols,
                      real && bias != nullptr ? bias[channel] : T(0));
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
      locate(group * group_channels_ + channel, (end - 1) / taps_ + 1 - channel, w);
      for (int64_t k = begin; k < end; ++k) {
        k_.copy_runs(w.source + w.channel_offset[k / taps_ - channel] + w.tap_offset[k % taps_],
                     w.runs.data(), static_cast<int64_t>(w.runs.size()),
                     w.gathered.get() + (k - begin) * w.ld);
      }
      for (int64_t at = 0; at < count; at += k_.tile_cols) {
        for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
          multiply(group, panel, begin, end, first + at,
                   std::min<int64_t>(k_.tile_cols, count - at), w.gathered.get() + at, w.ld,
                   w.tile.get());
        }
      }
    }
  }

  /// Makes the block's windows in `count` channels from `channel` on plain runs of a source: x
  /// itself where neither padding nor stride is in the way, else a padded copy of the rows needed.
  void locate(int64_t channel, int64_t count, Workspace<T>& w) const {
    const auto& [kernel, stride, padding, dilation] = e_.window;
    const int64_t in_plane = e_.in[0] * e_.in[1];
    w.runs.clear();
    w.tap_offset.clear();
    w.channel_offset.clear();
    const bool direct =
        direct_ &&
        (plane_of(w.segments.back().image, channel + count - 1) + 1) * in_plane + kRunSlack <=
            e_.batch * e_.channels * e_.depth.in * in_plane;
    if (!direct) return copy_padded(channel, count, w);
    w.source = x_;
    for (int64_t c = channel; c < channel + count; ++c) {
      w.channel_offset.push_back(plane_of(0, c) * in_plane);
    }
    for (const Segment& s : w.segments) {
      w.runs.push_back({plane_of(s.image, 0) * in_plane + s.row * stride[0] * e_.in[1] + s.column,
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
    const int64_t channel_step = images.back().end * line;
    for (int64_t c = 0; c < count; ++c) w.channel_offset.push_back(c * channel_step);
    w.padded.resize(std::max<size_t>(w.padded.size(), count * channel_step + kRunSlack));
    w.source = w.padded.data();

    for (int64_t c = 0; c < count; ++c) {
      for (const Rows& rows : images) {
        const int64_t number = plane_of(rows.image, channel + c);
        const T* plane = number < 0 ? nullptr : x_ + number * e_.in[0] * e_.in[1];
        for (int64_t l = rows.begin; l < rows.end; ++l) {
          if ((l - rows.begin) % stride[0] > span) continue;  // between windows
          const int64_t row = rows.first + l - rows.begin;
          T* to = w.padded.data() + c * channel_step + l * line;
          if (plane == nullptr || row < 0 || row >= e_.in[0]) {
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
  void multiply(int64_t group, int64_t panel, int64_t begin, int64_t end, int64_t position,
                int64_t columns, const T* gathered, int64_t ld, T* tile) const {
    const int64_t rows = std::min<int64_t>(k_.tile_rows, group_rows_ - panel * k_.tile_rows);
    const int64_t at = group * panels_ + panel;
    const T* weights = weights_.get() + (at * depth_ + begin) * k_.tile_rows;
    const T* bias = begin == 0 ? bias_.get() + at * k_.tile_rows * k_.tile_cols
                               : nullptr;  // else y is added to
    const auto run = [&](T* c, int64_t c_row) {
      k_.tile(k_.tile_rows, k_.tile_cols,
              {.depth = end - begin,
               .a = weights,
               .a_row = 1,
               .a_col = k_.tile_rows,
               .b = gathered,
               .b_row = ld,
               .start = bias != nullptr ? bias : c,
               .start_row = bias != nullptr ? k_.tile_cols : c_row,
               .c = c,
               .c_row = c_row});
    };
    const int64_t channel = group * group_rows_ + panel * k_.tile_rows;
    const auto place = [&](int64_t p) {
      const int64_t image = p / plane_;
      return y_ + image / e_.depth.out * strides_.batch + channel * strides_.channel +
             image % e_.depth.out * strides_.depth + p % plane_ / e_.out[1] * strides_.row +
             p % e_.out[1] * strides_.column;
    };
    if (rows == k_.tile_rows && columns == k_.tile_cols && strides_.column == 1 &&
        position % run_ + columns <= run_) {
      return run(place(position), strides_.channel);
    }
    const auto each_run = [&](const auto& copy) {  // the tile's runs of neighbours
      for (int64_t c = 0; c < columns;) {
        const int64_t run = std::min(columns - c, run_ - (position + c) % run_);
        for (int64_t r = 0; r < rows; ++r) {
          copy(place(position + c) + r * strides_.channel, tile + r * k_.tile_cols + c, run);
        }
        c += run;
      }
    };
    const int64_t step = strides_.column;
    if (bias == nullptr) {
      each_run(
          [&](const T* out, T* in_tile, int64_t n) { k_.copy_strided(out, step, in_tile, n); });
    }
    run(tile, k_.tile_cols);
    each_run([&](T* out, const T* in_tile, int64_t n) { k_.scatter(in_tile, step, out, n); });
  }

  const ConvExtents& e_;
  const OutputStrides& strides_;
  const T* x_;
  T* y_;
  const Kernels<T>& k_;
  int64_t plane_, positions_, taps_, group_channels_, depth_, group_rows_, panels_;
  Scratch<T> weights_, bias_;  ///< in panels; the bias as whole tiles
  int64_t run_;
  bool direct_;
  int64_t width_ = 0;
};

}  // namespace

template <class T>
void convolve(const T* x, const T* weight, const T* bias, const ConvExtents& extents, T* y) {
  if (is_depthwise(extents)) return convolve_depthwise(x, weight, bias, extents, y);
  ConvExtents e = extents;
  const Window2d& w = e.window;
  const Depth& d = e.depth;
  if (w.kernel == std::array<int64_t, 2>{1, 1} && w.stride == w.kernel &&
      w.padding == std::array<int64_t, 2>{0, 0} && d.kernel == 1 && d.stride == 1 &&
      d.padding == 0) {
    // Every position stands for itself: one long row is gathered by plain copies.
    e.in = e.out = {1, d.in * e.in[0] * e.in[1]};
    e.depth = {};
  }
  const int64_t plane = e.out[0] * e.out[1], volume = e.depth.out * plane;
  convolve_into(x, weight, bias, e, {e.out_channels * volume, volume, plane, e.out[1], 1}, y);
}

template <class T>
void convolve_into(const T* x, const T* weight, const T* bias, const ConvExtents& extents,
                   const OutputStrides& strides, T* y) {
  Convolution<T>(x, weight, bias, extents, strides, y).run();
}

#define KBENCH_INSTANTIATE(T)                                                      \
  template void convolve<T>(const T*, const T*, const T*, const ConvExtents&, T*); \
  template void convolve_into<T>(const T*, const T*, const T*, const ConvExtents&, \
                                 const OutputStrides&, T*);
KBENCH_INSTANTIATE(float)
KBENCH_INSTANTIATE(double)
#undef KBENCH_INSTANTIATE

}  // namespace kbench::reference
