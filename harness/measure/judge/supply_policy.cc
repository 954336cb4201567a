#include "harness/measure/judge/supply_policy.h"

#include <algorithm>

namespace kbench::judge {
namespace {

using runner::RunnerKind;
using State = WaitingRunner::State;

/// Runners that open at once wait for each other.
constexpr ptrdiff_t kOpeningAtOnce = 6;

bool serves(const WaitingRunner& runner, const ComingCandidate& candidate) {
  const bool kind = runner.state == State::started || runner.kind == candidate.kind;
  return kind && (runner.author.empty() || runner.author == candidate.author);
}

/// Numbers of runners by kind.
using ByKind = std::map<RunnerKind, size_t>;

bool is_fresh(const WaitingRunner& runner) { return runner.author.empty(); }

/// Runners by author, at work or waiting; fresh ones under the empty name.
std::map<std::string, size_t> by_author(const SupplyState& state) {
  std::map<std::string, size_t> count = state.working;
  for (const WaitingRunner& each : state.waiting) ++count[each.author];
  return count;
}

/// Fresh runners that candidates to come lack.
ByKind lacking(const SupplyState& state) {
  std::vector<ComingCandidate> wanted = state.coming;
  if (wanted.empty()) wanted.assign(state.most_fresh, state.now);  // Taken to be like this one.
  std::erase_if(wanted, [](const ComingCandidate& each) { return each.begun; });
  if (wanted.empty()) wanted.push_back(state.now);  // One is always ready for what comes then.
  std::vector<WaitingRunner> left = state.waiting;
  std::erase_if(left, [](const WaitingRunner& each) { return each.state == State::started; });
  ByKind fresh;  // that there are, and that will be
  for (const WaitingRunner& each : left) {
    if (is_fresh(each)) ++fresh[each.kind];
  }
  std::map<std::string, size_t> of_author = by_author(state);
  ByKind result;
  for (const ComingCandidate& candidate : wanted) {
    size_t& of_this = of_author[candidate.author];
    if (const auto found = choose_runner(left, candidate, false)) {
      of_this += is_fresh(left[*found]) ? 1 : 0;
      left.erase(left.begin() + static_cast<ptrdiff_t>(*found));
      continue;
    }
    // Others of its author come back.
    if (!candidate.author.empty() && of_this >= kRunnersAnAuthor) continue;
    size_t there = 0;
    if (const auto found = fresh.find(candidate.kind); found != fresh.end()) there = found->second;
    if (there >= state.most_fresh) continue;
    ++of_this;
    ++fresh[candidate.kind];
    ++result[candidate.kind];
  }
  return result;
}

std::optional<Step> start_runner(const SupplyState& state) {
  if (!state.more) return std::nullopt;
  const auto opening = std::ranges::count(state.waiting, State::opening,
                                          [](const auto& each) { return each.state; });
  if (opening >= kOpeningAtOnce) return std::nullopt;
  const ByKind lacks = lacking(state);
  if (lacks.empty()) return std::nullopt;
  return Step{.what = Step::What::start_runner, .kind = lacks.rbegin()->first};
}

/// One process is always ready; more where tasks wait for one.
bool wants_baseline(const SupplyState& state) {
  constexpr size_t kAtOnce = 3;
  if (!state.needs_baseline || state.coming.empty()) return false;
  const size_t free = state.baselines_open + state.baselines_opening;
  const size_t ahead = state.baselines_made + state.tasks_ready;
  if (free + ahead == 0) return true;
  return free < std::min(state.tasks_without_baseline, kAtOnce) &&
         free + ahead < state.most_tasks + state.most_baselines;
}

std::optional<Step> begin_candidate(const SupplyState& state) {
  if (state.begun >= state.most_begun) return std::nullopt;
  std::map<std::string, size_t> of_author = by_author(state);
  for (size_t i = 0; i < state.coming.size(); ++i) {
    if (state.coming[i].begun) continue;
    const ComingCandidate& candidate = state.coming[i];
    const auto runner = choose_runner(state.waiting, candidate, true);
    if (!runner) continue;
    const bool one_more = !candidate.author.empty() && is_fresh(state.waiting[*runner]);
    if (one_more && of_author[candidate.author] >= kRunnersAnAuthor) continue;
    return Step{.what = Step::What::begin_candidate, .candidate = i, .runner = *runner};
  }
  return std::nullopt;
}

}  // namespace

std::optional<size_t> choose_runner(const std::vector<WaitingRunner>& waiting,
                                    const ComingCandidate& candidate, bool open_only) {
  std::optional<size_t> best;
  const auto rank = [&](const WaitingRunner& runner) {
    return std::pair(runner.author.empty(), -static_cast<int>(runner.state));
  };
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (!serves(waiting[i], candidate)) continue;
    if (open_only && waiting[i].state != State::open) continue;
    if (!best || rank(waiting[i]) < rank(waiting[*best])) best = i;
  }
  return best;
}

Step next_step(const SupplyState& state) {
  using What = Step::What;
  // Not earlier: a candidate's first runs on new memory would wait while the driver tears down a
  // process.
  const bool calm = state.phase == Phase::sampling || state.phase == Phase::resting;
  if (state.runner_to_end && calm) return {.what = What::end_runner};
  if (const auto step = start_runner(state)) return *step;
  if (wants_baseline(state)) return {.what = What::start_baseline};
  if (const auto step = begin_candidate(state)) return *step;
  if (state.tasks_without_baseline > 0 && state.baselines_open > 0) {
    return {.what = What::make_baseline};
  }
  // Allocating blocks while the driver tears down another process, and blocks this process's
  // submissions too.
  const bool memory = state.memory_may_be_made && !state.runner_ending;
  if (memory && state.task_lacks_memory && state.tasks_ready < state.most_tasks) {
    return {.what = What::make_task};
  }
  if (memory && state.candidate_lacks_memory) return {.what = What::attach_candidate};
  const bool opening = state.baselines_opening > 0 ||
                       std::ranges::any_of(state.waiting, [](const WaitingRunner& each) {
                         return each.state == State::opening;
                       });
  if (opening) return {.what = What::wait_for_device};
  return {.what = memory && !(state.task_waits && state.tasks_ready < state.most_tasks)
                      ? What::nothing
                      : What::look_again};
}

}  // namespace kbench::judge
