#include "harness/measure/judge/trial.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "harness/measure/eager/eager.h"
#include "harness/measure/judge/clock_rule.h"
#include "harness/measure/judge/failure_verdict.h"
#include "harness/measure/judge/inspect.h"
#include "harness/measure/process/other_load.h"
#include "harness/measure/trial/baseline_timer.h"
#include "harness/measure/trial/sampling.h"
#include "harness/measure/trial/slab_layout.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/text.h"
#include "libkbench/core/graph_facts.h"

namespace kbench::judge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTellEvery = 0.1;  ///< seconds from progress to progress
/// Samples whose times the judge's clock contradicts: few one after another, and in all beside a
/// share of those taken, as a runner that may have samples taken again may choose among them.
class Retakes {
 public:
  bool may_again(int samples) {
    ++in_all_;
    return ++in_a_row_ < kMostInARow && in_all_ <= kMostInAll + samples / kSamplesEach;
  }
  void believed() { in_a_row_ = 0; }
  std::string text() const {
    return "the device's times and the judge's clock contradict each other, in " +
           std::to_string(in_a_row_) + " samples in a row and " + std::to_string(in_all_) +
           " in all";
  }

 private:
  static constexpr int kMostInARow = 3, kMostInAll = 6, kSamplesEach = 20;
  int in_a_row_ = 0, in_all_ = 0;
};

/// The share of a software device's processors that other processes may take: beyond it times are
/// off.
constexpr double kBusyShare = 0.1;
/// Below this a module that is called and not captured is timed with Python's own time.
constexpr double kHostBoundMs = 0.2;

/// Whether an opponent gave no answer in its time, by its runner's word or the judge's clock.
bool is_late(const RunnerFailure& failure) {
  return failure.kind == RunnerFailure::Kind::timeout || failure.code == ErrorCode::kTimeout;
}

/// Whether the finding is about the values of outputs.
bool of_values(const Finding& finding) {
  return finding.verdict != Verdict::out_of_bounds && finding.verdict != Verdict::input_modified &&
         finding.verdict != Verdict::harness_error;
}

}  // namespace

Trial::Trial(const TrialContext& context, CandidateBuild& build,
             std::function<void(const char*)> on_stage,
             std::function<void(const Progress&)> on_progress)
    : context_(context),
      build_(build),
      request_(build.request()),
      question_(request_.question),
      on_stage_(std::move(on_stage)),
      on_progress_(std::move(on_progress)),
      secret_(request_.question.plan.seed),
      deadline_(context.total) {
  deadline_.leave_out();  // What was before it.
}

void Trial::stage(const char* name) {
  stage_ = name;
  on_stage_(name);
}

/// Adds the time since the last call to this stage's.
void Trial::lap(const char* name) {
  const auto now = Clock::now();
  result_->stage_s[name] += std::chrono::duration<double>(now - lap_).count();
  lap_ = now;
}

/// What is left of the present stage.
void Trial::lap_stage() { lap(stage_ == "warm-up" ? "warm_up" : stage_.c_str()); }

bool Trial::refuse(Verdict verdict, std::string message) {
  result_->verdict = verdict;
  result_->message = std::move(message);
  return false;
}

bool Trial::refuse(const runner::Refused& refused) {
  result_->diagnostics = refused.diagnostics;
  return refuse(refused.verdict, refused.message);
}

bool Trial::refuse(Finding finding) {
  // These verdicts come after the task's memory was made.
  const bool values =
      finding.verdict == Verdict::low_precision || finding.verdict == Verdict::wrong_values;
  if (values) {
    finding = with_causes(std::move(finding), built_, task()->graph(), result_->certificate);
  }
  return refuse(finding.verdict, std::move(finding.message));
}

bool Trial::refuse_late() {
  const RunnerFailure late{RunnerFailure::Kind::late, ErrorCode::kTimeout, ""};
  return refuse(failure_verdict(late, {.stage = stage_}, question_.limits));
}

TrialEnd Trial::run(Result& result) {
  result_ = &result;
  struct Bound {  // Of every wait for the candidate's runner.
    CandidateBuild& build;
    ~Bound() {
      build.runner().end_with(nullptr);
      build.runner().leave_for({});
    }
  } const bound{build_};
  candidate().end_with(&deadline_);
  try {
    steps();
    lap_stage();
  } catch (const runner::Refused& refused) {
    refuse(refused);
    lap_stage();
  } catch (const RunnerFailure& failure) {
    lap_stage();
    end_.baseline_failed = at_baseline_ || (sampler_ && !sampler_->at_candidate());
    // Before its code has run, the process of a module takes memory for the task's tensors alone.
    const bool ours = end_.baseline_failed || (from_outside() && !candidate().ran());
    if (ours && failure.code == ErrorCode::kOutOfMemory) return lack_memory(failure.message);
    if (end_.baseline_failed) {
      refuse(Verdict::harness_error,
             (opponent_ ? "the opponent or the baseline: " : "the baseline's runner: ") +
                 failure.message);
      return end_;
    }
    end_.device_in_doubt = on_device(stage_);
    const Graph* graph = task() ? &task()->graph() : nullptr;
    refuse(failure_verdict(failure, {stage_, candidate().ran(), graph, built_.kernels, limit()},
                           question_.limits));
    end_.infrastructure_fault = result.verdict == Verdict::harness_error;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    lap_stage();
    return lack_memory(error.message());  // The judge's own.
  }
  end_.lacked_memory =
      result.verdict == Verdict::out_of_memory && build_.kind() == runner::RunnerKind::torch;
  tell_first_release();
  return end_;
}

/// A module that fails may have been written for a program that the task no longer has.
void Trial::tell_first_release() {
  if (build_.kind() != runner::RunnerKind::torch || result_->preset != name_of(Preset::v0)) return;
  const Verdict verdict = result_->verdict;
  const std::string_view was = first_release(result_->task);
  const bool of_the_program = is_about_values(verdict) || verdict == Verdict::invalid_candidate ||
                              verdict == Verdict::crashed;
  if (was.empty() || !of_the_program) return;
  result_->diagnostics.push_back(
      {"note", "", 0, 0,
       "KernelBench's first release, v0, had another program here: " + std::string(was) +
           ". What was written for it fails on this task"});
}

/// For what kbench itself has no memory for.
TrialEnd Trial::lack_memory(const std::string& message) {
  end_.lacked_memory = true;
  refuse(Verdict::does_not_fit, message + ": choose a smaller preset");
  return end_;
}

void Trial::steps() {
  stage("load");
  constexpr std::chrono::milliseconds kLook(50);
  if (context_.others.stop_possible() && build_.compiling() && !candidate().answers_within(kLook) &&
      context_.others.stop_requested()) {
    throw StillCompiling();  // Before memory is made for it.
  }
  if (!load()) return;
  if (question_.check) return check();
  if (!task_fits() || !build() || !fits()) return;
  stage("warm-up");
  allocate();
  take_device();
  if (!request_.values_only) try_lane();
  const std::optional<uint64_t> known =
      request_.values_only ? secret_.next() : request_.inspect_seed;
  if (known) draw_known(parts(), *sampler_, *known);
  if (!set_up()) return;
  if (request_.values_only) return look_at_values(*known);
  if (request_.inspect_seed) return inspect();
  if (request_.profile_runs) return profile();
  if (!warm_up() || !sample()) return;
  report();
}

/// Memory comes last: other faults of a candidate are faults on devices with more memory, too.
void Trial::check() {
  if (build() && task_fits() && fits()) refuse(Verdict::compiles, "");
}

bool Trial::load() {
  runner::Refused refused;
  const bool loaded = build_.loaded(refused, [this] {
    if (question_.check || build_.needs_python()) return;
    if (has_task_memory()) build_.attach(*task());
  });
  static_cast<Experiment&>(*result_) = build_.experiment();
  lap("load");
  return loaded || refuse(refused);
}

void Trial::make_task() {
  at_baseline_ = true;
  context_.supply.make_task(build_);
  enter(Phase::preparing);
  at_baseline_ = false;
  lap("task");
}

bool Trial::build() {
  stage("compile");
  bool lacks_memory = false;
  if (!question_.check && !has_task_memory()) {
    try {
      make_task();  // While the candidate compiles.
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kOutOfMemory) throw;
      at_baseline_ = false;
      lacks_memory = true;
    }
  }
  prepare_opponent();
  runner::Refused refused;
  candidate().leave_for(context_.others);
  const bool built = build_.built(built_, refused);
  candidate().leave_for({});
  lap("compile");
  if (!built) {
    const bool too_small = question_.check && refused.size && !task_fits();
    return too_small ? false : refuse(refused);
  }
  if (lacks_memory) {  // Runners hold what other tasks have used; this one answers only now.
    const uint64_t bytes = trial::required_bytes(build_.graph(), context_.device.snapshot());
    make_room(bytes);
    with_room(bytes, [this] { make_task(); });
  }
  end_.stack_bytes = built_.stack_bytes;
  result_->compile_s = built_.compile_s;
  result_->diagnostics = built_.diagnostics;
  end_.launched_by = built_.launched_by;
  result_->lane = name_of(built_.launched_by);
  return true;
}

void Trial::take_device() {
  wait_turn();
  enter(Phase::running);
  lap("wait");
  sampler_.emplace(parts());
  context_.clock.raise(context_.kernels);  // It has idled while the candidate compiled.
  sampler_->upload_data();
  sampler_->draw_task(built_.has_setup || request_.profile_runs);
}

/// Waits until no other process's trial has the device, and keeps it for this one. The time that
/// takes counts in no limit, neither the candidate's nor the measurement's.
void Trial::wait_turn() {
  deadline_.passed();
  const double waited = context_.lock.take([this] { on_stage_(kQueueStage); }, context_.cancelled);
  deadline_.leave_out();
  if (!context_.lock.held()) {
    stage_ = kQueueStage;
    throw RunnerFailure{RunnerFailure::Kind::cancelled, ErrorCode::kInternal, "it was cancelled"};
  }
  if (waited > 0) on_stage_(stage_.c_str());
  lap(kQueueStage);
}

/// Runs of nothing at the pace of samples; the first wake everything up.
std::vector<BracketedRun> Trial::hand_overs(int runs) {
  constexpr int kFirst = 3;
  constexpr std::chrono::milliseconds kPause(3);
  std::vector<BracketedRun> taken;
  for (int run = 0; run < kFirst + runs; ++run) {
    const BracketedRun one = sampler_->hand_over(kHarnessSeconds);
    if (run >= kFirst) taken.push_back(one);
    std::this_thread::sleep_for(kPause);
  }
  return taken;
}

/// Measures the hand-over of a candidate that Vulkan does not launch, before any of its code has
/// run, while its runner is trusted.
void Trial::try_lane() {
  if (built_.launched_by == runner::RunnerKind::cuda) lane_ = hand_overs(20);
  if (!from_outside()) return;
  HandOver& hand_over = context_.hand_over;
  if (!hand_over.known()) context_.supply.quiet();
  if (!hand_over.certain()) {
    std::vector<double> times;
    for (const BracketedRun& run : hand_overs(15)) times.push_back(run.run_ns);
    hand_over.add(std::move(times));
  }
  sampler_->take_off(hand_over.ns());
}

std::vector<Watched> Trial::watched(bool with_setup) const {
  std::vector<Watched> all;
  const Graph& graph = task()->graph();
  for (const auto kind : {Graph::Kind::parameter, Graph::Kind::constant, Graph::Kind::input}) {
    for (const int id : graph.values_of(kind)) {
      all.push_back(
          {name_of_given(graph.value(id)), task()->given(id), kind == Graph::Kind::input});
    }
  }
  // On a CPU device a module's process can write to the inputs of further calls, too; on a GPU it
  // has copies of them.
  const runner::CallTensors calls(graph);
  const bool shared = from_outside() && context_.device.snapshot().software();
  for (size_t i = 0; i < memory_.wanted.size(); ++i) {
    const runner::Wanted& wanted = memory_.wanted[i];
    if (shared && calls.is_input(i)) {
      all.push_back({"input " + wanted.name, memory_.slab.tensor(i), true});
      continue;
    }
    const bool data = !wanted.words.empty();
    if (!data && !(with_setup && wanted.setup)) continue;
    all.push_back(
        {(data ? "data " : "setup's result ") + wanted.name, memory_.slab.tensor(i), false});
  }
  return all;
}

CheckRule Trial::rule() const {
  if (question_.rule.tolerance == ToleranceRule::kbench) {
    return {bounds_of(task()->task(), build_.key().dtype), ToleranceRule::kbench};
  }
  const bool loose = is_half(build_.key().dtype) || build_.key().preset == name_of(Preset::v0);
  return {loose ? 1e-2 : 1e-4, ToleranceRule::kernelbench};
}

/// Runs setup twice: the first warms up.
bool Trial::set_up() {
  if (!built_.has_setup) return true;
  for (int run = 0; run < 2; ++run) {
    if (auto finding = set_up_again(trial::Contents::plausible)) return refuse(*std::move(finding));
  }
  return true;
}

/// One run of setup, over such contents of the temporaries. Checks made before do not hold after
/// it.
std::optional<Finding> Trial::set_up_again(trial::Contents contents) {
  Checks checks(context_.workspace, context_.kernels, *redzones_, task()->graph(), watched(false),
                rule(), secret_);
  vulkan::Commands& commands = sampler_->commands();
  commands.begin();
  checks.record_redzones(commands);
  for (const bool of_setup : {true, false}) {
    sampler_->fill_temporaries(commands, of_setup, contents);
  }
  checks.record_hashes(commands, false);
  commands.submit_and_wait(kHarnessSeconds);
  const double seconds = run_seconds();
  result_->setup_ms = sampler_->run_candidate({.setup = true}, seconds).run_ns * 1e-6;
  auto finding = sampler_->guards(checks);
  if (finding) finding->message = "in setup: " + finding->message;
  return finding;
}

void Trial::make_checks() {
  checks_.emplace(context_.workspace, context_.kernels, *redzones_, task()->graph(), watched(true),
                  rule(), secret_);
}

bool Trial::warm_up() {
  make_checks();
  if (auto finding = take({}, true)) return refuse(*std::move(finding));
  if (from_outside()) {  // Its first run may have compiled.
    if (auto finding = take({}, false)) return refuse(*std::move(finding));
  } else {  // So that outputs and temporaries have all contents where few samples are asked for.
    const bool software = context_.device.snapshot().software();
    const int fewest = trial::resolve_plan(question_.plan, software).min_samples / 2;
    const int kinds = static_cast<int>(std::size(trial::kAllContents));
    for (int more = kinds - 1 - fewest; more > 0; --more) {
      if (auto finding = take({}, false)) return refuse(*std::move(finding));
    }
  }
  lap("warm_up");
  choose_opponent();
  if (opponent_) {
    if (const auto finding = sampler_->check_opponent(*checks_)) {
      result_->opponent_finding = finding->message;
    }
  }
  const bool python = opponent_ && opponent_->python();
  if ((from_outside() || python) && !choose_calls()) return false;
  if (!opponent_) return true;
  result_->opponent = opponent_->text();
  if (python && sampler_->opponent_captured()) result_->opponent += ", captured";
  if (python) {
    result_->opponent += ", without TF32";
  } else {
    const eager::DeviceTraits traits = eager::traits_of(context_.device.snapshot());
    result_->opponent += ": " + eager::arithmetic_text(build_.key().dtype, traits);
  }
  return true;
}

/// Timed from outside, one call of microseconds is lost in the hand-over: several are timed as one.
/// Short ones are captured in a CUDA graph, where otherwise Python is what is timed: on both sides
/// or on neither.
bool Trial::choose_calls() {
  constexpr double kBracketNs = 10e6, kMostNs = 50e6, kShortNs = 2e6;
  constexpr int kRounds = 3, kFirstCalls = 16, kLooks = 3;
  const int most =
      from_outside() ? runner::CallTensors(task()->graph()).calls(memory_.wanted.size()) : 1;
  // As many as fill the opponent's runs where it is a module, too: a candidate that computes
  // several calls as one would have more of them, and the opponent a graph so large that its runs
  // of one call take longer. Of one that is many times slower no more than take it kMostNs.
  const bool twin = opponent_ && opponent_->python();
  double theirs = from_outside() ? sampler_->candidate_run().call_ns() : opponent_ns_;
  double one = twin ? opponent_ns_ : theirs;
  bool capture = false;
  int calls = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double room = round == 0 ? std::min(most, kFirstCalls) : most;
    const double wanted =
        std::min(std::ceil(kBracketNs / std::max(one, 1.0)), kMostNs / std::max(theirs, 1.0));
    const int fill = static_cast<int>(std::clamp(wanted, 1.0, room));
    const bool is_short =
        std::min(one, theirs) < kShortNs && !context_.device.snapshot().software();
    if (fill <= calls + calls / 4 && is_short <= capture) break;
    calls = fill;
    capture = capture || is_short;
    sampler_->set_calls(calls, capture);
    if (auto finding = take({}, false)) return refuse(*std::move(finding));  // Captures.
    if (!from_outside() || (calls == most && capture)) break;
    // Of many calls, and captured, each takes less than the first did alone. A first one that took
    // long may have loaded kernels, and is short for all that; any may have been disturbed.
    one = theirs = std::numeric_limits<double>::infinity();
    for (int look = 0; look < kLooks; ++look) {
      theirs = std::min(theirs, sampler_->run_candidate({}, run_seconds()).call_ns());
      one = twin ? std::min(one, sampler_->run_opponent().call_ns()) : theirs;
    }
  }
  if (from_outside() && twin && sampler_->captured() != sampler_->opponent_captured()) {
    sampler_->set_calls(calls, false);
    if (auto finding = take({}, false)) return refuse(*std::move(finding));
  }
  if (from_outside() && sampler_->captured()) result_->lane = "torch-captured";
  result_->compile_s += sampler_->take_build_s();
  for (Diagnostic& each : sampler_->take_notes()) result_->diagnostics.push_back(std::move(each));
  if (capture && calls > 1 && from_outside()) {  // Runs of one call are sampled, too: captures it.
    sampler_->set_calls(1, sampler_->captures());
    if (auto finding = take({}, false)) return refuse(*std::move(finding));
    sampler_->set_calls(calls, sampler_->captures());
  }
  return true;
}

void Trial::prepare_opponent() {
  if (!with_opponent()) return;
  at_baseline_ = true;
  ways_ = question_.opponent.ways;
  if (const auto* known = context_.opponents.choice(build_.key(), question_.opponent)) {
    ways_ = {known->way};
    left_out_ = known->left_out;
  }
  if (ways_.empty()) ways_ = {""};  // kbench's own kernels.
  opponent_ = &context_.opponents.of(question_.opponent);
  opponent_->prepare(context_.supply, build_.key(), ways_.front());
  at_baseline_ = false;
}

/// Does a step of timing the opponent in a way. Where it cannot run the task so, and others are
/// left, it is left out; else that is thrown.
bool Trial::works(const std::string& way, const std::function<void()>& step) {
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
    opponent_->drop();
    why = failure.message;
  }
  left_out_.push_back(why);
  std::erase(ways_, way);
  return false;
}

void Trial::attach_opponent(const std::string& way) {
  const std::string known = context_.opponents.too_slow(build_.key(), way);
  if (!known.empty()) {
    throw RunnerFailure{RunnerFailure::Kind::timeout, ErrorCode::kTimeout, known};
  }
  opponent_->prepare(context_.supply, build_.key(), way);
  try {
    opponent_->attach(context_.store, *task(), from_outside() ? &built_ : nullptr, memory_.slab);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kOutOfMemory) throw;
    throw RunnerFailure{RunnerFailure::Kind::ended, error.code(),
                        "the opponent's outputs have no memory: " + error.message()};
  }
}

/// What the opponent takes counts in no limit of the candidate's.
void Trial::attach_opponent() {
  if (opponent_) {
    at_baseline_ = true;
    deadline_.passed();
    while (!works(ways_.front(), [&] { attach_opponent(ways_.front()); })) {
    }
    deadline_.leave_out();
    at_baseline_ = false;
  }
  lap("opponent");
}

/// Nanoseconds of one call, the least of so many runs; the last way that was attached is timed.
double Trial::time_opponent(const std::string& way, int runs) {
  if (opponent_->way() != way) attach_opponent(way);
  sampler_->set_opponent(opponent_, /*own_clock=*/opponent_->python() && !from_outside());
  try {
    sampler_->run_opponent(kOpponentCompileSeconds);
  } catch (const RunnerFailure& failure) {
    if (!is_late(failure)) throw;
    const std::string late = opponent_->name() + " took longer than " +
                             number_text(kOpponentCompileSeconds) +
                             " s for its first run, in which it compiles";
    context_.opponents.note_too_slow(build_.key(), way, late);
    throw RunnerFailure{RunnerFailure::Kind::timeout, ErrorCode::kTimeout, late};
  }
  sampler_->run_opponent();
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < runs; ++run) {
    least = std::min(least, sampler_->run_opponent().call_ns());
  }
  return least;
}

/// Of several ways the fastest by the best of a few runs: a draw between equals decides nothing.
/// One process takes one after another, so that only one of them holds the device's memory.
void Trial::choose_opponent() {
  if (!opponent_) return;
  constexpr int kRuns = 5;
  deadline_.passed();
  const bool several = ways_.size() > 1;
  opponent_ns_ = std::numeric_limits<double>::infinity();
  std::string fastest;
  for (const std::string& way : std::vector(ways_)) {
    double ns = 0;
    if (!works(way, [&] { ns = time_opponent(way, several ? kRuns : 1); })) continue;
    if (ns >= opponent_ns_) continue;
    opponent_ns_ = ns;
    fastest = way;
  }
  if (several) {
    ways_ = {fastest};
    if (opponent_->way() != fastest) time_opponent(fastest, 1);
  }
  if (question_.opponent.ways.size() > 1 &&
      !context_.opponents.choice(build_.key(), question_.opponent)) {
    context_.opponents.note({build_.key(), question_.opponent, fastest, left_out_});
  }
  for (const std::string& each : left_out_) {
    result_->diagnostics.push_back({"note", "", 0, 0, "left out: " + each});
  }
  deadline_.leave_out();
  lap("opponent");
}

TimeLimit Trial::limit() const {
  if (stage_ == "compile") return compile_limit(question_.limits, build_.kind());
  return run_limit(question_.limits, /*compiles=*/from_outside() && stage_ != "sample");
}

std::optional<Finding> Trial::take(const trial::Roles& roles, bool first) {
  const int sample = sampler_->next_sample();
  const trial::Contents contents = trial::temporaries_contents(sample);
  // What setup leaves unwritten holds other contents in each of the first samples, too.
  if (built_.has_setup && contents != trial::temporaries_contents(sample - 1)) {
    if (auto finding = set_up_again(contents)) return finding;
    make_checks();
    first = true;
  }
  auto finding = sampler_->take(*checks_, roles, first, run_seconds());
  max_error_ = std::max(max_error_, checks_->max_error());
  result_->max_error = max_error_;
  if (!finding) return finding;
  if (built_.asks_lengths) finding = explained(*std::move(finding));
  if (from_outside()) return finding;
  tell_contents(contents, *finding);
  return finding;
}

void Trial::tell_contents(trial::Contents contents, Finding& finding) {
  if (!of_values(finding)) return;
  if (contents == trial::Contents::zeros) {
    finding.message += "; what it had not written held zeros";
  } else if (contents == trial::Contents::small) {
    finding.message += "; what it had not written held small integers, mostly 1";
  }
}

/// For wrong results of a candidate that asks how long its buffers are: if it is right with exact
/// bounds, where the device hides what lies behind the buffers, and wrong again without, it reads
/// out of bounds.
Finding Trial::explained(Finding wrong) {
  if (!of_values(wrong)) return wrong;
  const double seconds = run_seconds();
  if (sampler_->run_again(*checks_, {.exact = true}, seconds)) return wrong;
  const auto again = sampler_->run_again(*checks_, {}, seconds);
  if (!again || !of_values(*again)) return wrong;
  return {Verdict::out_of_bounds,
          "reads outside of its buffers: right where the device keeps it from what lies behind "
          "them, and with that in reach " +
              again->message};
}

bool Trial::sample() {
  stage("sample");
  enter(Phase::sampling);
  lap("warm_up");
  const bool software = context_.device.snapshot().software();
  std::optional<double> recorded_ns;
  if (question_.recorded) {
    recorded_ns = 1e6 * question_.recorded->time_of(*result_);
  }
  const int calls = from_outside() ? sampler_->calls() : 0;
  const bool twin = !recorded_ns && opponent_ && opponent_->python();
  trial::CallSampling sampling(trial::resolve_plan(question_.plan, software), recorded_ns, calls,
                               build_.key().dtype, twin);
  ClockRule clock(software);
  clock.set_lane(lane_);
  const std::vector<pid_t> ours = {context_.supply.baseline().runner().id(), candidate().id()};
  const auto clocks = software ? process::processor_clocks(ours) : std::nullopt;
  if (!take_samples(sampling, clock, calls)) return false;
  if (clocks) {
    const auto clocks_then = process::processor_clocks(ours);
    const auto taken = clocks_then ? process::taken_by_others(*clocks, *clocks_then) : std::nullopt;
    result_->busy = taken && *taken > kBusyShare;
  }
  lap("sample");
  if (const std::string said = clock.contradiction(); !said.empty()) {
    end_.times_in_doubt = true;
    return refuse(Verdict::harness_error, said);
  }
  tell_how_timed(sampling, calls);
  result_->samples = sampling.count();
  result_->speedup = sampling.speedup();
  result_->candidate_ms = sampling.candidate_ms();
  result_->baseline_ms = sampling.baseline_ms();
  candidate_ms_at_most_ = sampling.candidate_ms_at_most();
  return true;
}

/// Until the interval is narrow enough and no time is suspicious. `calls`: of a module, in runs of
/// several.
bool Trial::take_samples(trial::CallSampling& sampling, ClockRule& clock, int calls) {
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  trial::RoleSchedule schedule;
  Retakes retakes;
  double told = 0;  // when progress was
  trial::Roles roles = schedule.next(secret_);
  int calls_now = sampling.next(secret_);
  const auto unexplained = [&] {
    if (sampling.count() >= kSamplesToExplain || clock.suspicion().empty()) return false;
    context_.supply.quiet();
    return true;
  };
  while (!sampling.done() || unexplained()) {
    if (deadline_.passed()) return refuse_late();
    if (calls > 1) sampler_->set_calls(calls_now, sampler_->captures());
    if (auto finding = take(roles, false)) {
      finding->message +=
          " (in sample " + std::to_string(sampling.count() + 1) + "; the warm-up had been right)";
      return refuse(*std::move(finding));
    }
    const BracketedRun& ours = sampler_->baseline_run();
    const BracketedRun& rival = sampler_->opponent_run();
    const BracketedRun& theirs = sampler_->candidate_run();
    if (clock.contradicts(ours) || clock.contradicts(theirs)) {
      if (retakes.may_again(sampling.count())) continue;
      end_.times_in_doubt = true;
      return refuse(Verdict::harness_error, retakes.text());
    }
    retakes.believed();
    clock.add(ours, theirs);
    const double spent_ns = rival.claimed_ns() + theirs.claimed_ns();
    const bool alone = calls > 1 && calls_now == 1;
    sampling.add({alone ? rival.net_ns : rival.call_ns(), alone ? theirs.net_ns : theirs.call_ns(),
                  spent_ns},
                 seconds());
    roles = schedule.next(secret_);
    calls_now = sampling.next(secret_);
    if (seconds() - told >= kTellEvery && tell_progress(sampling, seconds())) told = seconds();
  }
  return true;
}

/// Sends the client how many samples there are and the speedup so far, where it wants that. Returns
/// whether it did: not between the samples of a pair, nor while they are too few for an interval.
bool Trial::tell_progress(const trial::CallSampling& sampling, double seconds) const {
  const bool pairs = sampling.count() % 2 == 0 && sampling.several().count() > 0;
  if (!on_progress_ || !pairs) return false;
  const Interval speedup = sampling.speedup();
  if (!std::isfinite(speedup.high)) return false;
  on_progress_({sampling.count(), speedup, seconds});
  return true;
}

void Trial::tell_how_timed(const trial::CallSampling& sampling, int calls) {
  const auto note = [&](std::string text) {
    result_->diagnostics.push_back({"note", "", 0, 0, std::move(text)});
  };
  if (from_outside() && !sampler_->captured() && sampling.candidate_ms() < kHostBoundMs) {
    note("bound by the host: calling it takes Python about as long as the device needs");
  }
  if (sampling.lower_alone()) {
    note("timed by runs of one call: in runs of " + std::to_string(calls) + " calls it is " +
         digits_text(sampling.several().speedup().point, 3) + " times as fast");
  }
}

/// Keeps the better of several measurements: a device that has idled is slower.
void Trial::measure_roofline() {
  const Roofline measured = trial::measure_roofline(context_.device);
  Roofline& best = context_.roofline ? *context_.roofline : context_.roofline.emplace();
  best.copy_bytes_per_s = std::max(best.copy_bytes_per_s, measured.copy_bytes_per_s);
  best.flops_per_s = std::max(best.flops_per_s, measured.flops_per_s);
}

/// Why no kernel can be as fast as this one was; nothing where one can. Only of tasks whose outputs
/// cannot be known from less than their inputs: those that no known shortcut passes. A baseline
/// that was timed beside it has done all of the work, so that only what is faster is looked at.
std::optional<std::string> Trial::impossible() {
  const bool certain = is_certified(result_->certificate);
  if (context_.device.snapshot().software() || !certain) return std::nullopt;
  const bool beside = !question_.recorded && !with_opponent();
  if (beside && result_->speedup.high <= 1) return std::nullopt;
  const LeastWork work = least_work(task()->graph());
  const uint64_t cached = context_.device.plan().flush_bytes;
  const auto look = [&] {
    const SpeedLimit limit = speed_limit(work, *context_.roofline, question_.dtype, cached);
    return too_fast(candidate_ms_at_most_, work, limit);
  };
  try {
    if (!context_.roofline) measure_roofline();
    if (!look()) return std::nullopt;
    measure_roofline();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kOutOfMemory) throw;
    return std::nullopt;
  }
  return look();
}

void Trial::report() {
  const Graph& graph = task()->graph();
  const double seconds = result_->candidate_ms * 1e-3;
  result_->gbytes_per_s = graph.least_bytes() / seconds * 1e-9;
  result_->tflops = graph.flops() / seconds * 1e-12;
  lap("sample");
  find_own_share();
  lap("profile");
  if (auto why = impossible()) {
    refuse(Verdict::impossible, *std::move(why));
  } else {
    refuse(Verdict::passed, "");
  }
}

}  // namespace kbench::judge
