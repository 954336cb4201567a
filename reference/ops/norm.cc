// Normalisation: two-pass statistics, biased variance.
#include <cmath>

#include "reference/arrays.h"
#include "reference/call.h"

namespace kbench::reference {
namespace {

/// Count, mean and sum of squared deviations of some elements.
struct Moments {
  double count = 0, mean = 0, m2 = 0;

  /// Chan's rule for two samples together (Chan, Golub, LeVeque: "Updating formulae and a pairwise
  /// algorithm for computing sample variances", 1979).
  void add(const Moments& other) {
    const double both = count + other.count, delta = other.mean - mean;
    m2 += other.m2 + delta * delta * count * other.count / both;
    mean += delta * other.count / both;
    count = both;
  }

  double inverse_deviation(double eps) const { return 1 / std::sqrt(m2 / count + eps); }
};

/// Two passes over each block, the second correcting the first's mean.
template <class T>
Moments moments(const T* x, int64_t n) {
  Moments total;
  const int64_t together = is_sequential() ? n : kBlock;
  for (int64_t i = 0; i < n; i += together) {
    const auto block = array(x + i, std::min(together, n - i));
    const auto count = static_cast<double>(block.size());
    const T rough = static_cast<T>(sum(block) / count);
    const auto deviation = block - rough;
    const double shift = sum(deviation) / count;
    total.add({count, rough + shift, sum(deviation.square()) - shift * shift * count});
  }
  return total;
}

/// The same of one long row, its pieces in parallel and combined in order.
template <class T>
Moments parallel_moments(const T* x, int64_t n) {
  const int64_t piece = is_sequential() ? n : 1 << 16;
  std::vector<Moments> parts((n + piece - 1) / piece);
  parallel_blocks(n, piece, [&](int64_t begin, int64_t end) {
    parts[begin / piece] = moments(x + begin, end - begin);
  });
  Moments total;
  for (const Moments& part : parts) total.add(part);
  return total;
}

/// x as [rows, channels, inner], the statistics of a row those of all its elements; row r begins
/// with channel r % groups * channels of weight and bias, both null or neither.
struct Groups {
  int64_t rows, groups, channels, inner;
};

template <class T>
void normalize(const T* x, const Groups& g, const T* weight, const T* bias, double eps, T* y) {
  const int64_t n = g.channels * g.inner;
  /// Channels [begin, end) of one row.
  const auto normalize_channels = [&](int64_t row, const Moments& m, int64_t begin, int64_t end) {
    const int64_t at = row * n + begin * g.inner, channel = row % g.groups * g.channels + begin;
    const auto from = array(x + at, (end - begin) * g.inner);
    auto to = array(y + at, from.size());
    const T mean = static_cast<T>(m.mean), scale = static_cast<T>(m.inverse_deviation(eps));
    if (weight == nullptr) {
      to = (from - mean) * scale;
    } else if (g.inner == 1) {
      to = (from - mean) * scale * array(weight + channel, end - begin) +
           array(bias + channel, end - begin);
    } else {
      for (int64_t c = 0; c < end - begin; ++c) {
        to.segment(c * g.inner, g.inner) =
            (from.segment(c * g.inner, g.inner) - mean) * (scale * weight[channel + c]) +
            bias[channel + c];
      }
    }
  };
  // All threads on one row where there are few, and where the second pass over a row would no
  // longer find it in a core's own cache.
  constexpr int64_t kFewRows = 16, kLong = 1 << 15, kTooLong = 1 << 18;
  if (n >= kTooLong || (g.rows < kFewRows && n >= kLong)) {
    for (int64_t row = 0; row < g.rows; ++row) {
      const Moments m = parallel_moments(x + row * n, n);
      parallel_blocks(g.channels, grain_of(g.inner),
                      [&](int64_t begin, int64_t end) { normalize_channels(row, m, begin, end); });
    }
    return;
  }
  parallel_blocks(g.rows, grain_of(n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      normalize_channels(row, moments(x + row * n, n), 0, g.channels);
    }
  });
}

/// x [batch, channels, inner] with the statistics of a channel: those of its runs together.
template <class T>
void normalize_runs(const T* x, int64_t batch, int64_t channels, int64_t inner, const T* weight,
                    const T* bias, double eps, T* y) {
  parallel_blocks(channels, grain_of(batch * inner), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      Moments m;
      for (int64_t b = 0; b < batch; ++b) m.add(moments(x + (b * channels + c) * inner, inner));
      const T mean = static_cast<T>(m.mean), shift = bias != nullptr ? bias[c] : T(0);
      const T scale = static_cast<T>(m.inverse_deviation(eps) * (weight ? weight[c] : T(1)));
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t at = (b * channels + c) * inner;
        array(y + at, inner) = (array(x + at, inner) - mean) * scale + shift;
      }
    }
  });
}

/// The same of short runs: down the columns of x as [batch, channels * inner], a block of channels
/// at a time.
template <class T>
void normalize_columns(const T* x, int64_t batch, int64_t channels, int64_t inner, const T* weight,
                       const T* bias, double eps, T* y) {
  using Columns = Eigen::Array<T, 1, Dynamic>;
  using Sums = Eigen::Array<double, 1, Dynamic>;
  const int64_t block = (64 + inner - 1) / inner, pitch = channels * inner;
  parallel_blocks(channels, block, [&](int64_t first, int64_t end) {
    const int64_t width = (end - first) * inner;
    const auto from = table(x + first * inner, batch, width, pitch);
    auto to = table(y + first * inner, batch, width, pitch);
    const auto count = static_cast<double>(batch);

    Sums sums = Sums::Zero(width), squares = sums;
    for (int64_t b = 0; b < batch; ++b) sums += from.row(b).template cast<double>();
    const Columns rough = (sums / count).template cast<T>();
    sums.setZero();
    for (int64_t b = 0; b < batch; ++b) {
      const Columns deviation = from.row(b) - rough;
      sums += deviation.template cast<double>();
      squares += deviation.template cast<double>().square();
    }

    Columns mean(width), scale(width), shift(width);
    for (int64_t c = first; c < end; ++c) {
      Moments m;
      const int64_t at = (c - first) * inner;
      for (int64_t i = at; i < at + inner; ++i) {
        m.add({count, rough[i] + sums[i] / count, squares[i] - sums[i] * sums[i] / count});
      }
      mean.segment(at, inner).setConstant(static_cast<T>(m.mean));
      scale.segment(at, inner).setConstant(
          static_cast<T>(m.inverse_deviation(eps) * (weight ? weight[c] : T(1))));
      shift.segment(at, inner).setConstant(bias != nullptr ? bias[c] : T(0));
    }
    for (int64_t b = 0; b < batch; ++b) to.row(b) = (from.row(b) - mean) * scale + shift;
  });
}

/// Elements of a channel of one sample.
int64_t inner_of(const Shape& x) { return element_count(Shape(x.begin() + 2, x.end())); }

void run_groups(const OperatorCall& call, const Groups& groups, Inputs in, Outputs out) {
  with_type(out[0], [&]<class T>() {
    normalize(elements<T>(in, 0), groups, elements<T>(in, 1), elements<T>(in, 2),
              call.attributes.real("eps"), result<T>(out));
  });
}

}  // namespace

void run_layer_norm(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  const int64_t n = element_count(Shape(x.end() - call.attributes.integer("dims"), x.end()));
  run_groups(call, {in[0].elements() / n, 1, n, 1}, in, out);
}

void run_group_norm(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  const int64_t groups = call.attributes.integer("groups");
  run_groups(call, {x[0] * groups, groups, x[1] / groups, inner_of(x)}, in, out);
}

void run_instance_norm(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  run_groups(call, {x[0] * x[1], x[1], 1, inner_of(x)}, in, out);
}

void run_batch_norm(const OperatorCall& call, Inputs in, Outputs out) {
  const Shape& x = in[0].shape();
  const int64_t inner = inner_of(x);
  with_type(out[0], [&]<class T>() {
    const auto run = inner >= 16 ? normalize_runs<T> : normalize_columns<T>;
    run(elements<T>(in, 0), x[0], x[1], inner, elements<T>(in, 1), elements<T>(in, 2),
        call.attributes.real("eps"), result<T>(out));
  });
}

}  // namespace kbench::reference
