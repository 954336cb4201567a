// The numbers of a report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/report/study.h"
#include "kbench/metrics.h"

namespace kbench::report {

struct AnalysisOptions {
  std::vector<int> ks;  ///< empty: 1, 5 and 10, up to the number of samples, and all samples
  std::vector<double> thresholds;  ///< values of p for fast_p
};

/// For one p: fast_p@k (kbench/metrics.h).
struct FastScore {
  double p = 1;
  std::vector<Score> at_point, at_low;  ///< by k
};

struct LevelReport {
  int tasks = 0;
  int solved = 0;
  Score pass;  ///< at the smallest k
  Score fast;  ///< fast_1 at the smallest k
};

struct ModelReport {
  uint32_t model = 0;
  std::string name;
  int64_t samples = 0, lost = 0;    ///< samples asked for; those without a result
  int solved = 0;                   ///< tasks solved by at least one sample
  Interval solved_share;            ///< Wilson
  int confirmed = 0;                ///< winners that were measured again ...
  int withdrawn = 0;                ///< ... and of these, those that failed
  int unconfirmed = 0;              ///< winners with a choice that count by their lower bound
  double median_speedup = 0;        ///< of what winners are worth; 0: none
  std::vector<Score> pass, all_of;  ///< pass@k, pass^k, by k
  std::vector<BestOf> best;         ///< by k
  std::vector<FastScore> fast;      ///< by threshold
  Score first_answer;               ///< pass@1 of first attempts
  Score strict;                     ///< pass@1 without leniencies
  Score own_kernels;                ///< pass@1 without built-in operators
  Score general;                    ///< pass@1 of what is right at sizes drawn in secret, too
  /// Over the tasks that do not collapse (kbench/certificate.h), and those that do; unset where
  /// none of the tasks does.
  std::optional<LevelReport> not_collapsing, collapsing;
  std::map<int, LevelReport> levels;
  std::vector<ByAttempt> correct_by, fast_by;  ///< fast_1
  std::vector<Funnel> funnel;
  Spending spending;
  std::vector<Winner> winners;    ///< by task
  std::vector<Draws> samples_of;  ///< by task; good: correct

  // Curves.
  std::vector<int> curve_ks;
  std::vector<Score> pass_curve;             ///< by curve_ks
  std::vector<Score> fast_curve, low_curve;  ///< by Analysis::curve_ps, at the smallest k
};

struct Analysis {
  std::vector<int> ks;
  std::vector<double> thresholds;
  std::vector<double> curve_ps;
  std::vector<ModelReport> models;  ///< the best first: by fast_1, then pass, at the smallest k
  std::optional<Swarm> swarm;       ///< with two models or more
  std::vector<PairedComparison> comparisons;  ///< each pair of models, on pass at the smallest k
  int attempts = 1;                           ///< in the longest chain
};

Analysis analyse(const Study& study, const AnalysisOptions& options);

}  // namespace kbench::report
