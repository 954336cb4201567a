// What answers cost. Unknown is not zero.
#include "kbench/metrics.h"
#include "libkbench/scoring/metrics_chains.h"

namespace kbench {
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

Spending spending(const AttemptSet& set, uint32_t model, const MetricScope& scope) {
  Spending total;
  std::vector<bool> solved(scope.tasks.size()), faster(scope.tasks.size());
  for_each_row(set, model, scope, [&](const AttemptRow& row, size_t task) {
    const bool answered = row.outcome != Outcome::unanswered;
    total.attempts += answered;
    add(total.input, row.usage.input, answered);
    add(total.cached, row.usage.cached, answered);
    add(total.output, row.usage.output, answered);
    add(total.reasoning, row.usage.reasoning, answered);
    add(total.cost, row.cost, answered);
    total.seconds += row.seconds;
    if (!counts(row, scope)) return;
    solved[task] = true;
    if (row.speedup.low > 1) faster[task] = true;
  });
  total.solved = static_cast<int>(std::ranges::count(solved, true));
  total.faster = static_cast<int>(std::ranges::count(faster, true));
  return total;
}

}  // namespace kbench
