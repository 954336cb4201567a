#include "harness/measure/judge/prepared_trial.h"

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "harness/measure/judge/inspect.h"
#include "harness/measure/trial/slab_layout.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/score.h"

namespace kbench::judge {

namespace {

/// Runs that the judge has added have one seed and many sizes.
std::optional<uint64_t> seed_of(const EvaluateRequest& request) {
  const Question& asked = request.question;
  if (!request.values_only || !asked.plan.seed) return asked.plan.seed;
  return trial::SecretStream(asked.plan.seed).at_sizes(asked.overrides);
}

}  // namespace

PreparedTrial::PreparedTrial(const TrialContext& context, CandidateBuild& build,
                             TrialReport& report)
    : context_(context),
      build_(build),
      report_(report),
      request_(build.request()),
      deadline_(context.total),
      secret_(seed_of(request_)),
      opponent_(context.opponents, context.supply, context.store) {
  deadline_.leave_out();  // What was before it.
}

bool PreparedTrial::load() {
  runner::Refused refused;
  const bool loaded = build_.loaded(refused, [this] {
    if (question().check || build_.needs_python()) return;
    if (has_task_memory()) build_.attach(*task());
  });
  static_cast<Experiment&>(report_.result) = build_.experiment();
  report_.lap("load");
  return loaded || report_.refuse(refused);
}

/// Memory comes last: other faults of a candidate are faults on devices with more memory, too.
void PreparedTrial::check() {
  if (build_candidate() && task_fits() && fits()) report_.refuse(Verdict::compiles, "");
}

bool PreparedTrial::prepare() {
  if (!task_fits() || !build_candidate() || !fits()) return false;
  report_.stage("warm-up");
  allocate();
  take_device();
  if (!alone()) try_lane();
  known_draws_ = request_.inspect;
  if (request_.values_only) known_draws_ = {secret_.of_draw(0), secret_.of_draw(0)};
  if (known_draws_) draw_known(parts(), *sampler_, *known_draws_);
  return set_up();
}

void PreparedTrial::make_task() {
  at_baseline([this] {
    context_.supply.make_task(build_);
    enter(Phase::preparing);
  });
  report_.lap("task");
}

bool PreparedTrial::build_candidate() {
  report_.stage("compile");
  bool lacks_memory = false;
  if (!question().check && !has_task_memory()) {
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
  report_.lap("compile");
  if (!built) {
    const bool too_small = question().check && refused.size && !task_fits();
    return too_small ? false : report_.refuse(refused);
  }
  if (lacks_memory) {  // Runners hold what other tasks have used; this one answers only now.
    const uint64_t bytes = trial::required_bytes(build_.graph(), context_.device.snapshot());
    make_room(bytes);
    with_room(bytes, [this] { make_task(); });
  }
  report_.end.stack_bytes = built_.stack_bytes;
  report_.result.compile_s = built_.compile_s;
  report_.result.diagnostics = built_.diagnostics;
  report_.end.launched_by = built_.launched_by;
  report_.result.lane = name_of(built_.launched_by);
  return true;
}

void PreparedTrial::prepare_opponent() {
  if (!TrialOpponent::wanted(request_)) return;
  at_baseline([this] { opponent_.prepare(key(), question().opponent); });
}

void PreparedTrial::take_device() {
  wait_turn();
  enter(Phase::running);
  report_.lap("wait");
  sampler_.emplace(parts());
  context_.clock.raise(context_.kernels);  // It has idled while the candidate compiled.
  sampler_->upload_data();
  sampler_->draw_task(built_.has_setup || request_.profile_runs);
}

/// Waits until no other process's trial has the device, and keeps it for this one. The time that
/// takes counts in no limit, neither the candidate's nor the measurement's.
void PreparedTrial::wait_turn() {
  deadline_.passed();
  const double waited =
      context_.lock.take([this] { report_.tell(kQueueStage); }, context_.cancelled);
  deadline_.leave_out();
  if (!context_.lock.held()) {
    report_.set_stage(kQueueStage);
    throw RunnerFailure{RunnerFailure::Kind::cancelled, ErrorCode::kInternal, "it was cancelled"};
  }
  if (waited > 0) report_.tell(report_.stage().c_str());
  report_.lap(kQueueStage);
}

/// Runs of nothing at the pace of samples; the first wake everything up.
std::vector<BracketedRun> PreparedTrial::hand_overs(int runs) {
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
void PreparedTrial::try_lane() {
  if (lane().hands_over()) hand_overs_ = hand_overs(20);
  if (!lane().timed_outside()) return;
  HandOver& hand_over = context_.hand_over;
  if (!hand_over.known()) context_.supply.quiet();
  if (!hand_over.certain()) {
    std::vector<double> times;
    for (const BracketedRun& run : hand_overs(15)) times.push_back(run.run_ns);
    hand_over.add(std::move(times));
  }
  sampler_->take_off(hand_over.ns());
}

std::vector<Watched> PreparedTrial::watched(bool with_setup) const {
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
  const bool shared = lane().repeats_calls() && software();
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

CheckRule PreparedTrial::rule() const {
  if (question().rule.tolerance == ToleranceRule::kbench) {
    return {bounds_of(task()->task(), build_.key().dtype), ToleranceRule::kbench};
  }
  const bool loose = is_half(build_.key().dtype) || build_.key().preset == name_of(Preset::v0);
  return {loose ? 1e-2 : 1e-4, ToleranceRule::kernelbench};
}

/// Runs setup twice: the first warms up.
bool PreparedTrial::set_up() {
  if (!built_.has_setup) return true;
  for (int run = 0; run < 2; ++run) {
    if (auto finding = set_up_again(trial::Contents::plausible)) return refuse(*std::move(finding));
  }
  return true;
}

std::optional<Finding> PreparedTrial::set_up_again(trial::Contents contents) {
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
  report_.result.setup_ms = sampler_->run_candidate({.setup = true}, seconds).run_ns * 1e-6;
  auto finding = sampler_->guards(checks);
  if (finding) finding->message = "in setup: " + finding->message;
  return finding;
}

void PreparedTrial::make_checks(std::optional<Checks>& checks) {
  checks.emplace(context_.workspace, context_.kernels, *redzones_, task()->graph(), watched(true),
                 rule(), secret_);
}

void PreparedTrial::make_checks_with_redzones(std::optional<Checks>& checks) {
  make_checks(checks);
  vulkan::Commands& commands = sampler_->commands();
  commands.begin();
  checks->record_redzones(commands);
  commands.submit_and_wait(kHarnessSeconds);
}

TimeLimit PreparedTrial::limit() const {
  if (report_.stage() == "compile") return compile_limit(question().limits, build_.kind());
  return run_limit(question().limits, lane().compiles_when_called() && report_.stage() != "sample");
}

bool PreparedTrial::refuse(Finding finding) {
  // These verdicts come after the task's memory was made.
  const bool values =
      finding.verdict == Verdict::low_precision || finding.verdict == Verdict::wrong_values;
  if (values) {
    finding = with_causes(std::move(finding), built_, task()->graph(), report_.result.certificate);
  }
  return report_.refuse(finding.verdict, std::move(finding.message));
}

SampleParts PreparedTrial::parts() {
  return {context_.device,
          context_.workspace.commands,
          context_.kernels,
          secret_,
          *task(),
          memory_,
          context_.supply.baseline().runner(),
          candidate(),
          context_.pausable,
          baseline_seconds(),
          lane().has_own_temporaries(),
          lane().compiles_when_called()
              ? compile_limit(question().limits, runner::RunnerKind::torch).seconds
              : 0};
}

double PreparedTrial::baseline_seconds() const {
  return std::min(question().limits.total_seconds + kAnswerSeconds, kHarnessSeconds);
}

}  // namespace kbench::judge
