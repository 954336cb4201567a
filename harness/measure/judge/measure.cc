#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "harness/measure/eager/eager.h"
#include "harness/measure/judge/clock_rule.h"
#include "harness/measure/judge/prepared_trial.h"
#include "harness/measure/process/other_load.h"
#include "harness/measure/trial/baseline_timer.h"
#include "harness/measure/trial/sampling.h"
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

/// Every step returns whether to go on; when it returns false the report's verdict says why.
class Measurement {
 public:
  Measurement(PreparedTrial& trial, const std::function<void(const Progress&)>& on_progress)
      : trial_(trial),
        report_(trial.report()),
        result_(report_.result),
        lane_(trial.lane()),
        sampler_(trial.sampler()),
        opponent_(trial.opponent()),
        on_progress_(on_progress) {}

  bool warm_up();
  bool sample();
  void report();

 private:
  void choose_opponent();
  void name_opponent();
  bool choose_calls();
  std::optional<Finding> take(const trial::Roles& roles, bool first);
  Finding explained(Finding wrong);
  bool take_samples(trial::CallSampling& sampling, ClockRule& clock, int calls);
  bool tell_progress(const trial::CallSampling& sampling, double seconds) const;
  void tell_how_timed(const trial::CallSampling& sampling, int calls);
  std::optional<std::string> impossible();
  void measure_roofline();

  PreparedTrial& trial_;
  TrialReport& report_;
  Result& result_;
  const Lane lane_;
  Sampler& sampler_;
  TrialOpponent& opponent_;
  const std::function<void(const Progress&)>& on_progress_;
  std::optional<Checks> checks_;
  double max_error_ = 0;
  double candidate_ms_at_most_ = 0;  ///< by the interval of its median
};

bool Measurement::warm_up() {
  trial_.make_checks(checks_);
  if (auto finding = take({}, true)) return trial_.refuse(*std::move(finding));
  if (lane_.compiles_when_called()) {  // Its first run may have compiled.
    if (auto finding = take({}, false)) return trial_.refuse(*std::move(finding));
  } else {  // So that outputs and temporaries have all contents where few samples are asked for.
    const bool software = trial_.software();
    const int fewest = trial::fewest_samples(trial::resolve_plan(trial_.question().plan, software));
    const int kinds = static_cast<int>(std::size(trial::kAllContents));
    for (int more = kinds - 1 - fewest; more > 0; --more) {
      if (auto finding = take({}, false)) return trial_.refuse(*std::move(finding));
    }
  }
  report_.lap("warm_up");
  choose_opponent();
  if ((lane_.repeats_calls() || opponent_.python()) && !choose_calls()) return false;
  name_opponent();
  return true;
}

/// The opponent's time counts in no limit of the candidate's.
void Measurement::choose_opponent() {
  if (opponent_.runner() == nullptr) return;
  trial_.deadline().passed();
  opponent_.choose(sampler_, /*own_clock=*/opponent_.python() && !lane_.timed_outside());
  for (const std::string& each : opponent_.left_out()) report_.note("left out: " + each);
  trial_.deadline().leave_out();
  report_.lap("opponent");
  if (const auto finding = sampler_.check_opponent(*checks_)) {
    result_.opponent_finding = finding->message;
  }
}

void Measurement::name_opponent() {
  if (opponent_.runner() == nullptr) return;
  result_.opponent = opponent_.runner()->text();
  if (opponent_.python()) {
    result_.opponent += sampler_.opponent().captured ? ", captured" : "";
    result_.opponent +=
        trial_.question().opponent.tf32 ? ", convolutions in TF32" : ", without TF32";
  } else {
    const eager::DeviceTraits traits = eager::traits_of(trial_.context().device.snapshot());
    result_.opponent += ": " + eager::arithmetic_text(trial_.key().dtype, traits);
  }
}

/// Timed from outside, one call of microseconds is lost in the hand-over: several are timed as one.
/// Short ones are captured in a CUDA graph, where otherwise Python is what is timed: on both sides
/// or on neither.
bool Measurement::choose_calls() {
  constexpr double kBracketNs = 10e6, kMostNs = 50e6, kShortNs = 2e6;
  constexpr int kRounds = 3, kFirstCalls = 16, kLooks = 3;
  const bool repeats = lane_.repeats_calls(), twin = opponent_.python();
  const int most =
      repeats ? runner::CallTensors(trial_.task()->graph()).calls(trial_.memory().wanted.size())
              : 1;
  // As many as fill the opponent's runs where it is a module, too: a candidate that computes
  // several calls as one would have more of them, and the opponent a graph so large that its runs
  // of one call take longer. Of one that is many times slower no more than take it kMostNs.
  double theirs = repeats ? sampler_.candidate().run.call_ns() : opponent_.call_ns();
  double one = twin ? opponent_.call_ns() : theirs;
  bool capture = false;
  int calls = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double room = round == 0 ? std::min(most, kFirstCalls) : most;
    const double wanted =
        std::min(std::ceil(kBracketNs / std::max(one, 1.0)), kMostNs / std::max(theirs, 1.0));
    const int fill = static_cast<int>(std::clamp(wanted, 1.0, room));
    const bool is_short = std::min(one, theirs) < kShortNs && !trial_.software();
    if (fill <= calls + calls / 4 && is_short <= capture) break;
    calls = fill;
    capture = capture || is_short;
    sampler_.set_calls(calls, capture);
    if (auto finding = take({}, false)) return trial_.refuse(*std::move(finding));  // Captures.
    if (!repeats || (calls == most && capture)) break;
    // Each of many calls that are captured takes less than the first did alone. The first may have
    // loaded kernels, and any may have been disturbed: the shortest of a few looks counts.
    one = theirs = std::numeric_limits<double>::infinity();
    for (int look = 0; look < kLooks; ++look) {
      theirs = std::min(theirs, sampler_.run_candidate({}, trial_.run_seconds()).call_ns());
      one = twin ? std::min(one, sampler_.run_opponent().call_ns()) : theirs;
    }
  }
  if (repeats && twin && sampler_.candidate().captured != sampler_.opponent().captured) {
    sampler_.set_calls(calls, false);
    if (auto finding = take({}, false)) return trial_.refuse(*std::move(finding));
  }
  if (repeats && sampler_.candidate().captured) result_.lane = "torch-captured";
  result_.compile_s += sampler_.take_build_s();
  for (Diagnostic& each : sampler_.take_notes()) result_.diagnostics.push_back(std::move(each));
  if (capture && calls > 1 && repeats) {  // Runs of one call are sampled, too: captures it.
    sampler_.set_calls(1, sampler_.captures());
    if (auto finding = take({}, false)) return trial_.refuse(*std::move(finding));
    sampler_.set_calls(calls, sampler_.captures());
  }
  return true;
}

std::optional<Finding> Measurement::take(const trial::Roles& roles, bool first) {
  const int sample = sampler_.next_sample();
  const trial::Contents contents = trial::temporaries_contents(sample);
  // Memory that setup leaves unwritten holds other contents in each of the first samples, too.
  if (trial_.built().has_setup && contents != trial::temporaries_contents(sample - 1)) {
    if (auto finding = trial_.set_up_again(contents)) return finding;
    trial_.make_checks(checks_);
    first = true;
  }
  auto finding = sampler_.take(*checks_, roles, first, trial_.run_seconds());
  max_error_ = std::max(max_error_, checks_->max_error());
  result_.max_error = max_error_;
  if (!finding) return finding;
  if (trial_.built().asks_lengths) finding = explained(*std::move(finding));
  if (!lane_.has_own_temporaries()) tell_contents(contents, *finding);
  return finding;
}

/// For wrong results of a candidate that asks how long its buffers are: if it is right with exact
/// bounds, where the device hides what lies behind the buffers, and wrong again without, it reads
/// out of bounds.
Finding Measurement::explained(Finding wrong) {
  if (!is_of_values(wrong)) return wrong;
  const double seconds = trial_.run_seconds();
  if (sampler_.run_again(*checks_, {.exact = true}, seconds)) return wrong;
  const auto again = sampler_.run_again(*checks_, {}, seconds);
  if (!again || !is_of_values(*again)) return wrong;
  return {Verdict::out_of_bounds,
          "reads outside of its buffers: right where the device keeps it from what lies behind "
          "them, and with that in reach " +
              again->message};
}

bool Measurement::sample() {
  report_.stage("sample");
  trial_.enter(Phase::sampling);
  report_.lap("warm_up");
  const bool software = trial_.software();
  std::optional<double> recorded_ns;
  if (trial_.question().recorded) {
    recorded_ns = 1e6 * trial_.question().recorded->time_of(result_);
  }
  const int calls = lane_.repeats_calls() ? sampler_.calls() : 0;
  const bool twin = !recorded_ns && opponent_.python();
  trial::CallSampling sampling(trial::resolve_plan(trial_.question().plan, software), recorded_ns,
                               calls, trial_.key().dtype, twin);
  ClockRule clock(software);
  clock.set_lane(trial_.hand_overs());
  const std::vector<pid_t> ours = {trial_.context().supply.baseline().runner().id(),
                                   trial_.candidate().id()};
  const auto clocks = software ? process::processor_clocks(ours) : std::nullopt;
  if (!take_samples(sampling, clock, calls)) return false;
  if (clocks) {
    const auto clocks_then = process::processor_clocks(ours);
    const auto taken = clocks_then ? process::taken_by_others(*clocks, *clocks_then) : std::nullopt;
    result_.busy = taken && *taken > kBusyShare;
  }
  report_.lap("sample");
  if (const std::string said = clock.contradiction(); !said.empty()) {
    report_.end.times_in_doubt = true;
    return report_.refuse(Verdict::harness_error, said);
  }
  tell_how_timed(sampling, calls);
  result_.samples = sampling.count();
  result_.speedup = sampling.speedup();
  result_.candidate_ms = sampling.candidate_ms();
  result_.baseline_ms = sampling.baseline_ms();
  candidate_ms_at_most_ = sampling.candidate_ms_at_most();
  return true;
}

/// Until the interval is narrow enough and no time is suspicious. `calls`: of a module, in runs of
/// several.
bool Measurement::take_samples(trial::CallSampling& sampling, ClockRule& clock, int calls) {
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  trial::RoleSchedule schedule;
  Retakes retakes;
  double told = 0;  // when progress was
  trial::Roles roles = schedule.next(trial_.secret());
  int calls_now = sampling.next(trial_.secret());
  const auto unexplained = [&] {
    if (sampling.count() >= kSamplesToExplain || clock.suspicion().empty()) return false;
    trial_.context().supply.quiet();
    return true;
  };
  while (!sampling.done() || unexplained()) {
    if (trial_.deadline().passed()) {
      const RunnerFailure late{RunnerFailure::Kind::late, ErrorCode::kTimeout, ""};
      return trial_.refuse(
          failure_verdict(late, {.stage = report_.stage()}, trial_.question().limits));
    }
    if (calls > 1) sampler_.set_calls(calls_now, sampler_.captures());
    if (auto finding = take(roles, false)) {
      finding->message +=
          " (in sample " + std::to_string(sampling.count() + 1) + "; the warm-up had been right)";
      return trial_.refuse(*std::move(finding));
    }
    const BracketedRun& ours = sampler_.baseline_run();
    const BracketedRun& rival = sampler_.opponent().run;
    const BracketedRun& theirs = sampler_.candidate().run;
    if (clock.contradicts(ours) || clock.contradicts(theirs)) {
      if (retakes.may_again(sampling.count())) continue;
      report_.end.times_in_doubt = true;
      return report_.refuse(Verdict::harness_error, retakes.text());
    }
    retakes.believed();
    clock.add(ours, theirs);
    const double spent_ns = rival.claimed_ns() + theirs.claimed_ns();
    const bool alone = calls > 1 && calls_now == 1;
    sampling.add({alone ? rival.net_ns : rival.call_ns(), alone ? theirs.net_ns : theirs.call_ns(),
                  spent_ns},
                 seconds());
    roles = schedule.next(trial_.secret());
    calls_now = sampling.next(trial_.secret());
    if (seconds() - told >= kTellEvery && tell_progress(sampling, seconds())) told = seconds();
  }
  return true;
}

/// Sends the client how many samples there are and the speedup so far, where it wants that. Returns
/// whether it did: not between the samples of a pair, nor while they are too few for an interval.
bool Measurement::tell_progress(const trial::CallSampling& sampling, double seconds) const {
  const bool pairs = sampling.count() % 2 == 0 && sampling.several().count() > 0;
  if (!on_progress_ || !pairs) return false;
  const Interval speedup = sampling.speedup();
  if (!std::isfinite(speedup.high)) return false;
  on_progress_({sampling.count(), speedup, seconds});
  return true;
}

void Measurement::tell_how_timed(const trial::CallSampling& sampling, int calls) {
  if (lane_.timed_outside() && !sampler_.candidate().captured &&
      sampling.candidate_ms() < kHostBoundMs) {
    report_.note("bound by the host: calling it takes Python about as long as the device needs");
  }
  if (sampling.lower_alone()) {
    report_.note("timed by runs of one call: in runs of " + std::to_string(calls) +
                 " calls it is " + digits_text(sampling.several().speedup().point, 3) +
                 " times as fast");
  }
}

/// Keeps the better of several measurements: a device that has idled is slower.
void Measurement::measure_roofline() {
  const Roofline measured = trial::measure_roofline(trial_.context().device);
  Roofline& best =
      trial_.context().roofline ? *trial_.context().roofline : trial_.context().roofline.emplace();
  best.copy_bytes_per_s = std::max(best.copy_bytes_per_s, measured.copy_bytes_per_s);
  best.flops_per_s = std::max(best.flops_per_s, measured.flops_per_s);
}

/// Why no kernel can be as fast as this one was; nothing where one can. Only of tasks whose outputs
/// cannot be known from less than their inputs: those that no known shortcut passes. A baseline
/// that was timed beside it has done all of the work, so that only what is faster is looked at.
std::optional<std::string> Measurement::impossible() {
  const bool certain = is_certified(result_.certificate);
  if (trial_.software() || !certain) return std::nullopt;
  const bool beside = !trial_.question().recorded && !TrialOpponent::wanted(trial_.request());
  if (beside && result_.speedup.high <= 1) return std::nullopt;
  const LeastWork work = least_work(trial_.task()->graph());
  const uint64_t cached = trial_.context().device.plan().flush_bytes;
  const auto look = [&] {
    const SpeedLimit limit =
        speed_limit(work, *trial_.context().roofline, trial_.question().dtype, cached);
    return too_fast(candidate_ms_at_most_, work, limit);
  };
  try {
    if (!trial_.context().roofline) measure_roofline();
    if (!look()) return std::nullopt;
    measure_roofline();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kOutOfMemory) throw;
    return std::nullopt;
  }
  return look();
}

void Measurement::report() {
  const Graph& graph = trial_.task()->graph();
  const double seconds = result_.candidate_ms * 1e-3;
  result_.gbytes_per_s = graph.least_bytes() / seconds * 1e-9;
  result_.tflops = graph.flops() / seconds * 1e-12;
  report_.lap("sample");
  find_own_share(trial_);
  report_.lap("profile");
  auto why = impossible();
  if (const std::optional<Roofline>& roofline = trial_.context().roofline) {
    result_.roof_gbytes_per_s = 1e-9 * roofline->copy_bytes_per_s;
    result_.roof_tflops = 1e-12 * roofline->flops_per_s;
  }
  if (why) {
    report_.refuse(Verdict::impossible, *std::move(why));
  } else {
    report_.refuse(Verdict::passed, "");
  }
}

}  // namespace

void measure(PreparedTrial& trial, const std::function<void(const Progress&)>& on_progress) {
  Measurement measurement(trial, on_progress);
  if (measurement.warm_up() && measurement.sample()) measurement.report();
}

}  // namespace kbench::judge
