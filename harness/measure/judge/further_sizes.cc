#include "harness/measure/judge/further_sizes.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "harness/measure/judge/size_rule.h"
#include "harness/measure/process/deadline.h"
#include "harness/measure/trial/secret.h"
#include "kbench/candidate.h"
#include "kbench/error.h"
#include "kbench/task.h"

namespace kbench::judge {
namespace {

using Clock = std::chrono::steady_clock;

/// The same question of the candidate at other sizes, which are still to be set.
EvaluateRequest at_further_sizes(EvaluateRequest request, const CandidateSource& candidate,
                                 const Result& result) {
  request.question.candidate = candidate;
  request.question.recorded.reset();  // of the preset's own sizes
  request.next_files.clear();
  request.progress = false;
  request.more = true;
  if (result.seed) request.question.plan.seed = trial::SecretStream(result.seed).beside(0);
  return request;
}

EvaluateRequest at_sizes(EvaluateRequest request, const Variables& sizes) {
  Question& asked = request.question;
  for (const auto& [name, value] : sizes) asked.overrides[name] = value;
  if (!request.values_only) {  // A trial by values alone has others at each size by itself.
    asked.plan.seed = trial::SecretStream(asked.plan.seed).at_sizes(asked.overrides);
  }
  return request;
}

EvaluateRequest by_values_at_small_sizes(EvaluateRequest there) {
  there.question.preset = name_of(Preset::smoke);
  there.values_only = true;
  return there;
}

bool looks_at_values(const Question& asked) {
  return asked.rule.other_sizes != OtherSizes::none && asked.overrides.empty();
}

/// Of the requirements in a result's words.
SizesAllowed allowed_by(const std::vector<std::string>& made_for) {
  if (made_for.empty()) return {};
  std::vector<Sourced> requirements;
  for (const std::string& text : made_for) requirements.push_back({text, {}});
  return [requirements](const Variables& all) -> int {
    try {
      return requirements_broken(requirements, all);
    } catch (const Error&) {  // Not defined at these sizes, as a division by zero.
      return static_cast<int>(requirements.size());
    }
  };
}

}  // namespace

bool FurtherSizes::wanted(const EvaluateRequest& request, const Result& result) {
  const Question& asked = request.question;
  return !asked.check && !request.looks_closer() && result.correct() &&
         (looks_at_values(asked) || asked.rule.workloads);
}

void FurtherSizes::set_candidate(CandidateSource source, runner::RunnerKind launched_by) {
  source_ = std::move(source);
  launched_by_ = launched_by;
}

void FurtherSizes::keep(std::unique_ptr<CandidateBuild> build, bool clean) {
  again_ = std::move(build);
  clean_ = clean;
}

void FurtherSizes::retire() {
  if (again_) supply_.put_back(std::exchange(again_, nullptr), clean_);
}

std::unique_ptr<CandidateBuild> FurtherSizes::build(const EvaluateRequest& request) {
  if (again_) {
    again_->ask_again(request);
    return std::move(again_);
  }
  const auto begun =
      std::ranges::find_if(begun_, [&](const auto& each) { return each->answers(request); });
  if (begun == begun_.end()) {
    return request.values_only ? supply_.take_beside(request) : supply_.take(request);
  }
  auto build = std::move(*begun);
  begun_.erase(begun);
  return build;
}

/// Compiles the candidate at several of the sizes at once: Python takes a second for each.
void FurtherSizes::begin_at(const std::vector<Variables>& sizes, EvaluateRequest request) {
  if (again_) return;
  const size_t at_once = std::max(std::thread::hardware_concurrency() / 2, 2u);
  for (const Variables& set : sizes) {
    if (begun_.size() >= at_once) return;
    request.question.overrides = set;
    try {
      begun_.push_back(supply_.take_beside(request));
      begun_.back()->begin();
    } catch (const RunnerFailure&) {  // build() tries again.
    }
  }
}

void FurtherSizes::try_fixed(const EvaluateRequest& there, const ValuesAt& values_at,
                             Result& result) {
  auto [known, is_new] = fixed_.try_emplace(result.task);
  if (is_new) known->second = other_sizes({result.task, result.preset, {}});
  const SizeUse use(*source_.files, launched_by_ == runner::RunnerKind::torch);
  begin_at(known->second, there);
  look_at_other_sizes(result, known->second, use, values_at);
  begun_.clear();
}

void FurtherSizes::try_drawn(const EvaluateRequest& there, const ValuesAt& values_at,
                             process::Deadline& total, Result& result) {
  constexpr int kSets = 6;
  /// Once this has taken so long, no further set is tried: it is mostly compiling, and a verdict
  /// without it takes half a second.
  constexpr double kMostSeconds = 0.1;
  const bool requires_all = there.question.rule.other_sizes == OtherSizes::require;
  trial::SecretStream secret(there.question.plan.seed);
  const std::vector<Variables> sets =
      drawn_sizes(task_at(result.task, Preset::smoke, {}, result.dtype), secret.next(), kSets,
                  DrawnWork::little, allowed_by(result.made_for));
  // Start one size only: the time limit usually stops the rest.
  const bool all = requires_all || sets.empty();
  begin_at(all ? sets : std::vector<Variables>{sets.front()}, there);
  int asked = 0;
  const auto start = Clock::now();
  const auto late = [&] {
    if (++asked == 1) return false;
    const bool enough = process::seconds_since(start) > kMostSeconds && !requires_all;
    return enough || total.passed();
  };
  result.holds_at = try_drawn_sizes(sets, values_at, late);
  begun_.clear();
  if (requires_all) require_general(result);
}

/// Each size is judged as the task's own was: with a baseline, inputs and samples of its own. Its
/// runner, baseline and memory are made ready ahead, as for candidates to come.
void FurtherSizes::try_workloads(const EvaluateRequest& asked, const ValuesAt& measured_at,
                                 Result& result) {
  const Question& question = asked.question;
  trial::SecretStream secret(question.plan.seed);
  const TaskAt own =
      task_at(result.task, preset_from_name(result.preset), question.overrides, result.dtype);
  const std::vector<Variables> sets =
      drawn_sizes(own, secret.next(), static_cast<int>(*question.rule.workloads),
                  DrawnWork::a_share, allowed_by(result.made_for));
  std::vector<EvaluateRequest> all;
  for (const Variables& set : sets) all.push_back(at_sizes(asked, set));
  if (supply_.works_ahead()) {
    retire();
    supply_.ask_first(std::move(all));
  }
  const SizeUse use(*source_.files, launched_by_ == runner::RunnerKind::torch);
  time_at_sizes(sets, use, measured_at, result);
  supply_.ask_first({});
}

void FurtherSizes::look(const EvaluateRequest& request, const JudgeThere& judge_there,
                        const std::function<bool()>& ended, process::Deadline& total,
                        Result& result) {
  if (!wanted(request, result)) return;
  const EvaluateRequest asked = at_further_sizes(request, source_, result);
  double queued_s = 0;
  const auto judged_at = [&](const EvaluateRequest& at, const Variables& sizes) {
    const EvaluateRequest there = at_sizes(at, sizes);
    Result found;  // a harness_error, until it is asked for
    if (ended()) return found;
    for (bool in_own_runner = again_ != nullptr;; in_own_runner = false) {
      try {
        found = judge_there(there);
      } catch (const Error&) {  // Nothing is known of the candidate there.
        found = Result();
      }
      queued_s += found.stage_s[kQueueStage];
      // A runner in which the candidate has run before may be what fails: a new one decides.
      if (found.correct() || !in_own_runner || ended() || total.passed()) return found;
      clean_ = false;
      retire();
    }
  };
  const auto timed = [&](const char* stage, const auto& work) {
    const auto start = Clock::now();
    queued_s = 0;
    work();
    result.stage_s[stage] = process::seconds_since(start) - queued_s;
    result.stage_s[kQueueStage] += queued_s;
  };
  if (looks_at_values(request.question)) {
    const EvaluateRequest there = by_values_at_small_sizes(asked);
    const auto values_at = [&](const Variables& sizes) { return judged_at(there, sizes); };
    if (result.preset == name_of(Preset::smoke)) {
      timed("other_sizes", [&] { try_fixed(there, values_at, result); });
    }
    if (result.correct()) timed("drawn_sizes", [&] { try_drawn(there, values_at, total, result); });
  }
  // Recorded times are those of the task's own sizes.
  const bool timed_there = request.question.rule.workloads && !request.question.recorded;
  if (!result.correct() || !timed_there) return;
  const auto measured_at = [&](const Variables& sizes) {
    total = process::Deadline(request.question.limits.total_seconds);  // Each size has its own.
    return judged_at(asked, sizes);
  };
  timed("workloads", [&] { try_workloads(asked, measured_at, result); });
}

}  // namespace kbench::judge
