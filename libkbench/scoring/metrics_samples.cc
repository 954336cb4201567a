// Samples of a model over tasks: pass@k and fast_p@k, winners, the best of k.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "kbench/metrics.h"
#include "kbench/score.h"
#include "libkbench/scoring/metrics_chains.h"

namespace kbench {
namespace {

/// The fastest correct attempt of a chain; null where there is none.
const AttemptRow* best_of_chain(const Chain& chain, const MetricScope& scope) {
  const AttemptRow* best = nullptr;
  for (const AttemptRow& row : chain.attempts) {
    if (!within(row, scope) || !counts(row, scope)) continue;
    if (best == nullptr || row.speedup.point > best->speedup.point) best = &row;
  }
  return best;
}

/// What tells one measurement from another: identical candidates are judged once.
using Measurement = std::pair<uint64_t, double>;

Measurement measurement_of(const AttemptRow& row) { return {row.candidate, row.speedup.point}; }

size_t different(std::vector<Measurement> all) {
  std::ranges::sort(all);
  return static_cast<size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

/// z with P(a standard normal > z) = tail, for a tail below one half.
double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::numbers::sqrt2) / 2 > tail ? low : high) = middle;
  }
  return high;
}

/// How much further away the bound of the fastest of so many lies than that of one.
double widening(int among) {
  if (among <= 1) return 1;
  thread_local int last = 1;
  thread_local double factor = 1;
  if (among != last) {
    constexpr double kTail = 0.025;
    const double tail = -std::expm1(std::log1p(-kTail) / among);
    factor = normal_quantile(tail) / normal_quantile(kTail);
    last = among;
  }
  return factor;
}

/// The probability that the last of k values out of these, each 0 or 1, is 1.
double share_of_ones(const std::vector<double>& values, int k) {
  if (!std::ranges::is_sorted(values)) return *expected_best(values, k);
  const auto ones = static_cast<int>(std::ranges::count(values, 1.0));
  return pass_at_k(static_cast<int>(values.size()), ones, k);
}

double same(double value) { return value; }
double log_gain(double value) { return std::log(std::max(value, 1.0)); }

/// The expected worth of the best of k, task by task, on the scale that `scaled` gives.
class ExpectedWorth {
 public:
  ExpectedWorth(std::span<const Ranking> tasks, int k, double (*scaled)(double)) : scaled_(scaled) {
    for (const Ranking& task : tasks) add(task, k);
  }

  /// 95% over tasks, and no narrower than what the measurements themselves leave open.
  Interval interval(const Bootstrap& bootstrap) const {
    const double count = double(worth_.size());
    const Interval over_tasks = bootstrap.mean(worth_);
    const Interval as_measured = bootstrap.mean(measured_);
    return {std::min(over_tasks.low, over_tasks.point - std::sqrt(below_) / count),
            over_tasks.point,
            std::max(as_measured.high, as_measured.point + std::sqrt(above_) / count)};
  }

 private:
  void add(const Ranking& task, int k) {
    const std::vector<double> weights = weights_of_last(task.asked, k);
    const size_t wrong = weights.size() - task.samples.size();
    const int among = task.among(k);
    double worth = 0, measured = 0;
    std::map<Measurement, std::pair<double, double>> errors;  // Those of one measurement add up.
    for (size_t i = 0; i < task.samples.size(); ++i) {
      const double weight = weights[wrong + i];
      if (weight == 0) continue;
      const RankedSample& sample = task.samples[i];
      const Interval counted = sample.worth(among);
      const double point = sample.confirmed ? counted.point : sample.speedup.point;
      worth += weight * scaled_(counted.point);
      measured += weight * scaled_(point);
      auto& [below, above] = errors[{sample.candidate, sample.speedup.point}];
      below += weight * (scaled_(counted.point) - scaled_(counted.low));
      above += weight * (scaled_(counted.high) - scaled_(point));
    }
    worth_.push_back(worth);
    measured_.push_back(measured);
    for (const auto& [from, error] : errors) {
      below_ += error.first * error.first;
      above_ += error.second * error.second;
    }
  }

  double (*scaled_)(double);
  std::vector<double> worth_, measured_;
  double below_ = 0, above_ = 0;  ///< sums of squares, over all tasks
};

}  // namespace

std::vector<int> asked(const AttemptSet& set, uint32_t model, const MetricScope& scope) {
  std::vector<int> count;
  int most = 0;
  for (const TaskId& task : scope.tasks) {
    count.push_back(static_cast<int>(set.chains(model, task).size()));
    most = std::max(most, count.back());
  }
  for (int& n : count) {
    n = scope.samples > 0 ? std::max(n, scope.samples) : n > 0 ? n : std::max(most, 1);
  }
  return count;
}

std::vector<Draws> draws(const AttemptSet& set, uint32_t model, const MetricScope& scope) {
  std::vector<Draws> all;
  for (const Ranking& task : rankings(set, model, scope)) {
    all.push_back({task.asked - task.lost, static_cast<int>(task.samples.size()), task.lost});
  }
  return all;
}

Score mean_share(std::span<const std::optional<Share>> shares, const Bootstrap& bootstrap) {
  Score score;
  std::vector<double> low, high;
  for (const std::optional<Share>& share : shares) {
    if (share) {
      low.push_back(share->low);
      high.push_back(share->high);
    } else {
      ++score.undefined;
    }
  }
  if (score.undefined > 0) return score;
  const Interval below = bootstrap.mean(low);
  const Interval above = low == high ? below : bootstrap.mean(high);
  score.value = Share{below.point, above.point};
  score.interval = {below.low, below.point, above.high};
  return score;
}

Score mean_pass_at_k(std::span<const Draws> draws, int k, const Bootstrap& bootstrap) {
  std::vector<std::optional<Share>> shares;
  for (const Draws& task : draws) shares.push_back(pass_at_k(task, k));
  return mean_share(shares, bootstrap);
}

Score mean_pass_hat_k(std::span<const Draws> draws, int k, const Bootstrap& bootstrap) {
  std::vector<std::optional<Share>> shares;
  for (const Draws& task : draws) shares.push_back(pass_hat_k(task, k));
  return mean_share(shares, bootstrap);
}

double low_of_fastest(const Interval& measured, int among) {
  if (!(measured.low > 0) || among <= 1) return measured.low;
  return measured.point * std::pow(measured.low / measured.point, widening(among));
}

Interval RankedSample::worth(int among) const {
  if (confirmed) return *confirmed;
  if (among <= 1) return speedup;
  const double low = low_of_fastest(speedup, among);
  return {low, low, speedup.high};
}

int Ranking::among(int k) const {
  std::vector<int> counts;
  for (const RankedSample& sample : samples) counts.push_back(sample.measurements);
  const size_t drawn = std::min(counts.size(), static_cast<size_t>(std::max(k, 0)));
  std::ranges::nth_element(counts, counts.begin() + static_cast<std::ptrdiff_t>(drawn),
                           std::greater<>());
  const int most =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(drawn), 0);
  return std::clamp(most, 1, std::max(measurements, 1));
}

std::vector<Ranking> rankings(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                              const Confirmations& confirmations) {
  const std::vector<int> count = asked(set, model, scope);
  std::vector<Ranking> all;
  for (size_t i = 0; i < scope.tasks.size(); ++i) {
    Ranking& task = all.emplace_back();
    task.asked = count[i];
    int wrong = 0;
    std::vector<Measurement> of_task;
    for (const Chain& chain : set.chains(model, scope.tasks[i])) {
      const bool unfinished = std::ranges::any_of(chain.attempts, [&](const AttemptRow& row) {
        return within(row, scope) && row.unfinished();
      });
      const AttemptRow* best = best_of_chain(chain, scope);
      if (best == nullptr) {
        wrong += !unfinished;
        continue;
      }
      std::vector<Measurement> of_chain;
      for (const AttemptRow& row : chain.attempts) {
        if (within(row, scope) && counts(row, scope)) of_chain.push_back(measurement_of(row));
      }
      of_task.insert(of_task.end(), of_chain.begin(), of_chain.end());
      task.samples.push_back({best->sample, best->attempt, best->candidate, best->speedup,
                              confirmations.find(best->task, best->candidate),
                              static_cast<int>(different(std::move(of_chain))), unfinished});
    }
    task.lost = task.asked - wrong - static_cast<int>(task.samples.size());
    task.measurements = static_cast<int>(different(std::move(of_task)));
    std::ranges::stable_sort(task.samples, {},
                             [](const RankedSample& sample) { return sample.speedup.point; });
  }
  return all;
}

std::optional<Share> fast_at_k(const Ranking& task, int k, const Criterion& criterion) {
  const size_t all = static_cast<size_t>(task.asked), correct = task.samples.size();
  if (criterion.p <= 0 || task.asked < k) {
    return pass_at_k({task.asked - task.lost, static_cast<int>(correct), task.lost}, k);
  }
  const int among = task.among(k);
  std::vector<double> low(all - correct), high(all - correct - static_cast<size_t>(task.lost));
  size_t unknown = static_cast<size_t>(task.lost);
  for (const RankedSample& sample : task.samples) {
    const double speedup = criterion.at_low   ? sample.worth(among).low
                           : sample.confirmed ? sample.confirmed->point
                                              : sample.speedup.point;
    const bool good = speedup > criterion.p;
    low.push_back(good);
    if (sample.unfinished && !good) {
      ++unknown;
    } else {
      high.push_back(good);
    }
  }
  high.resize(all, 1.0);  // What is unknown would be the fastest.
  const double below = share_of_ones(low, k);
  return Share{below, unknown == 0 ? below : share_of_ones(high, k)};
}

Winner winner_of(const Ranking& task) {
  if (task.samples.empty()) return {};
  // Of several as fast the first.
  const double most = task.samples.back().speedup.point;
  const auto best = std::ranges::find_if(
      task.samples, [most](const RankedSample& each) { return each.speedup.point == most; });
  return {*best, task.among(task.asked)};
}

std::vector<Winner> winners(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                            const Confirmations& confirmations) {
  std::vector<Winner> all;
  for (const Ranking& task : rankings(set, model, scope, confirmations)) {
    all.push_back(winner_of(task));
  }
  return all;
}

BestOf best_of(std::span<const Ranking> tasks, int k, const Bootstrap& bootstrap) {
  BestOf best;
  for (const Ranking& task : tasks) {
    best.lost |= task.lost > 0;
    best.undefined += task.asked < k;
  }
  if (best.undefined > 0) return best;
  for (const Ranking& task : tasks) {
    if (task.among(k) <= 1) continue;
    // The slowest k - 1 are never the fastest of k.
    const auto wrong = task.asked - static_cast<int>(task.samples.size());
    const auto never = static_cast<size_t>(std::max(k - 1 - wrong, 0));
    best.unconfirmed +=
        std::ranges::any_of(std::span(task.samples).subspan(std::min(never, task.samples.size())),
                            [](const RankedSample& sample) { return !sample.confirmed; });
  }
  best.arithmetic = ExpectedWorth(tasks, k, same).interval(bootstrap);
  const Interval mean = ExpectedWorth(tasks, k, log_gain).interval(bootstrap);
  best.geometric = Interval{std::exp(mean.low), std::exp(mean.point), std::exp(mean.high)};
  return best;
}

}  // namespace kbench
