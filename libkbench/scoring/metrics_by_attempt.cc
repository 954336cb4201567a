// Metrics by the number of the attempt: what is solved by then, and how far answers come.
#include <set>
#include <tuple>

#include "kbench/metrics.h"
#include "libkbench/scoring/metrics_chains.h"

namespace kbench {
namespace {

int last_attempt(const AttemptSet& set, const MetricScope& scope) {
  const int longest = std::max(set.longest_chain(), 1);
  return scope.attempts > 0 ? std::min(scope.attempts, longest) : longest;
}

/// Chains of a task: how many became good, or lost, at each attempt (index 0 is attempt 1).
struct Turns {
  std::vector<double> good, lost;
};

Turns turns_of(std::span<const Chain> chains, int attempts, const MetricScope& scope,
               const Criterion& criterion) {
  const auto count = static_cast<size_t>(attempts);
  Turns turns{std::vector<double>(count), std::vector<double>(count)};
  for (const Chain& chain : chains) {
    const AttemptRow* good = nullptr;
    const AttemptRow* lost = nullptr;
    for (const AttemptRow& row : chain.attempts) {
      if (row.attempt > attempts) break;
      if (is_good(row, scope, criterion)) {
        good = &row;
        break;
      }
      if (lost == nullptr && row.unfinished()) lost = &row;
    }
    if (lost != nullptr) {  // until it is good, if it becomes so
      turns.lost[static_cast<size_t>(lost->attempt - 1)] += 1;
      if (good != nullptr) turns.lost[static_cast<size_t>(good->attempt - 1)] -= 1;
    }
    if (good != nullptr) turns.good[static_cast<size_t>(good->attempt - 1)] += 1;
  }
  return turns;
}

/// The stages of one attempt; each is part of the one before.
void count(const AttemptRow& row, Funnel& to) {
  if (row.unfinished()) {
    ++to.unfinished;
    ++to.outcomes[row.outcome];
    if (row.verdict) ++to.verdicts[*row.verdict];
    return;
  }
  ++to.answered;
  ++to.outcomes[row.outcome];
  if (row.outcome != Outcome::candidate) return;
  const Verdict verdict = *row.verdict;
  ++to.verdicts[verdict];
  ++to.candidates;
  to.lenient += row.lenient;
  if (verdict == Verdict::invalid_candidate || verdict == Verdict::missing) return;
  ++to.resolved;
  if (verdict == Verdict::compile_error || verdict == Verdict::unsupported) return;
  ++to.compiled;
  if (verdict == Verdict::out_of_memory || verdict == Verdict::timeout ||
      verdict == Verdict::crashed || verdict == Verdict::device_lost) {
    return;
  }
  ++to.ran;
  if (!row.correct()) return;
  ++to.correct;
  to.with_builtins += row.operator_steps;
  to.tried_at_sizes += row.general.has_value();
  to.general += row.general.value_or(false);
  to.faster += row.speedup.low > 1;
}

}  // namespace

std::vector<ByAttempt> by_attempt(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                                  const Bootstrap& bootstrap, const Criterion& criterion) {
  const int attempts = last_attempt(set, scope);
  const std::vector<int> asked_for = asked(set, model, scope);
  const size_t tasks = scope.tasks.size();
  std::vector<Turns> turns;
  std::vector<double> chains, lost, good(tasks), high(tasks);
  for (size_t i = 0; i < tasks; ++i) {
    const std::span<const Chain> own = set.chains(model, scope.tasks[i]);
    turns.push_back(turns_of(own, attempts, scope, criterion));
    chains.push_back(asked_for[i]);
    lost.push_back(asked_for[i] - double(own.size()));  // without a record
  }
  std::vector<ByAttempt> all;
  int open = 0;
  for (size_t i = 0; i < tasks; ++i) open += static_cast<int>(chains[i] - lost[i]);
  for (int a = 1; a <= attempts; ++a) {
    ByAttempt& at = all.emplace_back();
    at.attempt = a;
    at.open = open;
    for (size_t i = 0; i < tasks; ++i) {
      const double newly = turns[i].good[static_cast<size_t>(a - 1)];
      good[i] += newly;
      lost[i] += turns[i].lost[static_cast<size_t>(a - 1)];
      high[i] = good[i] + lost[i];
      at.newly += static_cast<int>(newly);
      at.chains += static_cast<int>(chains[i]);
      at.good += static_cast<int>(good[i]);
      at.lost += static_cast<int>(lost[i]);
    }
    open = at.chains - at.good - at.lost;
    const Interval below = bootstrap.ratio(good, chains);
    const Interval above = at.lost == 0 ? below : bootstrap.ratio(high, chains);
    at.share = {below.point, above.point};
    at.interval = {below.low, below.point, above.high};
  }
  return all;
}

std::vector<Funnel> funnel(const AttemptSet& set, uint32_t model, const MetricScope& scope) {
  std::vector<Funnel> all(static_cast<size_t>(last_attempt(set, scope)) + 1);
  using Seen = std::tuple<size_t, size_t, uint64_t>;  // attempt or 0, task, candidate
  std::vector<Seen> seen;
  for_each_row(set, model, scope, [&](const AttemptRow& row, size_t task) {
    const auto attempt = static_cast<size_t>(row.attempt);
    count(row, all[0]);
    count(row, all[attempt]);
    if (row.candidate == 0) return;
    seen.emplace_back(0, task, row.candidate);
    seen.emplace_back(attempt, task, row.candidate);
  });
  std::ranges::sort(seen);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const auto& [attempt, task, candidate] : seen) ++all[attempt].distinct;
  return all;
}

namespace {

template <class T>
void add(Amount& to, const std::optional<T>& value, bool answered) {
  if (value) {
    to.sum += static_cast<double>(*value);
    ++to.known;
  } else if (answered) {  // a failed request is taken as not charged
    ++to.unknown;
  }
}

}  // namespace

std::optional<double> Amount::per(double count) const {
  if (known == 0 || !(count > 0)) return std::nullopt;
  return sum / count;
}

Spending spending(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                  const Confirmations& confirmations) {
  Spending total;
  for_each_row(set, model, scope, [&](const AttemptRow& row, size_t) {
    const bool answered = row.outcome != Outcome::unanswered;
    total.attempts += answered;
    add(total.input, row.usage.input, answered);
    add(total.cached, row.usage.cached, answered);
    add(total.output, row.usage.output, answered);
    add(total.reasoning, row.usage.reasoning, answered);
    add(total.cost, row.cost, answered);
    total.seconds += row.seconds;
  });
  for (const Winner& winner : winners(set, model, scope, confirmations)) {
    total.solved += winner.solved();
    total.faster += winner.solved() && winner.worth().low > 1;
  }
  return total;
}

}  // namespace kbench
