// Several models: two compared on the same tasks, and all of them together.
#include <limits>

#include "kbench/metrics.h"
#include "libkbench/scoring/metrics_chains.h"

namespace kbench {
namespace {

/// The number of samples that every task was asked for.
int samples_everywhere(std::span<const Draws> draws) {
  int least = std::numeric_limits<int>::max();
  for (const Draws& task : draws) least = std::min(least, task.n + task.lost);
  return draws.empty() ? 0 : least;
}

/// The cost of a sample of a model: the mean over its chains.
struct PerSample {
  double calls = 0;
  std::optional<double> tokens;
};

PerSample per_sample(const AttemptSet& set, uint32_t model, const MetricScope& scope) {
  double chains = 0, calls = 0, tokens = 0;
  bool known = true;
  for (const TaskId& task : scope.tasks) chains += double(set.chains(model, task).size());
  for_each_row(set, model, scope, [&](const AttemptRow& row, size_t) {
    if (row.outcome == Outcome::unanswered) return;
    calls += 1;
    known &= row.usage.input && row.usage.output;
    tokens += double(row.usage.input.value_or(0) + row.usage.output.value_or(0));
  });
  if (chains == 0) return {};
  return {calls / chains, known ? std::optional(tokens / chains) : std::nullopt};
}

SwarmPoint point(int k, std::span<const std::vector<Draws>> members,
                 std::span<const PerSample> costs) {
  SwarmPoint at{.samples = k, .tokens = 0, .solved = Share{}};
  for (const PerSample& cost : costs) {
    at.calls += k * cost.calls;
    at.tokens =
        at.tokens && cost.tokens ? std::optional(*at.tokens + k * *cost.tokens) : std::nullopt;
  }
  const size_t tasks = members.front().size();
  for (size_t i = 0; i < tasks; ++i) {
    double none_low = 1, none_high = 1;  // that no sample is good
    for (const std::vector<Draws>& member : members) {
      const Share share = *pass_at_k(member[i], k);
      none_low *= 1 - share.low;
      none_high *= 1 - share.high;
    }
    at.solved->low += (1 - none_low) / double(tasks);
    at.solved->high += (1 - none_high) / double(tasks);
  }
  return at;
}

std::vector<SwarmPoint> curve(std::span<const std::vector<Draws>> members,
                              std::span<const PerSample> costs) {
  int most = std::numeric_limits<int>::max();
  for (const auto& member : members) most = std::min(most, samples_everywhere(member));
  std::vector<SwarmPoint> points;
  for (int k = 1; k <= most; ++k) points.push_back(point(k, members, costs));
  return points;
}

int sum(const std::vector<bool>& flags) {
  return static_cast<int>(std::ranges::count(flags, true));
}

}  // namespace

PairedComparison compare_models(const AttemptSet& set, uint32_t first, uint32_t second,
                                const MetricScope& scope, int k, const Bootstrap& bootstrap) {
  PairedComparison result{.first = first, .second = second, .difference = {}};
  const std::vector<Draws> a = draws(set, first, scope);
  const std::vector<Draws> b = draws(set, second, scope);
  std::vector<double> low, high;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool unknown = (a[i].c == 0 && a[i].lost > 0) || (b[i].c == 0 && b[i].lost > 0);
    const bool by_a = a[i].c > 0, by_b = b[i].c > 0;
    ++(unknown        ? result.unknown
       : by_a && by_b ? result.both
       : by_a         ? result.only_first
       : by_b         ? result.only_second
                      : result.neither);
    const std::optional<Share> x = pass_at_k(a[i], k), y = pass_at_k(b[i], k);
    if (!x || !y) continue;
    low.push_back(x->low - y->high);
    high.push_back(x->high - y->low);
  }
  result.p = mcnemar_exact(result.only_first, result.only_second);
  if (low.size() == a.size()) {
    const Interval below = bootstrap.mean(low), above = bootstrap.mean(high);
    result.difference = Interval{below.low, (below.point + above.point) / 2, above.high};
  }
  return result;
}

Swarm swarm(const AttemptSet& set, std::span<const uint32_t> models, const MetricScope& scope,
            const Confirmations& confirmations) {
  Swarm result;
  result.models.assign(models.begin(), models.end());
  const size_t tasks = scope.tasks.size();
  std::vector<std::vector<Draws>> members;
  std::vector<std::vector<bool>> solved, faster;
  std::vector<PerSample> costs;
  std::vector<double> best(tasks, 0.0);
  result.winner.resize(tasks);
  for (const uint32_t model : models) {
    members.push_back(draws(set, model, scope));
    costs.push_back(per_sample(set, model, scope));
    const std::vector<Winner> own = winners(set, model, scope, confirmations);
    std::vector<bool>& solves = solved.emplace_back();
    std::vector<bool>& speeds = faster.emplace_back();
    for (size_t i = 0; i < tasks; ++i) {
      solves.push_back(members.back()[i].c > 0);
      speeds.push_back(own[i].solved() && own[i].worth().low > 1);
      if (own[i].solved() && own[i].value() > best[i]) {
        best[i] = own[i].value();
        result.winner[i] = model;
      }
    }
  }
  // Tasks that some model has, and those that model m alone has.
  const auto alone = [&](const std::vector<std::vector<bool>>& has, size_t m) {
    std::vector<bool> only(tasks);
    for (size_t i = 0; i < tasks; ++i) {
      only[i] =
          std::ranges::count_if(has, [i](const auto& flags) { return flags[i]; }) == 1 && has[m][i];
    }
    return sum(only);
  };
  const auto any = [&](const std::vector<std::vector<bool>>& has) {
    std::vector<bool> one(tasks);
    for (size_t i = 0; i < tasks; ++i) {
      one[i] = std::ranges::any_of(has, [i](const auto& flags) { return flags[i]; });
    }
    return sum(one);
  };
  result.solved = any(solved);
  result.faster = any(faster);
  for (size_t m = 0; m < models.size(); ++m) {
    Swarm::Member& member = result.members.emplace_back();
    member.won = static_cast<int>(std::ranges::count(result.winner, std::optional(models[m])));
    member.lost_solved = alone(solved, m);
    member.lost_faster = alone(faster, m);
    member.alone = curve(std::span(members).subspan(m, 1), std::span(costs).subspan(m, 1));
  }
  if (!models.empty()) result.together = curve(members, costs);
  return result;
}

}  // namespace kbench
