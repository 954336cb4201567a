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
