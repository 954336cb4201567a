#include "harness/measure/judge/clock_rule.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kbench/error.h"
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

double unexplained(const BracketedRun& run) { return run.unexplained_ns(); }
double run_of(const BracketedRun& run) { return run.run_ns; }
double flush_of(const BracketedRun& run) { return run.flush_ns; }

double log_choose(size_t n, size_t k) {
  const auto log_factorial = [](size_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/// Fisher's exact test, one-sided: how often chance alone puts at least `theirs` of the `ours` +
/// `theirs` marked values among the candidate's, where each side has `n` values.
double chance_of(size_t theirs, size_t ours, size_t n) {
  const size_t marked = theirs + ours;
  double sum = 0;
  for (size_t k = theirs; k <= std::min(marked, n); ++k) {
    sum += std::exp(log_choose(n, k) + log_choose(n, marked - k) - log_choose(2 * n, marked));
  }
  return sum;
}

std::string microseconds(double ns) { return digits_text(ns * 1e-3, 3) + " us"; }

/// Reading alone is faster than a copy by a tenth; the peak of a memory's interface is above the
/// copy by less than this.
constexpr double kOfCopy = 1.25;
/// Matrix units do 2.5 (float32 from three products of TF32, H200) to 28 times (B200, bfloat16) as
/// many operations as float32 units.
constexpr double kOfFma = 16, kOfFmaInHalves = 32;

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

/// What a hand-over to the candidate takes if its times are true.
double ClockRule::usual_unexplained_ns() const {
  const double usual = median_of(baseline_, unexplained);
  if (lane_.empty()) return usual;
  return std::clamp(median_of(lane_, unexplained), usual, usual + kMostLane);
}

/// How much longer the candidate's brackets may be.
double ClockRule::room_ns() const {
  const Room& room = software_ ? kSoftwareExcess : kExcess;
  return room.of(median_of(candidate_, run_of));
}

/// Whether more of the candidate's brackets than chance explains are longer, by more than the room,
/// than the r-th longest of the baseline's, for some r up to half of them.
bool ClockRule::beyond_chance() const {
  constexpr double kMostChance = 1e-5;
  std::vector<double> ours;
  for (const BracketedRun& run : baseline_) ours.push_back(run.unexplained_ns());
  std::ranges::sort(ours, std::greater());
  const double shift = usual_unexplained_ns() - median_of(baseline_, unexplained) + room_ns();
  const size_t n = ours.size(), tests = (n + 1) / 2;
  for (size_t longer = 0; longer < tests; ++longer) {
    const auto theirs = std::ranges::count_if(candidate_, [&](const BracketedRun& run) {
      return run.unexplained_ns() > ours[longer] + shift;
    });
    const double chance = chance_of(static_cast<size_t>(theirs), longer, n);
    if (chance * static_cast<double>(tests) < kMostChance) return true;
  }
  return false;
}

/// Of what the brackets hold beyond the claimed times.
std::string ClockRule::time_suspicion() const {
  if (candidate_.empty()) return "";
  const double excess = median_of(candidate_, unexplained) - usual_unexplained_ns();
  if (excess <= room_ns()) return "";
  return "its device times leave " + microseconds(excess) +
         " of a run unexplained that the judge's clock saw pass";
}

std::string ClockRule::flush_contradiction() const {
  if (candidate_.empty()) return "";
  const double ours = median_of(baseline_, flush_of), theirs = median_of(candidate_, flush_of);
  const Room& more = software_ ? kSoftwareFlush : kFlush;
  if (std::abs(theirs - ours) <= more.of(ours)) return "";
  return "making its caches cold took " + microseconds(theirs) + " where it takes " +
         microseconds(ours);
}

std::string ClockRule::suspicion() const {
  const std::string said = time_suspicion();
  return said.empty() ? flush_contradiction() : said;
}

std::string ClockRule::contradiction() const {
  const std::string said = time_suspicion();
  return said.empty() || !beyond_chance() ? flush_contradiction() : said;
}

double SpeedLimit::least_ms() const { return std::max(memory_ms, compute_ms); }

SpeedLimit speed_limit(const LeastWork& work, const Roofline& roofline, DType dtype,
                       uint64_t cached_bytes) {
  SpeedLimit limit;
  if (roofline.copy_bytes_per_s > 0) {
    const double bytes = work.read_bytes + work.written_bytes - static_cast<double>(cached_bytes);
    limit.memory_ms = 1e3 * std::max(bytes, 0.0) / (kOfCopy * roofline.copy_bytes_per_s);
  }
  if (roofline.flops_per_s > 0) {
    const double rate = (is_half(dtype) ? kOfFmaInHalves : kOfFma) * roofline.flops_per_s;
    limit.compute_ms = 1e3 * work.flops / rate;
  }
  return limit;
}

std::optional<std::string> too_fast(double ms, const LeastWork& work, const SpeedLimit& limit) {
  if (!(ms < limit.least_ms())) return std::nullopt;
  const bool memory = limit.memory_ms >= limit.compute_ms;
  const std::string needs =
      memory ? digits_text(1e-9 * (work.read_bytes + work.written_bytes), 6) +
                   " GB that it has to read and write"
             : digits_text(1e-9 * work.flops, 6) + " GFLOP that it has to compute";
  return "took at most " + digits_text(ms, 4) + " ms; " + needs + " take this device " +
         digits_text(limit.least_ms(), 4) + " ms, at " +
         (memory ? digits_text(kOfCopy, 3) + " times the rate of its fastest copy"
                 : "the rate of matrix units");
}

}  // namespace kbench::judge
