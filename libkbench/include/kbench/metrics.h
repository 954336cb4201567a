// What the answers of language models say about them: pass@k and its kin with their intervals, the
// funnel, cost, several models as a swarm. Definitions and where peers differ: docs/metrics.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kbench/attempt.h"
#include "kbench/result.h"
#include "kbench/task.h"
#include "kbench/verdict.h"

namespace kbench {

// --- estimators of one task ----------------------------------------------------------------------

/// Samples of a model on a task: `n` were finished, `c` of these are good, and of `lost` others
/// that were asked for nothing is known.
struct Draws {
  int n = 0;
  int c = 0;
  int lost = 0;
};

/// A share, or where samples are lost what it lies between: all of them bad .. all of them good.
struct Share {
  double low = 0;
  double high = 0;
  bool exact() const { return low == high; }
};

/// The probability that one of k samples, drawn without replacement, is good: 1 - C(n-c,k)/C(n,k)
/// (Chen et al. 2021; unbiased). Unset where fewer than k samples were asked for; never clamped.
std::optional<Share> pass_at_k(const Draws& draws, int k);
/// That all k are good: C(c,k)/C(n,k). pass^k (Yao et al., "tau-bench", 2024).
std::optional<Share> pass_hat_k(const Draws& draws, int k);
/// How probable it is that of k values drawn without replacement from n, which are in order, the
/// i-th (from 1) is the last: C(i-1,k-1)/C(n,k). Throws kInvalidArgument unless 1 <= k <= n.
std::vector<double> weights_of_last(int n, int k);
/// The expected best of k values drawn without replacement, which the caller has put in the order
/// in which one is preferred to those before it; the last of k is taken. Unset where there are
/// fewer than k.
std::optional<double> expected_best(std::span<const double> worst_to_best, int k);

// --- intervals -----------------------------------------------------------------------------------

/// Wilson's 95% interval of a share (Wilson 1927). Throws kInvalidArgument unless 0 <= c <= n, n >
/// 0.
Interval wilson(int c, int n);
/// McNemar's exact test: the two-sided probability, were both equally good, of a split of the tasks
/// that only one of two solved at least as uneven as this one. 1 where there are none.
double mcnemar_exact(int only_first, int only_second);

/// Bootstrap over tasks (Efron 1979): the same resamples for every number, so that differences of
/// two are paired. Tasks are drawn within their stratum (level), since levels differ in difficulty
/// and their sizes are not by chance. The draws are Philox's, equal on every machine.
class Bootstrap {
 public:
  static constexpr int kResamples = 10000;
  /// The stratum of each task. Throws kInvalidArgument when there are none.
  explicit Bootstrap(std::span<const int> strata, int resamples = kResamples, uint64_t seed = 1);

  /// 2.5th percentile of the mean, the mean itself, 97.5th; one value per task.
  Interval mean(std::span<const double> values) const;
  /// The same of sum / sum; resamples with a denominator of 0 are left out.
  Interval ratio(std::span<const double> numerators, std::span<const double> denominators) const;

  size_t tasks() const { return tasks_; }

 private:
  template <class Statistic>
  Interval spread(double point, Statistic statistic) const;

  size_t tasks_ = 0;
  std::vector<uint32_t> picks_;  ///< tasks_ a resample
};

// --- a model over tasks --------------------------------------------------------------------------

/// Which tasks, samples and attempts are counted.
struct MetricScope {
  std::vector<TaskId> tasks;  ///< asked for; those without an answer count
  /// Samples asked for of each task. 0: as many as a task has, and where it has none as many as the
  /// model's most sampled one.
  int samples = 0;
  int attempts = 0;          ///< of each chain the first so many; 0: all
  bool strict = false;       ///< a candidate that was found by overlooking something is none
  bool own_kernels = false;  ///< a candidate with built-in operators is none
  bool general = false;      ///< one that is wrong at sizes drawn in secret is none
};

/// What makes an attempt good: correct and more than p times as fast as the baseline; at p = 0
/// correctness alone counts.
struct Criterion {
  double p = 0;
  bool at_low = false;  ///< the lower bound of the speedup's interval is what must exceed p
};

/// A sample is a chain, good once an attempt is correct; one that is not good and has an unfinished
/// attempt is lost. One entry a task of the scope.
std::vector<Draws> draws(const AttemptSet& set, uint32_t model, const MetricScope& scope);

/// A mean over tasks.
struct Score {
  std::optional<Share> value;  ///< unset where it is undefined for a task
  Interval interval = {};      ///< 95% over tasks; from the low values' to the high values'
  int undefined = 0;           ///< tasks of which fewer than k samples were asked for
};
/// Of a value a task; unset is undefined.
Score mean_share(std::span<const std::optional<Share>> shares, const Bootstrap& bootstrap);
Score mean_pass_at_k(std::span<const Draws> draws, int k, const Bootstrap& bootstrap);
Score mean_pass_hat_k(std::span<const Draws> draws, int k, const Bootstrap& bootstrap);

// --- the best of several -------------------------------------------------------------------------
// The fastest of many noisy measurements is fastest by its luck too (the winner's curse): as it was
// measured it is too good, and its own interval lies too high. So who is chosen follows from the
// first measurement, and what it is worth from another one (Confirmations), which luck had no part
// in. One that was not measured again counts by its lower bound, at a level that allows for how
// many it was chosen among.

/// The low end of a 95% interval, at a level at which of the fastest of `among` independent
/// measurements it is as rarely too high (2.5%) as that of a single one (Sidak 1967, the interval
/// being normal in logarithms). `measured.low` for 1.
double low_of_fastest(const Interval& measured, int among);

/// A chain's fastest correct attempt.
struct RankedSample {
  int sample = 0, attempt = 0;
  uint64_t candidate = 0;
  Interval speedup = {};              ///< by its first measurement
  std::optional<Interval> confirmed;  ///< measured once more; zeros: it did not pass again
  int measurements = 1;               ///< different ones of the chain, of which it is the fastest
  bool unfinished = false;            ///< the chain has an unfinished attempt
  /// What it is worth as the fastest of so many measurements. `point` is `low` where it was chosen
  /// and not confirmed: no more is known then.
  Interval worth(int among) const;
};

/// A model's samples on a task by the speedup measured first.
struct Ranking {
  std::vector<RankedSample> samples;  ///< those that are correct, the slowest first
  int asked = 0;                      ///< samples asked for
  int lost = 0;                       ///< not correct, and nothing or not all is known of them
  int measurements = 0;               ///< different ones of all samples
  /// Of how many measurements the best of k samples is the fastest, at most.
  int among(int k) const;
};
/// One entry a task of the scope.
std::vector<Ranking> rankings(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                              const Confirmations& confirmations = {});

/// fast_p@k: the probability that the fastest of k samples, drawn without replacement and chosen by
/// the first measurement, meets the criterion: by its point, as confirmed or else as measured; or
/// by its worth's lower bound. Lost samples are all bad .. all good. At p = 0 it is pass@k. Unset
/// where fewer than k samples were asked for.
std::optional<Share> fast_at_k(const Ranking& ranking, int k, const Criterion& criterion);

/// The best candidate found for a task, by the speedup that was measured first.
struct Winner : RankedSample {
  int among = 1;                              ///< measurements that it was chosen from
  bool solved() const { return sample > 0; }  ///< 0: the task is not solved
  Interval worth() const { return RankedSample::worth(among); }
  double value() const { return worth().point; }
  /// It counts by its lower bound only.
  bool unconfirmed() const { return solved() && !confirmed && among > 1; }
};
Winner winner_of(const Ranking& ranking);
/// One entry a task of the scope.
std::vector<Winner> winners(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                            const Confirmations& confirmations = {});

/// The expected worth of the fastest of k samples, chosen by the first measurement; a wrong sample
/// is worth 0. Intervals are 95% over tasks, and no narrower than the measurements' own.
struct BestOf {
  std::optional<Interval> arithmetic;  ///< Kevin's best@k (Baronio et al. 2025)
  /// Of max(speedup, 1): the gain where a candidate is used only if it is faster.
  std::optional<Interval> geometric;
  int undefined = 0;    ///< tasks of which fewer than k samples were asked for
  int unconfirmed = 0;  ///< tasks with a choice that was not confirmed
  bool lost = false;    ///< samples are lost, and count as wrong
  bool lower_bound() const { return lost || unconfirmed > 0; }
};
BestOf best_of(std::span<const Ranking> tasks, int k, const Bootstrap& bootstrap);

// --- attempt by attempt --------------------------------------------------------------------------

struct ByAttempt {
  int attempt = 1;
  int chains = 0;     ///< asked for
  int good = 0;       ///< by this attempt or an earlier one
  int newly = 0;      ///< at this one
  int open = 0;       ///< neither good nor lost before it
  int lost = 0;       ///< of which nothing more is known at this attempt
  Share share = {};   ///< good / chains
  Interval interval;  ///< of the share, over tasks
  double hazard() const { return open > 0 ? double(newly) / open : 0; }
};
/// Correct-by-attempt, or fast_p-by-attempt with best so far: an entry an attempt, up to the
/// scope's or the longest chain's. A chain that ends keeps its state.
std::vector<ByAttempt> by_attempt(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                                  const Bootstrap& bootstrap, const Criterion& criterion = {});

/// How far answers come, each stage out of the one before.
struct Funnel {
  int64_t answered = 0;    ///< and finished
  int64_t candidates = 0;  ///< a candidate was found: format rate
  int64_t resolved = 0;    ///< it fits the task's interface
  int64_t compiled = 0;    ///< for this device
  int64_t ran = 0;         ///< to the end
  int64_t correct = 0;
  int64_t faster = 0;                       ///< with speedup.low > 1
  int64_t unfinished = 0;                   ///< not among the answered
  int64_t lenient = 0;                      ///< candidates found by overlooking something
  int64_t with_builtins = 0;                ///< correct ones with built-in operators
  int64_t tried_at_sizes = 0, general = 0;  ///< correct ones: tried at sizes drawn, right at all
  int64_t distinct = 0;  ///< different candidates, task by task; in the sum over attempts only
  std::map<Outcome, int64_t> outcomes;
  std::map<Verdict, int64_t> verdicts;
};
/// An entry an attempt; the first is the sum over all.
std::vector<Funnel> funnel(const AttemptSet& set, uint32_t model, const MetricScope& scope);

// --- cost ----------------------------------------------------------------------------------------

/// A sum over attempts, of which those that are unknown are not zero: then it is a lower bound.
struct Amount {
  double sum = 0;
  int64_t known = 0, unknown = 0;
  bool lower_bound() const { return unknown > 0; }
  /// Unset where nothing is known, or there is nothing to divide by.
  std::optional<double> per(double count) const;
};
/// Of attempts that were answered; failed requests only where their usage is known.
struct Spending {
  int64_t attempts = 0;
  Amount input, cached, output, reasoning;  ///< tokens
  Amount cost;                              ///< in the currency of the prices given
  double seconds = 0;                       ///< waiting for answers, summed
  int solved = 0;                           ///< tasks
  int faster = 0;  ///< tasks whose winner is worth more than 1 at the low end
};
Spending spending(const AttemptSet& set, uint32_t model, const MetricScope& scope,
                  const Confirmations& confirmations = {});

// --- several models ------------------------------------------------------------------------------

/// Two models on the same tasks.
struct PairedComparison {
  uint32_t first = 0, second = 0;
  std::optional<Interval> difference;  ///< of pass@k, first - second; paired bootstrap
  int both = 0, only_first = 0, only_second = 0, neither = 0;  ///< tasks solved by any sample
  int unknown = 0;                                             ///< tasks lost for one of the two
  double p = 1;                                                ///< McNemar's, of these
};
PairedComparison compare_models(const AttemptSet& set, uint32_t first, uint32_t second,
                                const MetricScope& scope, int k, const Bootstrap& bootstrap);

/// A budget and what it is expected to solve.
struct SwarmPoint {
  int samples = 0;  ///< of each model
  double calls = 0;
  std::optional<double> tokens;  ///< unset where usage is unknown
  std::optional<Share> solved;   ///< share of the tasks
};
struct Swarm {
  std::vector<uint32_t> models;
  int solved = 0;  ///< tasks that any model solves
  int faster = 0;  ///< tasks whose winner is worth more than 1 at the low end
  /// A member's part.
  struct Member {
    int won = 0;          ///< tasks whose best candidate is this model's
    int lost_solved = 0;  ///< tasks that no other model solves
    int lost_faster = 0;
    std::vector<SwarmPoint> alone;  ///< k = 1, 2, ... samples of this model
  };
  std::vector<Member> members;                  ///< one a model
  std::vector<std::optional<uint32_t>> winner;  ///< one a task of the scope
  /// 1, 2, ... samples of each model: 1 - prod over models of C(n-c,k)/C(n,k). To be set against a
  /// member alone at equal calls, or at equal tokens.
  std::vector<SwarmPoint> together;
};
Swarm swarm(const AttemptSet& set, std::span<const uint32_t> models, const MetricScope& scope,
            const Confirmations& confirmations = {});

}  // namespace kbench
