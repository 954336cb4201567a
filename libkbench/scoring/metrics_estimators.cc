// pass@k, pass^k and the expected best of k, of one task; and intervals over tasks.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "kbench/error.h"
#include "kbench/metrics.h"
#include "kbench/random.h"
#include "kbench/score.h"

namespace kbench {
namespace {

void check(const Draws& d, int k) {
  if (d.n >= 0 && d.c >= 0 && d.c <= d.n && d.lost >= 0 && k >= 1) return;
  throw Error(ErrorCode::kInvalidArgument,
              "samples must hold 0 <= c <= n, 0 <= lost and 1 <= k; got n = " +
                  std::to_string(d.n) + ", c = " + std::to_string(d.c) +
                  ", lost = " + std::to_string(d.lost) + ", k = " + std::to_string(k));
}

double all_good(int n, int c, int k) {
  if (c < k) return 0;
  double share = 1;
  for (int i = 0; i < k; ++i) share *= double(c - i) / (n - i);
  return share;
}

}  // namespace

std::optional<Share> pass_at_k(const Draws& d, int k) {
  check(d, k);
  const int n = d.n + d.lost;
  if (n < k) return std::nullopt;
  return Share{pass_at_k(n, d.c, k), pass_at_k(n, d.c + d.lost, k)};
}

std::optional<Share> pass_hat_k(const Draws& d, int k) {
  check(d, k);
  const int n = d.n + d.lost;
  if (n < k) return std::nullopt;
  return Share{all_good(n, d.c, k), all_good(n, d.c + d.lost, k)};
}

std::vector<double> weights_of_last(int n, int k) {
  check({}, k);
  if (n < k) {
    throw Error(ErrorCode::kInvalidArgument,
                "there are no " + std::to_string(k) + " among " + std::to_string(n) + " values");
  }
  std::vector<double> weights(static_cast<size_t>(n));
  double weight = double(k) / n;  // C(n-1,k-1)/C(n,k)
  for (int i = n; i >= k; --i) {
    weights[static_cast<size_t>(i - 1)] = weight;
    if (i > k) weight *= double(i - k) / (i - 1);
  }
  return weights;
}

std::optional<double> expected_best(std::span<const double> values, int k) {
  check({}, k);
  if (values.size() < static_cast<size_t>(k)) return std::nullopt;
  const std::vector<double> weights = weights_of_last(static_cast<int>(values.size()), k);
  double sum = 0;
  for (size_t i = values.size(); i-- > 0;) sum += weights[i] * values[i];
  return sum;
}

namespace {

/// Resamples that are summed at once: additions in the same order, but none waits for the last.
constexpr size_t kTogether = 8;

/// Sums of values over `picks`, of `count` of them each.
template <size_t Sums>
std::array<double, Sums> sums_of(std::span<const double> values, const uint32_t* picks,
                                 size_t count) {
  std::array<double, Sums> sums = {};
  for (size_t i = 0; i < count; ++i) {
    for (size_t s = 0; s < Sums; ++s) sums[s] += values[picks[s * count + i]];
  }
  return sums;
}

constexpr double kNormal975 = 1.959963984540054;

/// Philox's words one after the other.
class Words {
 public:
  explicit Words(uint64_t seed) : key_{uint32_t(seed), uint32_t(seed >> 32)} {}
  uint32_t below(uint32_t limit) {
    if (used_ == block_.size()) {
      block_ = philox4x32({uint32_t(count_), uint32_t(count_ >> 32), 0, 0}, key_);
      ++count_;
      used_ = 0;
    }
    return static_cast<uint32_t>(uint64_t{block_[used_++]} * limit >> 32);
  }

 private:
  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> block_ = {};
  size_t used_ = 4;
  uint64_t count_ = 0;
};

}  // namespace

Interval wilson(int c, int n) {
  if (n < 1 || c < 0 || c > n) {
    throw Error(ErrorCode::kInvalidArgument, "a share needs 0 <= c <= n and n > 0, got " +
                                                 std::to_string(c) + " of " + std::to_string(n));
  }
  const double share = double(c) / n, z2 = kNormal975 * kNormal975;
  const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kNormal975 / (1 + z2 / n) * std::sqrt(share * (1 - share) / n + z2 / (4.0 * n * n));
  return {c == 0 ? 0 : centre - half, share, c == n ? 1 : centre + half};
}

double mcnemar_exact(int only_first, int only_second) {
  if (only_first < 0 || only_second < 0) {
    throw Error(ErrorCode::kInvalidArgument, "a number of tasks is not negative");
  }
  const int n = only_first + only_second, fewer = std::min(only_first, only_second);
  const auto log_choose = [n](int i) {
    return std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0);
  };
  double tail = 0;
  for (int i = 0; i <= fewer; ++i) tail += std::exp(log_choose(i) - n * std::log(2.0));
  return std::min(1.0, 2 * tail);
}

Bootstrap::Bootstrap(std::span<const int> strata, int resamples, uint64_t seed)
    : tasks_(strata.size()) {
  if (strata.empty() || resamples < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a bootstrap needs tasks and resamples");
  }
  std::map<int, std::vector<uint32_t>> members;
  for (size_t i = 0; i < strata.size(); ++i) {
    members[strata[i]].push_back(static_cast<uint32_t>(i));
  }
  Words words(seed);
  picks_.reserve(tasks_ * static_cast<size_t>(resamples));
  for (int r = 0; r < resamples; ++r) {
    for (const auto& [stratum, tasks] : members) {
      const auto count = static_cast<uint32_t>(tasks.size());
      for (uint32_t i = 0; i < count; ++i) picks_.push_back(tasks[words.below(count)]);
    }
  }
}

template <class Statistic>
Interval Bootstrap::spread(double point, Statistic statistic) const {
  const size_t count = picks_.size() / tasks_;
  std::vector<double> found(count);
  tbb::parallel_for(size_t{0}, count / kTogether, [&](size_t block) {
    const size_t first = block * kTogether;
    const std::array<double, kTogether> some =
        statistic.template operator()<kTogether>(picks_.data() + first * tasks_);
    std::ranges::copy(some, found.begin() + static_cast<std::ptrdiff_t>(first));
  });
  for (size_t r = count - count % kTogether; r < count; ++r) {
    found[r] = statistic.template operator()<1>(picks_.data() + r * tasks_)[0];
  }
  std::erase_if(found, [](double value) { return std::isnan(value); });
  if (found.empty()) return {point, point, point};
  std::ranges::sort(found);
  const auto rank = [&](double share) {
    const auto last = static_cast<double>(found.size() - 1);
    return found[static_cast<size_t>(std::lround(share * last))];
  };
  return {rank(0.025), point, rank(0.975)};
}

Interval Bootstrap::mean(std::span<const double> values) const {
  if (values.size() != tasks_) {
    throw Error(ErrorCode::kInvalidArgument, "a bootstrap needs a value a task");
  }
  double sum = 0;
  for (const double value : values) sum += value;
  const double count = double(tasks_);
  return spread(sum / count, [&]<size_t Sums>(const uint32_t* picks) {
    std::array<double, Sums> means = sums_of<Sums>(values, picks, tasks_);
    for (double& mean : means) mean /= count;
    return means;
  });
}

Interval Bootstrap::ratio(std::span<const double> numerators,
                          std::span<const double> denominators) const {
  if (numerators.size() != tasks_ || denominators.size() != tasks_) {
    throw Error(ErrorCode::kInvalidArgument, "a bootstrap needs a value a task");
  }
  double above = 0, below = 0;
  for (size_t i = 0; i < tasks_; ++i) {
    above += numerators[i];
    below += denominators[i];
  }
  return spread(below > 0 ? above / below : 0, [&]<size_t Sums>(const uint32_t* picks) {
    std::array<double, Sums> ratios = sums_of<Sums>(numerators, picks, tasks_);
    const std::array<double, Sums> bottoms = sums_of<Sums>(denominators, picks, tasks_);
    for (size_t s = 0; s < Sums; ++s) {
      ratios[s] =
          bottoms[s] > 0 ? ratios[s] / bottoms[s] : std::numeric_limits<double>::quiet_NaN();
    }
    return ratios;
  });
}

}  // namespace kbench
