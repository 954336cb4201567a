#include "harness/measure/trial/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kbench/score.h"

namespace kbench::trial {
namespace {

constexpr double kGpuSeconds = 2;
constexpr double kSoftwareSeconds = 0.25;
/// Wall time is limited separately, as drawing, filling and checking cost more than the timed runs.
constexpr double kWallPerBudget = 1.5;
/// Pairs before a narrow interval may end the sampling. The interval of eight values is their range
/// and misses the median once in 128 times; that of six misses it once in 32.
constexpr size_t kPairsToStop = 8;
/// A number of samples at which the range of their single ratios may end the sampling. The
/// `left_out` smallest and largest ratios are dropped, then the range is widened on both sides by
/// `wider` times itself. Half of the samples run the candidate second, so the range covers what
/// that costs.
struct Look {
  int samples;
  size_t left_out;
  double wider;
};
/// One trial may look at all of them: together they miss the median at most once in 29 trials.
constexpr Look kLooks[] = {
    // Each range misses the median in at most 1 of 128 trials if values are rarer the further they
    // lie from it (docs/measurement.md has the proof).
    {4, 0, 1.52},
    {6, 0, 0.32},
    // The ranges miss the median in 1 of 128, 157 and 239 trials for any distribution. The last two
    // are for trials in which other work on the device lengthened a run or two.
    {8, 0, 0},
    {12, 1, 0},
    {16, 2, 0},
};

/// The first of the looks is at so many samples.
constexpr int kFirstLook = kLooks[0].samples;
/// So many are taken at least, where the plan says nothing else, before the budget may end the
/// sampling, and before a narrow interval may end that of a module or against a recorded time.
constexpr int kUsualSamples = 8;

/// Samples of runs of one call: six pairs are the fewest that have an interval.
constexpr size_t kFewestAlone = 12, kMostAlone = 32;

/// A candidate below this speedup is slow; its interval need only lie within this share of it.
constexpr double kSlow = 0.5, kSlowPrecision = 0.1;

/// The last look at so many samples or fewer; null before the first.
const Look* last_look(int samples) {
  const Look* last = nullptr;
  for (const Look& each : kLooks) {
    if (each.samples <= samples) last = &each;
  }
  return last;
}

/// The median of the values, with the interval by which the last look knows it.
Interval look_at(std::vector<double> values) {
  const Look* look = last_look(static_cast<int>(values.size()));
  if (look == nullptr) return {0, median(values), std::numeric_limits<double>::infinity()};
  std::ranges::sort(values);
  const double least = values[look->left_out], most = values[values.size() - 1 - look->left_out];
  const double wider = look->wider * (most - least);
  return {std::max(least - wider, 0.0), median(values), most + wider};
}

/// Whether both ends of the interval lie within this share of its point.
bool within(const Interval& interval, double share) {
  return interval.low >= interval.point * (1 - share) &&
         interval.high <= interval.point * (1 + share);
}

}  // namespace

SamplingPlan resolve_plan(SamplingPlan plan, bool software) {
  if (plan.max_seconds <= 0) plan.max_seconds = software ? kSoftwareSeconds : kGpuSeconds;
  const auto pairs = [](int samples) { return (samples + 1) / 2 * 2; };
  plan.min_samples = pairs(std::max(plan.min_samples, 0));
  plan.max_samples = std::max(pairs(plan.max_samples), fewest_samples(plan));
  return plan;
}

int fewest_samples(const SamplingPlan& plan) {
  return plan.min_samples > 0 ? plan.min_samples : kFirstLook;
}

void Sampling::add(const PairedTimes& times) {
  // At least one nanosecond, for clocks that tick too slowly: no division by zero.
  const double baseline = std::max(times.baseline_ns, 1.0);
  const double candidate = std::max(times.candidate_ns, 1.0);
  if (count() % 2 != 0) {
    ratios_.push_back(std::sqrt(baseline / candidate * baseline_ns_.back() / candidate_ns_.back()));
  }
  singles_.push_back(baseline / candidate);
  baseline_ns_.push_back(baseline);
  candidate_ns_.push_back(candidate);
  spent_seconds_ += times.spent_ns * 1e-9;
}

bool Sampling::done(double wall_seconds) const {
  if (count() % 2 != 0 || count() < fewest_samples(plan_)) return false;
  if (count() >= plan_.max_samples) return true;
  if (ratios_.size() >= kPairsToStop || looks_now()) {
    const bool early = calls_ == 0 && !recorded_ns_;
    const double enough = calls_ > 0 ? std::max(plan_.precision, unknown_share()) : plan_.precision;
    if (is_slow()) return true;
    if ((early || count() >= kUsualSamples) && within(sampled(), enough)) return true;
  }
  if (plan_.min_samples <= 0 && count() < kUsualSamples) return false;
  return spent_seconds_ >= plan_.max_seconds || wall_seconds >= kWallPerBudget * plan_.max_seconds;
}

bool Sampling::is_slow() const {
  const Interval interval = speedup();
  const auto contains = [&](double p) { return interval.low <= p && p <= interval.high; };
  return interval.high < kSlow && within(interval, kSlowPrecision) &&
         std::ranges::none_of(plan_.thresholds, contains);
}

bool Sampling::looks_now() const {
  const Look* look = last_look(count());
  return look != nullptr && look->samples == count();
}

double placement_share(double run_ns, DType dtype) {
  constexpr double kShare = 0.002, kShareOfHalves = 0.01, kNanoseconds = 200;
  return (is_half(dtype) ? kShareOfHalves : kShare) + kNanoseconds / std::max(run_ns, kNanoseconds);
}

double process_share(double call_ns, int calls) {
  constexpr double kShare = 0.01, kNanoseconds = 60e3;
  return kShare + kNanoseconds / std::max(call_ns * calls, kNanoseconds);
}

/// What more samples do not tell better: by how much processes differ.
double Sampling::unknown_share() const {
  const double ns = median(candidate_ns_);
  return calls_ > 0 ? process_share(ns, calls_) : placement_share(ns, dtype_);
}

Interval Sampling::speedup() const {
  const Interval sampled = this->sampled();
  const double share = unknown_share();
  return {sampled.low / (1 + share), sampled.point, sampled.high * (1 + share)};
}

Interval Sampling::sampled() const {
  if (!recorded_ns_) {
    const Interval of_pairs = median_interval(ratios_);
    if (of_pairs.low > 0 && !looks_now()) return of_pairs;
    const Interval range = look_at(singles_);
    const bool holds_it = range.low <= of_pairs.point && of_pairs.point <= range.high;
    const bool narrower = !(range.high - range.low >= of_pairs.high - of_pairs.low);
    return holds_it && narrower ? Interval{range.low, of_pairs.point, range.high} : of_pairs;
  }
  const Interval ns = median_interval(candidate_ns_);
  // An unbounded interval stays unbounded: from zero to infinity.
  return {*recorded_ns_ / ns.high, *recorded_ns_ / ns.point, *recorded_ns_ / ns.low};
}
double Sampling::candidate_ms() const { return median(candidate_ns_) * 1e-6; }
double Sampling::candidate_ms_at_most() const {
  // Below six samples only the look has an end.
  return std::min(median_interval(candidate_ns_).high, look_at(candidate_ns_).high) * 1e-6;
}
double Sampling::baseline_ms() const { return recorded_ns_.value_or(median(baseline_ns_)) * 1e-6; }

double lone_call_room(double call_ns, bool twin) {
  return twin ? 0.01 * call_ns + 30e3 : 0.03 * call_ns + 300e3;
}

CallSampling::CallSampling(const SamplingPlan& plan, std::optional<double> recorded_ns, int calls,
                           DType dtype, bool twin)
    : calls_(calls), twin_(twin), several_(plan, recorded_ns, calls, dtype) {}

int CallSampling::next(SecretStream& secret) {
  if (calls_ <= 1) return calls_;
  if (several_.count() % 2 == 0 && alone_.size() % 2 == 0) {
    const bool enough = several_.done(wall_of_several_);
    if (enough != enough_alone()) {
      alone_now_ = enough;
    } else {
      alone_now_ = half_way_ ? !alone_now_ : (secret.next() & 1) != 0;
      half_way_ = !half_way_;
    }
  }
  return alone_now_ ? 1 : calls_;
}

void CallSampling::add(const PairedTimes& times, double wall_seconds) {
  const double spent = wall_seconds - wall_;
  wall_ = wall_seconds;
  if (alone_now_) {
    alone_.push_back(times);
  } else {
    several_.add(times);
    wall_of_several_ += spent;
  }
}

bool CallSampling::done() const {
  return several_.done(wall_of_several_) && (calls_ <= 1 || enough_alone());
}

/// Where even the upper end of its interval, less what a call by itself can be off, is no longer
/// than a call in runs of several, more samples decide nothing.
bool CallSampling::enough_alone() const {
  if (alone_.size() < kFewestAlone || alone_.size() % 2 != 0 || several_.count() < 2) return false;
  const double most = alone_ns().high;
  const bool as_short = most - room(most) <= 1e6 * several_.candidate_ms();
  return alone_.size() >= kMostAlone || as_short || lower_alone();
}

/// One for each pair, whose samples have opposite orders.
std::vector<double> CallSampling::alone_pairs_ns() const {
  const double opponents = twin_ ? 1e6 * several_.baseline_ms() : 0;
  const auto call = [&](const PairedTimes& times) {
    return times.candidate_ns - (twin_ ? times.baseline_ns - opponents : 0);
  };
  std::vector<double> calls;
  for (size_t i = 0; i + 1 < alone_.size(); i += 2) {
    calls.push_back(std::max((call(alone_[i]) + call(alone_[i + 1])) / 2, 1.0));
  }
  return calls;
}

Interval CallSampling::alone_ns() const {
  return alone_.size() < 2 ? Interval{0, 0, std::numeric_limits<double>::infinity()}
                           : median_interval(alone_pairs_ns());
}

/// It does where even a low estimate of its time is too long. With six to fifteen pairs that is the
/// shortest of their times, less the difference of the longest and the shortest: six pairs put it
/// above the true median in one trial of 2,048, more pairs in fewer (docs/measurement.md has the
/// proof). With sixteen pairs it is the second shortest time, which is above the median in one
/// trial of 3,855, however the times are distributed.
bool CallSampling::lower_alone() const {
  if (alone_.size() < kFewestAlone || several_.count() < 2) return false;
  std::vector<double> pairs = alone_pairs_ns();
  std::ranges::sort(pairs);
  const double least = alone_.size() >= kMostAlone ? pairs[1] : 2 * pairs.front() - pairs.back();
  return least - room(least) > 1e6 * several_.candidate_ms();
}

Interval CallSampling::speedup() const {
  if (!lower_alone()) return several_.speedup();
  const Interval call = alone_ns();
  const double opponents = 1e6 * several_.baseline_ms();
  return {opponents / (call.high + room(call.high)), opponents / call.point,
          opponents / (call.low - room(call.low))};
}

double CallSampling::candidate_ms() const {
  return lower_alone() ? 1e-6 * alone_ns().point : several_.candidate_ms();
}

double CallSampling::candidate_ms_at_most() const {
  return lower_alone() ? 1e-6 * alone_ns().high : several_.candidate_ms_at_most();
}

}  // namespace kbench::trial
