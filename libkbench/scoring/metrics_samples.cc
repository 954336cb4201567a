// Samples of a model over tasks: pass@k and fast_p@k, winners, the best of k.
#include <cmath>

#include "kbench/metrics.h"
#include "libkbench/scoring/metrics_chains.h"

namespace kbench {
namespace {

/// The facts about a chain that decide every criterion.
struct Outlook {
  double point = -1, low = -1;  ///< the best of its correct attempts; -1: it has none
  bool unfinished = false;

  bool good(const Criterion& criterion) const {
    if (point < 0) return false;
    return criterion.p <= 0 || (criterion.at_low ? low : point) > criterion.p;
  }
};

Outlook outlook_of(const Chain& chain, const MetricScope& scope) {
  Outlook outlook;
  for (const AttemptRow& row : chain.attempts) {
    if (!within(row, scope)) continue;
    outlook.unfinished |= row.unfinished();
    if (!counts(row, scope)) continue;
    outlook.point = std::max(outlook.point, row.speedup.point);
    outlook.low = std::max(outlook.low, row.speedup.low);
  }
  return outlook;
}

template <class Estimate>
Score mean_of(std::span<const Draws> draws, int k, const Bootstrap& bootstrap, Estimate estimate) {
  Score score;
  std::vector<double> low, high;
  for (const Draws& task : draws) {
    if (const std::optional<Share> share = estimate(task, k)) {
      low.push_back(share->low);
      high.push_back(share->high);
    } else {
      ++score.undefined;
    }
  }
  if (score.undefined > 0) return score;
  const Interval below = bootstrap.mean(low).interval;
  const Interval above = low == high ? below : bootstrap.mean(high).interval;
  score.value = Share{below.point, above.point};
  score.interval = {below.low, below.point, above.high};
  return score;
}

/// The fastest correct attempt of a chain; null where there is none.
const AttemptRow* best_of_chain(const Chain& chain, const MetricScope& scope) {
  const AttemptRow* best = nullptr;
  for (const AttemptRow& row : chain.attempts) {
    if (!within(row, scope) || !counts(row, scope)) continue;
    if (best == nullptr || row.speedup.point > best->speedup.point) best = &row;
  }
  return best;
}

struct Found {
  double measured = 0;  ///< by which one is chosen
  double value = 0;     ///< what it is worth
};

std::vector<Found> found_speedups(std::span<const Chain> chains, const MetricScope& scope,
                                  const Confirmations& confirmations) {
  std::vector<Found> found;
  for (const Chain& chain : chains) {
    const AttemptRow* best = best_of_chain(chain, scope);
    if (best == nullptr) continue;
    const double measured = best->speedup.point;
    found.push_back({measured, confirmations.find(best->task, best->candidate).value_or(measured)});
  }
  std::ranges::stable_sort(found, {}, &Found::measured);
  return found;
}

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

std::vector<Draws> draws(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                         const Criterion& criterion) {
  return std::move(draws(set, model, scope, std::span(&criterion, 1)).front());
}

std::vector<std::vector<Draws>> draws(const AttemptSet& set, uint32_t model,
                                      const MetricScope& scope,
                                      std::span<const Criterion> criteria) {
  const std::vector<int> count = asked(set, model, scope);
  std::vector<std::vector<Draws>> all(criteria.size(), std::vector<Draws>(scope.tasks.size()));
  for (size_t i = 0; i < scope.tasks.size(); ++i) {
    for (const Chain& chain : set.chains(model, scope.tasks[i])) {
      const Outlook outlook = outlook_of(chain, scope);
      for (size_t j = 0; j < criteria.size(); ++j) {
        const bool good = outlook.good(criteria[j]);
        all[j][i].n += good || !outlook.unfinished;
        all[j][i].c += good;
      }
    }
    for (std::vector<Draws>& tasks : all) tasks[i].lost = count[i] - tasks[i].n;
  }
  return all;
}

Score mean_pass_at_k(std::span<const Draws> draws, int k, const Bootstrap& bootstrap) {
  return mean_of(draws, k, bootstrap,
                 [](const Draws& task, int of) { return pass_at_k(task, of); });
}

Score mean_pass_hat_k(std::span<const Draws> draws, int k, const Bootstrap& bootstrap) {
  return mean_of(draws, k, bootstrap,
                 [](const Draws& task, int of) { return pass_hat_k(task, of); });
}

std::vector<Winner> winners(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                            const Confirmations& confirmations) {
  std::vector<Winner> all;
  for (const TaskId& task : scope.tasks) {
    const AttemptRow* best = nullptr;
    for (const Chain& chain : set.chains(model, task)) {
      const AttemptRow* row = best_of_chain(chain, scope);
      if (row == nullptr) continue;
      if (best == nullptr || row->speedup.point > best->speedup.point) best = row;
    }
    Winner& winner = all.emplace_back();
    if (best == nullptr) continue;
    winner = {best->sample, best->attempt, best->candidate, best->speedup,
              confirmations.find(task, best->candidate)};
  }
  return all;
}

BestOf best_of(const AttemptSet& set, uint32_t model, const MetricScope& scope, int k,
               const Bootstrap& bootstrap, const Confirmations& confirmations) {
  BestOf best;
  const std::vector<int> count = asked(set, model, scope);
  const std::vector<Draws> samples = draws(set, model, scope);
  std::vector<double> plain, logarithms;
  for (size_t i = 0; i < scope.tasks.size(); ++i) {
    best.lower_bound |= samples[i].lost > 0;
    const std::vector<Found> found =
        found_speedups(set.chains(model, scope.tasks[i]), scope, confirmations);
    std::vector<double> values(static_cast<size_t>(count[i]) - found.size(), 0.0);
    for (const Found& one : found) values.push_back(one.value);
    const std::optional<double> expected = expected_best(values, k);
    if (!expected) {
      ++best.undefined;
      continue;
    }
    plain.push_back(*expected);
    for (double& value : values) value = std::log(std::max(value, 1.0));
    logarithms.push_back(*expected_best(values, k));
  }
  if (best.undefined > 0) return best;
  best.arithmetic = bootstrap.mean(plain).interval;
  const Interval mean = bootstrap.mean(logarithms).interval;
  best.geometric = Interval{std::exp(mean.low), std::exp(mean.point), std::exp(mean.high)};
  return best;
}

}  // namespace kbench
