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
/// Measured on an H200, one kernel against itself (docs/measurement.md).
double placement_share(double run_ns, DType dtype = DType::f32);
/// The same of processes with PyTorch, timed from outside: 1% and 60 microseconds a run of so many
/// calls. Measured on an H100, one module against itself.
double process_share(double call_ns, int calls);

/// Device times of one paired sample.
struct PairedTimes {
  double baseline_ns = 0;
  double candidate_ns = 0;
  double spent_ns = 0;  ///< both runs and the cache flushes before them; counts in the budget
};

/// The plan with its defaults for a device; numbers of samples are rounded up to pairs.
SamplingPlan resolve_plan(SamplingPlan plan, bool software);

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
  /// True if the interval of the speedup is narrow enough (at eight, twelve or sixteen samples, or
  /// from eight pairs on), the budget of device time is spent, or wall time has reached one and a
  /// half times the budget; never before min_samples, always at max_samples. Narrow enough: within
  /// the plan's precision, or process_share() if that is more. From half of min_samples on also
  /// where the interval (at four and six samples, too) shows that the candidate is slow: below 0.5,
  /// within 10%, and on one side of each of the plan's thresholds.
  bool done(double wall_seconds) const;

  int count() const { return static_cast<int>(candidate_ns_.size()); }
  /// Needs at least one pair. The interval is that of the samples, widened by placement_share() or
  /// process_share().
  Interval speedup() const;
  /// The most that it can be if processes differ to the candidate's disadvantage; infinite where
  /// its runs are too short to tell.
  double at_most() const;
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
/// has no others. So runs of one call are sampled, too, and the lower speedup counts.
class CallSampling {
 public:
  /// As Sampling has them; up to one call, this is Sampling.
  CallSampling(const SamplingPlan& plan, std::optional<double> recorded_ns, int calls, DType dtype);

  /// How many calls the runs of the next sample have: pairs of either kind come in random order, as
  /// often as each other until one of them has enough.
  int next(SecretStream& secret, double wall_seconds);
  /// Of that sample.
  void add(const PairedTimes& times) { (alone_now_ ? *alone_ : several_).add(times); }
  bool done(double wall_seconds) const;

  int count() const { return several_.count() + (alone_ ? alone_->count() : 0); }
  /// Whether at one call the speedup is lower, beyond what the samples leave open.
  bool lower_alone() const;
  /// The samples of the speedup that counts. Need at least one pair of each kind.
  const Sampling& counted() const { return lower_alone() ? *alone_ : several_; }
  const Sampling& several() const { return several_; }

 private:
  int calls_;
  Sampling several_;
  std::optional<Sampling> alone_;  ///< of one call
  bool alone_now_ = false;         ///< the kind of the next sample
  bool half_way_ = false;          ///< a pair of the other kind follows
};

}  // namespace kbench::trial
