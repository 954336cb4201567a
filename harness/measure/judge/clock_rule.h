// Whether a runner's device times can be believed. Pure: no device.
#pragma once

#include <string>
#include <vector>

namespace kbench::judge {

/// What a runner says of one run, and the judge's own clock from its request to the answer; ns.
struct BracketedRun {
  double flush_ns = 0, run_ns = 0, bracket_ns = 0;
  double claimed_ns() const { return flush_ns + run_ns; }
  /// Hand-over both ways, submission, waking up: what the device's timestamps do not cover.
  double unexplained_ns() const { return bracket_ns - claimed_ns(); }
};

/// A candidate's timestamps lie in its own address space. The judge's clock around each run bounds
/// them: they cannot be longer than the bracket, and not shorter by more than a hand-over takes,
/// which the baseline, which is trusted and hands over in the same way, shows in the same samples.
class ClockRule {
 public:
  explicit ClockRule(bool software) : software_(software) {}

  /// Runs of the candidate's lane in which nothing of it ran, taken before any of its code had:
  /// where it hands over otherwise than the baseline does, the median is what that takes. Believed
  /// up to a millisecond beyond the baseline's.
  void set_lane(const std::vector<BracketedRun>& empty) { lane_ = empty; }

  /// The run is one that the bracket contradicts: the sample is to be taken again.
  bool contradicts(const BracketedRun& run) const;
  void add(const BracketedRun& baseline, const BracketedRun& candidate);
  /// Over all samples: how the candidate's times contradict the judge's clock, as one line; empty
  /// when they do not. By the median of what is left unexplained on each side: hand-overs vary by a
  /// tenth of a millisecond, and to move the median a runner has to forge half of its times.
  std::string contradiction() const;

 private:
  bool software_;
  std::vector<BracketedRun> baseline_, candidate_, lane_;
};

}  // namespace kbench::judge
