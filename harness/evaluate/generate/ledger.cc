#include "harness/evaluate/generate/ledger.h"

#include <algorithm>
#include <set>

#include "harness/evaluate/generate/line_file.h"
#include "kbench/error.h"
#include "kbench/metrics.h"

namespace kbench::generate {

void Spent::add(const Usage& usage, const std::optional<double>& price) {
  input += usage.input.value_or(0);
  output += usage.output.value_or(0);
  unknown_tokens += !usage.input || !usage.output;
  cost += price.value_or(0);
  unknown_cost += !price;
}

bool is_counted(const Attempt& attempt, bool judging) {
  if (attempt.outcome == Outcome::unanswered) return false;
  if (attempt.outcome != Outcome::candidate) return true;
  if (!attempt.verdict) return !judging;
  return *attempt.verdict == Verdict::passed || is_candidates_fault(*attempt.verdict);
}

Ledger::Ledger(const RunFolder& run, const Plan& plan, int attempts, const Goal& goal, bool judging)
    : states_(plan.chains()) {
  read_attempts_of(run, plan, attempts, goal, judging);
  scan_transcripts(run, plan);
}

void Ledger::read_attempts_of(const RunFolder& run, const Plan& plan, int attempts,
                              const Goal& goal, bool judging) {
  read_attempts(run.attempts(), [&](const Attempt& attempt) {
    if (!is_counted(attempt, judging)) return;
    const auto chain = plan.find(attempt.model, attempt.task, attempt.sample);
    if (!chain) {
      spent_.add(attempt.usage, attempt.cost);  // a model or task that this run leaves out
      return;
    }
    ChainState& state = states_[*chain];
    if (attempt.attempt != state.counted + 1) return;  // written twice
    ++state.counted;
    ++attempts_;
    passed_ += attempt.correct();
    spent_.add(attempt.usage, attempt.cost);
    const bool reached = attempt.verdict && goal.reached(*attempt.verdict, attempt.speedup);
    if (reached || state.counted >= attempts) {
      state.done = true;
      ++done_;
      open_.erase(*chain);
    } else {
      open_[*chain].attempts.push_back(attempt);
    }
  });
}

void Ledger::scan_transcripts(const RunFolder& run, const Plan& plan) {
  for (const std::string& model : plan.members()) {
    for (const Task* task : plan.tasks()) {
      const std::string path = run.transcript(model, task->id);
      if (cut_torn_line(path) == 0) continue;
      int64_t number = 0;
      each_line(path, [&](std::string_view line, int64_t offset) {
        ++number;
        std::pair<int, int> ids;
        try {
          ids = ids_of(line);
        } catch (const Error& e) {
          throw Error(ErrorCode::kParse, Location{path, static_cast<int>(number), 0}, e.message());
        }
        const auto chain = plan.find(model, task->id, ids.first);
        if (!chain || states_[*chain].done) return;
        open_[*chain].answers.emplace_back(ids.second, offset);
        states_[*chain].answered |= ids.second == states_[*chain].counted + 1;
      });
    }
  }
}

Ledger::Past Ledger::take(uint32_t chain) {
  const auto found = open_.find(chain);
  if (found == open_.end()) return {};
  Past past = std::move(found->second);
  open_.erase(found);
  return past;
}

std::vector<Attempt> winners_of(const RunFolder& folder, bool unconfirmed) {
  AttemptSet set;
  std::set<TaskId> tasks;
  read_attempts(folder.attempts(), [&](const Attempt& attempt, int64_t place) {
    const uint32_t model = set.number_of(attempt.model);
    set.add(attempt, model, place);
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
