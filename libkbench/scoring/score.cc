#include "kbench/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kbench/error.h"

namespace kbench {
namespace {

constexpr double kOutsideOneSide = 0.025;

/// The largest k with P(binomial(n, 1/2) < k) <= 2.5%: the interval is the k-th smallest to the
/// k-th largest value. 0 when there is none.
int64_t lower_rank(int64_t n) {
  // Binomial weights relative to the central one, which neither overflow nor need a gamma
  // function; those below 1e-40 of it change nothing.
  std::vector<double> weights;
  const int64_t centre = n / 2;
  double weight = 1;
  for (int64_t i = centre; i >= 0 && weight > 1e-40; --i) {
    weights.push_back(weight);
    weight *= static_cast<double>(i) / static_cast<double>(n - i + 1);
  }
  double total = 0;
  for (auto w = weights.rbegin(); w != weights.rend(); ++w) total += 2 * *w;
  if (n % 2 == 0) total -= weights.front();

  int64_t rank = centre + 1 - static_cast<int64_t>(weights.size());
  double below = 0;
  for (auto w = weights.rbegin(); w != weights.rend(); ++w, ++rank) {
    below += *w / total;
    if (below > kOutsideOneSide) break;
  }
  return rank;
}

double median_of_sorted(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  // Equal values first: the mean of two infinities is theirs, and no rounding is added.
  if (sorted[middle - 1] == sorted[middle]) return sorted[middle];
  return sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2;
}

void sort_numbers(std::vector<double>& values) {
  for (double value : values) {
    if (std::isnan(value)) {
      throw Error(ErrorCode::kInvalidArgument, "a NaN has no place among values to be ranked");
    }
  }
  std::ranges::sort(values);
}

}  // namespace

Interval median_interval(std::vector<double> values) {
  if (values.empty()) throw Error(ErrorCode::kInvalidArgument, "no values to take a median of");
  sort_numbers(values);
  const int64_t rank = lower_rank(static_cast<int64_t>(values.size()));
  Interval interval{0, median_of_sorted(values), std::numeric_limits<double>::infinity()};
  if (rank > 0) {
    interval.low = values[static_cast<size_t>(rank - 1)];
    interval.high = values[values.size() - static_cast<size_t>(rank)];
  }
  return interval;
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (double value : values) {
    if (!(value > 0)) return 0;
    sum += std::log(value);
  }
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  sort_numbers(values);
  return median_of_sorted(values);
}

FastP fast_p(std::span<const Result> results, double p, int tasks) {
  std::map<TaskId, const Result*> last;
  for (const Result& result : results) last[result.task] = &result;

  FastP score{.p = p, .tasks = tasks};
  for (const auto& [task, result] : last) {
    if (!result->correct()) continue;
    // Every time is above zero: at p = 0 only correctness counts.
    score.at_point += p <= 0 || result->speedup.point > p;
    score.at_low += p <= 0 || result->speedup.low > p;
  }
  return score;
}

double pass_at_k(int n, int c, int k) {
  if (c < 0 || n < c || k < 1 || k > n) {
    throw Error(ErrorCode::kInvalidArgument,
                "pass@k needs 0 <= c <= n and 1 <= k <= n, got n = " + std::to_string(n) +
                    ", c = " + std::to_string(c) + ", k = " + std::to_string(k));
  }
  if (n - c < k) return 1;
  double all_bad = 1;
  for (int i = n - c + 1; i <= n; ++i) all_bad *= 1 - static_cast<double>(k) / i;
  return 1 - all_bad;
}

}  // namespace kbench
