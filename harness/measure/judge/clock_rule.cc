#include "harness/measure/judge/clock_rule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kbench/score.h"
#include "libkbench/base/text.h"

namespace kbench::judge {
namespace {

/// Nanoseconds plus a share of what is claimed.
struct Room {
  double ns, share;
  double of(double claimed) const { return ns + share * claimed; }
};

// A software device's threads share the processors with everything else: wide room there.
// Two clocks (the device's, the host's) may differ in rate.
constexpr Room kRate{20e3, 0.005}, kSoftwareRate{1e6, 0.05};
// One hand-over that took unusually long: an interrupt, another process, a clock that wakes up.
constexpr Room kHandOver{50e6, 0.5}, kSoftwareHandOver{2e9, 4};
// Differences of the median hand-over of two runners over a dozen samples.
constexpr Room kExcess{150e3, 0.05}, kSoftwareExcess{20e6, 0.5};
// What a lane of its own may take to hand over beyond the baseline's: measured are 0.3 to 0.4 ms.
constexpr double kMostLane = 1e6;
// Flushing takes both the same time; what is left over would be the run's.
constexpr Room kFlush{10e3, 0.1}, kSoftwareFlush{50e6, 4};

template <class Value>
double median_of(const std::vector<BracketedRun>& runs, Value value) {
  std::vector<double> values;
  for (const BracketedRun& run : runs) values.push_back(value(run));
  return median(std::move(values));
}

std::string microseconds(double ns) { return digits_text(ns * 1e-3, 3) + " us"; }

}  // namespace

bool ClockRule::contradicts(const BracketedRun& run) const {
  const double claimed = run.claimed_ns();
  if (!(run.flush_ns >= 0) || !(run.run_ns >= 0) || !std::isfinite(claimed)) return true;
  const Room& rate = software_ ? kSoftwareRate : kRate;
  const Room& hand_over = software_ ? kSoftwareHandOver : kHandOver;
  return run.unexplained_ns() < -rate.of(claimed) || run.unexplained_ns() > hand_over.of(claimed);
}

void ClockRule::add(const BracketedRun& baseline, const BracketedRun& candidate) {
  baseline_.push_back(baseline);
  candidate_.push_back(candidate);
}

std::string ClockRule::contradiction() const {
  if (candidate_.empty()) return "";
  const auto unexplained = [](const BracketedRun& run) { return run.unexplained_ns(); };
  const auto flush = [](const BracketedRun& run) { return run.flush_ns; };
  const auto claimed = [](const BracketedRun& run) { return run.run_ns; };
  double usual = median_of(baseline_, unexplained);
  if (!lane_.empty()) {
    usual = std::clamp(median_of(lane_, unexplained), usual, usual + kMostLane);
  }
  const double excess = median_of(candidate_, unexplained) - usual;
  const Room& room = software_ ? kSoftwareExcess : kExcess;
  if (excess > room.of(median_of(candidate_, claimed))) {
    return "its device times leave " + microseconds(excess) +
           " of a run unexplained that the judge's clock saw pass";
  }
  const double ours = median_of(baseline_, flush), theirs = median_of(candidate_, flush);
  const Room& more = software_ ? kSoftwareFlush : kFlush;
  if (std::abs(theirs - ours) > more.of(ours)) {
    return "making its caches cold took " + microseconds(theirs) + " where it takes " +
           microseconds(ours);
  }
  return "";
}

}  // namespace kbench::judge
