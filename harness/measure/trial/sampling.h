// Decides when a measurement has enough samples, and computes the speedup. Uses no device.
#pragma once

#include <optional>
#include <vector>

#include "harness/measure/trial/secret.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"

namespace kbench::trial {

/// By how much two processes that run the same kernel differ, as a share of a run of so many
/// nanoseconds: 0.2%, or 1% in a task of halves, and 0.2 microseconds. The placement and mapping of
/// their memory stay the same for a whole trial, so that more samples do not average it out.
/// Measured on an H200, one kernel against itself (docs/results/method.md).
double placement_share(double run_ns, DType dtype = DType::f32);
/// The same of processes with PyTorch, timed from outside: 1% and 60 microseconds a run of so many
/// calls. Measured on an H100, one module against itself.
double process_share(double call_ns, int calls);

/// By how much what one call seems to take by itself can be off, nanoseconds: 1% and 30
/// microseconds, or 3% and 300 where no twin shows what its run takes beside. Measured on an H100:
/// modules against themselves, and captured ones of microseconds, whose runs of one call took up to
/// 210 microseconds.
double lone_call_room(double call_ns, bool twin);

/// Device times of one paired sample.
struct PairedTimes {
  double baseline_ns = 0;
  double candidate_ns = 0;
  double spent_ns = 0;  ///< both runs and the cache flushes before them; counts in the budget
};

/// The plan with its defaults for a device; numbers of samples are rounded up to pairs.
SamplingPlan resolve_plan(SamplingPlan plan, bool software);
/// No trial of this plan ends after fewer samples: min_samples, or four where it is 0.
int fewest_samples(const SamplingPlan& plan);

/// Collects samples and says when to stop. The two samples of a pair have opposite orders (see
/// RoleSchedule): if running second costs a factor, it cancels in the geometric mean of their
/// ratios. The speedup is the median of these means; against a recorded time, that time over the
/// median of the candidate's times.
class Sampling {
 public:
  /// `calls`: of a module that is timed from outside, in one run; 0: timed by the device.
  explicit Sampling(const SamplingPlan& plan, std::optional<double> recorded_ns = std::nullopt,
                    int calls = 0, DType dtype = DType::f32)
      : plan_(plan), recorded_ns_(recorded_ns), calls_(calls), dtype_(dtype) {}

  void add(const PairedTimes& times);
  /// True if the interval of the speedup is narrow enough (at four, six, eight, twelve or sixteen
  /// samples, or from eight pairs on), the budget of device time is spent, or wall time has reached
  /// one and a half times the budget; never before min_samples, always at max_samples. Where
  /// min_samples is 0, the budget ends nothing before eight samples. Narrow enough: within the
  /// plan's precision, or process_share() if that is more. At four and six samples the interval is
  /// up to four times as wide as the range of their ratios, so that only samples that agree end
  /// there; those of a module and against a recorded time never do. Also where the interval, of
  /// any kind of samples, shows that the candidate is slow: below 0.5, within 10%, and on one side
  /// of each of the plan's thresholds.
  bool done(double wall_seconds) const;

  int count() const { return static_cast<int>(candidate_ns_.size()); }
  /// Needs at least one pair. The interval is that of the samples, widened by placement_share() or
  /// process_share().
  Interval speedup() const;
  double candidate_ms() const;
  double candidate_ms_at_most() const;  ///< end of the 95% interval of the candidate's median
  double baseline_ms() const;           ///< the recorded time if there is one

 private:
  bool looks_now() const;
  bool is_slow() const;
  double unknown_share() const;  ///< placement_share() or process_share()
  Interval sampled() const;

  SamplingPlan plan_;
  std::optional<double> recorded_ns_;
  int calls_;
  DType dtype_;
  std::vector<double> ratios_;   ///< one for each pair
  std::vector<double> singles_;  ///< one for each sample
  std::vector<double> candidate_ns_, baseline_ns_;
  double spent_seconds_ = 0;
};

/// Sampling of a module that is called several times in one run. It is given the inputs of all
/// calls at once and may compute them as one, in the first call or in the last; a run of one call
/// has no others. So runs of one call are sampled, too. They say what a call takes by itself: the
/// time of its run, less what a run takes beside the call's own work. Where that is more than a
/// call takes in runs of several, it is the candidate's time.
class CallSampling {
 public:
  /// As Sampling has them; up to one call, this is Sampling. `twin`: the opponent is a module that
  /// is timed in the same way, so that its runs of one call show what a run takes beside.
  CallSampling(const SamplingPlan& plan, std::optional<double> recorded_ns, int calls, DType dtype,
               bool twin);

  /// How many calls the runs of the next sample have: pairs of either kind come in random order, as
  /// often as each other until one of them has enough.
  int next(SecretStream& secret);
  /// The times of that sample, of one call each, and the wall time since sampling began, seconds.
  /// Of a run of one call: less a hand-over.
  void add(const PairedTimes& times, double wall_seconds);
  /// As Sampling has it; runs of one call count neither as samples nor in the wall time.
  bool done() const;

  int count() const { return several_.count() + static_cast<int>(alone_.size()); }
  /// Whether a call by itself takes longer than one of several, beyond lone_call_room() and what
  /// the samples leave open: where it does not, that is found in one trial of 1,500.
  bool lower_alone() const;
  /// The values that count. Need at least one pair of runs of several calls.
  Interval speedup() const;
  double candidate_ms() const;
  double candidate_ms_at_most() const;  ///< end of the 95% interval of the candidate's median
  double baseline_ms() const { return several_.baseline_ms(); }
  const Sampling& several() const { return several_; }
  /// What one call of the candidate takes by itself, nanoseconds; below six pairs up to infinity.
  Interval alone_ns() const;

 private:
  bool enough_alone() const;
  std::vector<double> alone_pairs_ns() const;
  double room(double call_ns) const { return lone_call_room(call_ns, twin_); }

  int calls_;
  bool twin_;
  Sampling several_;
  std::vector<PairedTimes> alone_;         ///< samples of runs of one call
  bool alone_now_ = false;                 ///< the kind of the next sample
  bool half_way_ = false;                  ///< a pair of the other kind follows
  double wall_ = 0, wall_of_several_ = 0;  ///< seconds until the last sample
};

/// Which of baseline and candidate runs first in a sample: random, but balanced.
struct Roles {
  bool baseline_first = true;
};

/// Samples come in pairs: the first draws its order, the second has the opposite one. The cost of
/// running second then cancels within the pair (see Sampling). Independent draws would often give
/// ten samples with eight of one order.
class RoleSchedule {
 public:
  Roles next(SecretStream& secret) {
    last_.baseline_first = half_way_ ? !last_.baseline_first : (secret.next() & 1) != 0;
    half_way_ = !half_way_;
    return last_;
  }

 private:
  Roles last_;
  bool half_way_ = false;
};

}  // namespace kbench::trial
