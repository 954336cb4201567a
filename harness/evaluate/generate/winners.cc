#include "harness/evaluate/generate/winners.h"

#include <algorithm>
#include <set>

#include "kbench/metrics.h"

namespace kbench::generate {

std::vector<Attempt> winners_of(const RunFolder& folder, bool unconfirmed) {
  AttemptSet set;
  std::set<TaskId> tasks;
  read_attempts(folder.attempts(), [&](const Attempt& attempt, int64_t place) {
    const uint32_t model = set.number_of(attempt.model);
    set.add(attempt, model, model, place);
    tasks.insert(attempt.task);
  });
  set.finish();
  Confirmations confirmations;
  for (const Result& again : read_results(folder.confirmed())) confirmations.add(again);
  const MetricScope scope{.tasks = {tasks.begin(), tasks.end()}};
  std::vector<int64_t> places;
  for (uint32_t model = 0; model < set.models().size(); ++model) {
    const std::vector<Winner> found = winners(set, model, scope, confirmations);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!(unconfirmed ? found[i].unconfirmed() : found[i].solved())) continue;
      for (const kbench::Chain& chain : set.chains(model, scope.tasks[i])) {
        if (chain.sample != found[i].sample) continue;
        places.push_back(
            std::ranges::find(chain.attempts, found[i].attempt, &AttemptRow::attempt)->place);
      }
    }
  }
  std::vector<Attempt> all = read_attempts_at(folder.attempts(), places);
  std::ranges::stable_sort(all, {}, &Attempt::task);
  return all;
}

}  // namespace kbench::generate
