// When a measurement has enough samples, and what they say. Pure: no device.
#pragma once

#include <optional>
#include <vector>

#include "kbench/evaluate.h"
#include "kbench/result.h"

namespace kbench::trial {

/// What two processes that run one kernel on one device differ by, as a share of a run of so many
/// nanoseconds: 0.2% and 0.2 microseconds. Where their memory lies and how it is mapped stays for a
/// whole trial, so that no number of samples averages it out. Measured as A against A on an H200
/// (docs/measurement.md).
double placement_share(double run_ns);

/// Device times of one paired sample.
struct PairedTimes {
  double baseline_ns = 0;
  double candidate_ns = 0;
  double spent_ns = 0;  ///< both runs and the cache flushes before them: what the budget pays for
};

/// The plan with its defaults worked out for a device; numbers of samples are rounded up to pairs.
SamplingPlan resolve_plan(SamplingPlan plan, bool software);

/// Collects samples and says when to stop. Samples are taken in pairs with opposite roles (see
/// RoleSchedule): if going second costs a factor, one ratio of the pair is too large by it and the
/// other too small, and their geometric mean is free of it. The speedup is the median of these.
/// Against a recorded time it is that over the median of the candidate's own times.
class Sampling {
 public:
  explicit Sampling(const SamplingPlan& plan, std::optional<double> recorded_ns = std::nullopt)
      : plan_(plan), recorded_ns_(recorded_ns) {}

  void add(const PairedTimes& times);
  /// True when the interval of the speedup is narrow enough (at eight, twelve or sixteen samples,
  /// or after eight pairs), the budget of device time is spent, or the loop has taken one and a
  /// half times the budget in wall time; never before min_samples, always at max_samples.
  bool done(double wall_seconds) const;

  int count() const { return static_cast<int>(candidate_ns_.size()); }
  /// Of whole pairs; there must be one. The interval is that of the samples, and wider by what
  /// differs between two processes and no sampling can see.
  Interval speedup() const;
  double candidate_ms() const;
  double baseline_ms() const;  ///< the recorded time where there is one

 private:
  bool looks_now() const;
  Interval sampled() const;

  SamplingPlan plan_;
  std::optional<double> recorded_ns_;
  std::vector<double> ratios_;   ///< one a pair
  std::vector<double> singles_;  ///< one a sample
  std::vector<double> candidate_ns_, baseline_ns_;
  double spent_seconds_ = 0;
};

}  // namespace kbench::trial
