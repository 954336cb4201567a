// All numbers of a report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/evaluate/report/study.h"
#include "kbench/metrics.h"

namespace kbench::report {

struct AnalysisOptions {
  std::vector<int> ks;             ///< empty: 1, 5, 10 as far as there are samples, and all
  std::vector<double> thresholds;  ///< of fast_p
};

/// Numbers of one p: the share of samples (k = 1) or best of k whose speedup exceeds it.
struct FastScore {
  double p = 1;
  std::vector<Score> at_point, at_low;  ///< one a k
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
  int64_t samples = 0, lost = 0;    ///< asked for; of which nothing is known
  int solved = 0;                   ///< tasks, by any sample
  Interval solved_share;            ///< Wilson
  int confirmed = 0;                ///< winners that were measured once more ...
  int withdrawn = 0;                ///< ... and of these failed
  double median_speedup = 0;        ///< of winners, confirmed where they are; 0: none
  std::vector<Score> pass, all_of;  ///< pass@k, pass^k; one a k
  std::vector<BestOf> best;         ///< one a k
  std::vector<FastScore> fast;      ///< one a threshold
  Score first_answer;               ///< pass@1 of the first attempt alone
  Score strict;                     ///< pass@1 without leniency
  Score own_kernels;                ///< pass@1 without built-in operators
  std::map<int, LevelReport> levels;
  std::vector<ByAttempt> correct_by, fast_by;  ///< fast_1
  std::vector<Funnel> funnel;
  Spending spending;
  std::vector<Winner> winners;    ///< one a task
  std::vector<Draws> samples_of;  ///< one a task; good: correct

  // Curves.
  std::vector<int> curve_ks;
  std::vector<Score> pass_curve;             ///< over curve_ks
  std::vector<Score> fast_curve, low_curve;  ///< over Analysis::curve_ps, at the smallest k
};

struct Analysis {
  std::vector<int> ks;
  std::vector<double> thresholds;
  std::vector<double> curve_ps;
  std::vector<ModelReport> models;  ///< the best first: by fast_1 at the smallest k, then pass
  std::optional<Swarm> swarm;       ///< of two models and more
  std::vector<PairedComparison> comparisons;  ///< of each two, on pass at the smallest k
  int attempts = 1;                           ///< of the longest chain
};

Analysis analyse(const Study& study, const AnalysisOptions& options);

}  // namespace kbench::report
