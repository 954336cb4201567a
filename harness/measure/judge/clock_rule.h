// Whether a runner's device times can be believed, and whether a candidate took less time than its
// device needs for what no kernel can leave undone. Pure: no device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kbench/baseline.h"
#include "kbench/tensor.h"
#include "libkbench/core/graph_facts.h"

namespace kbench::judge {

/// What a runner says of one run, and the judge's own clock from its request to the answer; ns.
struct BracketedRun {
  double flush_ns = 0, run_ns = 0, bracket_ns = 0;
  double other_ns = 0;  ///< runner::Ran::other_ns
  int calls = 1;        ///< that run_ns is the time of
  double net_ns = 0;    ///< the run less all of a hand-over, below 0 by chance
  double claimed_ns() const { return flush_ns + run_ns + other_ns; }
  double call_ns() const { return run_ns / calls; }
  /// Hand-over both ways, submission, waking up: what the device's timestamps do not cover.
  double unexplained_ns() const { return bracket_ns - claimed_ns(); }
};

/// So many samples are taken where times are suspicious after fewer.
inline constexpr int kSamplesToExplain = 32;

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
  /// Over all samples: how the candidate's times seem to contradict the judge's clock, as one line;
  /// empty when they do not. By the median of what is left unexplained on each side: to move it a
  /// runner has to forge half of its times. Hand-overs vary by some tenths of a millisecond, so
  /// that medians of few samples may differ by chance.
  std::string suspicion() const;
  /// The same where chance is ruled out: in one of 100,000 honest trials at most, by Fisher's exact
  /// test. Eight samples are too few for it.
  std::string contradiction() const;

 private:
  double usual_unexplained_ns() const;
  double room_ns() const;
  bool beyond_chance() const;
  std::string time_suspicion() const;
  std::string flush_contradiction() const;

  bool software_;
  std::vector<BracketedRun> baseline_, candidate_, lane_;
};

/// The least time for that work, by rates that no kernel reaches: bytes a quarter faster than the
/// device's copy, beyond those that `cached_bytes` may hold; operations at 16 times the rate of
/// float32 multiply-adds, 32 times in halves, as matrix units may have.
struct SpeedLimit {
  double memory_ms = 0, compute_ms = 0;
  double least_ms() const;
};
SpeedLimit speed_limit(const LeastWork& work, const Roofline& roofline, DType dtype,
                       uint64_t cached_bytes);

/// Says why a candidate whose time is at most `ms` is impossibly fast; nothing where it is not.
std::optional<std::string> too_fast(double ms, const LeastWork& work, const SpeedLimit& limit);

}  // namespace kbench::judge
