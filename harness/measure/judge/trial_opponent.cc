#include "harness/measure/judge/trial_opponent.h"

#include <algorithm>
#include <limits>

#include "harness/measure/judge_protocol/protocol.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

namespace kbench::judge {
namespace {

/// Whether it gave no answer in its time, by its runner's word or the judge's clock.
bool is_late(const RunnerFailure& failure) {
  return failure.kind == RunnerFailure::Kind::timeout || failure.code == ErrorCode::kTimeout;
}

}  // namespace

bool TrialOpponent::wanted(const EvaluateRequest& request) {
  const Question& question = request.question;
  const bool other = question.opponent.is_pytorch() || is_half(question.dtype);
  return other && !question.recorded && !request.looks_closer();
}

void TrialOpponent::prepare(const TaskAt& key, const Opponent& asked) {
  key_ = key;
  asked_ = asked;
  ways_ = asked.ways;
  if (const auto* known = opponents_.choice(key, asked)) {
    ways_ = {known->way};
    left_out_ = known->left_out;
  }
  if (ways_.empty()) ways_ = {""};  // kbench's own kernels.
  runner_ = &opponents_.of(asked);
  runner_->prepare(supply_, key, ways_.front(), asked.tf32);
}

/// Does a step of timing the opponent in a way. Where it cannot run the task so, and others are
/// left, it is left out; else that is thrown.
bool TrialOpponent::works(const std::string& way, const std::function<void()>& step) {
  std::string why;
  try {
    step();
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported || ways_.size() == 1) throw;
    why = error.message();
  } catch (const RunnerFailure& failure) {
    const bool of_the_way = is_late(failure) || (failure.code == ErrorCode::kInternal &&
                                                 failure.kind == RunnerFailure::Kind::ended);
    if (!of_the_way || ways_.size() == 1) throw;
    runner_->drop();
    why = failure.message;
  }
  left_out_.push_back(why);
  std::erase(ways_, way);
  return false;
}

void TrialOpponent::attach(const std::string& way) {
  const std::string known = opponents_.too_slow(key_, way);
  if (!known.empty()) {
    throw RunnerFailure{RunnerFailure::Kind::timeout, ErrorCode::kTimeout, known};
  }
  runner_->prepare(supply_, key_, way, asked_.tf32);
  try {
    runner_->attach(store_, *task_, candidate_, *memory_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    throw RunnerFailure{RunnerFailure::Kind::ended, error.code(),
                        "the opponent's outputs have no memory: " + error.message()};
  }
}

void TrialOpponent::attach(const TaskMemory& task, const runner::Built* candidate,
                           const Slab& memory) {
  task_ = &task;
  candidate_ = candidate;
  memory_ = &memory;
  while (!works(ways_.front(), [&] { attach(ways_.front()); })) {
  }
}

/// Nanoseconds of one call, the least of so many runs; the last way that was attached is timed.
double TrialOpponent::time(Sampler& sampler, bool own_clock, const std::string& way, int runs) {
  if (runner_->way() != way) attach(way);
  sampler.set_opponent(runner_, own_clock);
  try {
    sampler.run_opponent(kOpponentCompileSeconds);
  } catch (const RunnerFailure& failure) {
    if (!is_late(failure)) throw;
    const std::string late = runner_->name() + " took longer than " +
                             number_text(kOpponentCompileSeconds) +
                             " s for its first run, in which it compiles";
    opponents_.note_too_slow(key_, way, late);
    throw RunnerFailure{RunnerFailure::Kind::timeout, ErrorCode::kTimeout, late};
  }
  sampler.run_opponent();
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) least = std::min(least, sampler.run_opponent().call_ns());
  return least;
}

void TrialOpponent::choose(Sampler& sampler, bool own_clock) {
  constexpr int kRuns = 5;
  const bool several = ways_.size() > 1;
  call_ns_ = std::numeric_limits<double>::infinity();
  std::string fastest;
  for (const std::string& way : std::vector(ways_)) {
    double ns = 0;
    if (!works(way, [&] { ns = time(sampler, own_clock, way, several ? kRuns : 1); })) continue;
    if (ns >= call_ns_) continue;
    call_ns_ = ns;
    fastest = way;
  }
  if (several) {
    ways_ = {fastest};
    if (runner_->way() != fastest) time(sampler, own_clock, fastest, 1);
  }
  if (asked_.ways.size() > 1 && !opponents_.choice(key_, asked_)) {
    opponents_.note({key_, asked_, fastest, left_out_});
  }
}

}  // namespace kbench::judge
