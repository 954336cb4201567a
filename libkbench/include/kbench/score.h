// From results to numbers: intervals of paired ratios, results of several files as one list,
// fast_p, leaderboards.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kbench/result.h"

namespace kbench {

/// The median and its distribution-free 95% confidence interval from order statistics (Conover,
/// "Practical Nonparametric Statistics", 3.2): the ranks that a binomial(n, 1/2) leaves 2.5%
/// outside on each side. Below six values the interval is [0, infinity). Throws kInvalidArgument
/// when empty.
Interval median_interval(std::vector<double> values);
/// exp of the mean logarithm; 0 when empty or when a value is not positive.
double geometric_mean(std::span<const double> values);
/// The same of independent estimates with intervals of one confidence: their distances to the
/// bounds are added as squares, in logarithms (as ratio_of() does).
Interval geometric_mean_interval(std::span<const Interval> values);
double median(std::vector<double> values);  ///< 0 when empty

/// Which of a result's speedups counts.
enum class SpeedupOf {
  own,      ///< at the sizes that it was judged at
  geomean,  ///< over its workloads
  least,    ///< of its workloads
};
std::string_view name_of(SpeedupOf which);              ///< "own", "geomean", "least"
SpeedupOf speedup_of_from_name(std::string_view name);  ///< throws kInvalidArgument
/// The results with that speedup in place of their own, for the functions below; of a task whose
/// sizes cannot be moved its own. Throws kInvalidArgument, naming it, where one that passed was not
/// asked for further sizes (Rule::workloads).
std::vector<Result> with_speedup_of(SpeedupOf which, std::vector<Result> results);

/// The kinds of device that judged these results, and how many each. A kind is a device's name: two
/// cards of one model are one kind. A `missing` candidate was judged by none.
std::map<std::string, int> device_kinds(std::span<const Result> results);
/// Throws kInvalidArgument with the kinds and their counts where there are several: a speedup on
/// one says nothing beside a speedup on another.
void require_one_device_kind(std::span<const Result> results);
/// Throws kInvalidArgument with the presets or dtypes and their counts where there are several: a
/// task at another preset or in another dtype is another task. fast_p() and leaderboard() call it.
void require_one_size(std::span<const Result> results);
/// The same where the results do not answer one question: tolerance rules, or what speedups are
/// against, differ, too. The message has the values and their
/// counts. `missing` candidates count for nothing here either.
void require_one_question(std::span<const Result> results);
/// The baseline without a recorded time's number, which every task has another of.
std::string baseline_kind(const Result& result);

/// Throws kParse with file, line and task where a result is of a task that the suite lacks. A task
/// of one's own need not be known here, and a candidate that could not be read may name none.
void require_known_tasks(std::span<const ResultLine> lines, std::span<const Task> suite = tasks());

/// Results of one file or several as one list with one result for each set and task, in the order
/// in which they come.
///   - Equal results of one experiment (Experiment::key) count once: those that did not pass where
///     their verdicts are the same, those that passed where their times are.
///   - A harness_error, which is worth a retry, gives way to any other result of its experiment;
///     `missing` gives way to any other of its set and task.
///   - Within one file a later line takes the place of an earlier one, as where a job goes on with
///     an edited candidate or measures again; but the verdict of one experiment does not change.
///   - All else is a contradiction: two outcomes of one experiment, or two experiments for one set
///     and task in different files, between which there is no order. Throws kInvalidArgument that
///     says which, in what they differ and where they stand.
std::vector<Result> merge_results(std::span<const ResultLine> lines);

/// fast_p (Ouyang et al., "KernelBench", 2025): correct and speedup > p, over `tasks`. A task
/// without a passing result counts as failed.
struct FastP {
  double p = 1;
  int tasks = 0;
  int at_point = 0;  ///< tasks with speedup.point > p
  int at_low = 0;    ///< tasks whose interval's lower bound is > p
  double point() const { return tasks ? double(at_point) / tasks : 0; }
  double low() const { return tasks ? double(at_low) / tasks : 0; }
};
/// Over the results of one set, the last of each task; p = 0 gives the share of correct tasks.
FastP fast_p(std::span<const Result> results, double p, int tasks);
/// The probability that at least one of k samples drawn without replacement from n is good when c
/// are (Chen et al., "Evaluating Large Language Models Trained on Code", 2021). pass@k.
double pass_at_k(int n, int c, int k);

/// One row of a leaderboard: a candidate set over the tasks asked for.
struct LeaderboardRow {
  std::string set;
  int tasks = 0;
  int correct = 0;
  /// Over correct tasks that do not collapse: a mean of both would say nothing of either.
  double median_speedup = 0, geomean_speedup = 0;
  std::vector<FastP> overall;                  ///< one a threshold
  std::map<int, std::vector<FastP>> by_level;  ///< level -> one a threshold
  int correct_in_level(int level) const;
  std::map<int, int> correct_by_level;
  std::map<int, int> tasks_by_level;
  int certified_tasks = 0;  ///< of those asked for: see leaderboard()
  int certified_correct = 0;
  std::vector<FastP> certified;  ///< over the certified tasks alone, one a threshold
  /// Tasks that collapse, alone: see leaderboard().
  int collapsing_tasks = 0, collapsing_correct = 0;
  std::vector<FastP> collapsing;
  double collapsing_median = 0, collapsing_geomean = 0;
  std::vector<FastP> not_collapsing;  ///< over all other tasks, one a threshold
  /// Of the correct results those that were tried at further sizes (Result::holds_at), and those
  /// that were right at each of them.
  int tried_at_sizes = 0, general = 0;
  /// By task; `missing` where there is no result.
  std::vector<std::pair<TaskId, Verdict>> not_passed;
  bool software_device = false;  ///< a result was timed on a CPU: speedups say nothing about a GPU
  /// Correct results at sizes without a certificate (kUntried), which count as not certified.
  int untried = 0;
  int busy = 0;  ///< correct results that were timed on a busy CPU (Result::busy)
};
/// Rows sorted by fast_p at the first threshold >= 1 (else the last), then geometric mean. Results
/// of tasks not asked for are left out; of two for the same set and task the last one counts. Infra
/// failures (does_not_fit, harness_error) count as not passed and are listed with their verdict.
/// `certified`: the tasks whose checks no known shortcut passes, `collapsing`: those that can be
/// computed with far less work (kbench/certificate.h has both); each get scores of their own.
std::vector<LeaderboardRow> leaderboard(std::span<const Result> results,
                                        std::span<const TaskId> tasks,
                                        std::span<const double> thresholds,
                                        std::span<const TaskId> certified = {},
                                        std::span<const TaskId> collapsing = {});
/// The rows as an aligned text table, columns fast_0.5, fast_1, ...
std::string format_leaderboard(std::span<const LeaderboardRow> rows);
/// Notes below the table: the tasks that did not pass, a line a set; whether a software
/// device was timed, untried_note() and busy_note(). Empty when there is nothing of it.
std::string format_leaderboard_notes(std::span<const LeaderboardRow> rows);
/// A line on results at sizes where nothing was proved of the task's check; empty where there are
/// none.
std::string untried_note(std::span<const LeaderboardRow> rows);
/// A line on speedups that were measured while other processes kept the processors busy; empty
/// where there are none.
std::string busy_note(std::span<const LeaderboardRow> rows);
std::string leaderboard_json(std::span<const LeaderboardRow> rows);

/// `over` / `under`, two independent estimates above 0 with intervals of one confidence: their
/// distances to the bounds are added as squares, in logarithms. (Donner and Zou's MOVER, which also
/// takes bounds that do not lie symmetrically about the estimate.)
Interval ratio_of(const Interval& over, const Interval& under);

}  // namespace kbench
