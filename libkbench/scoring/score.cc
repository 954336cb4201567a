#include "kbench/score.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "kbench/certificate.h"
#include "kbench/error.h"
#include "libkbench/base/enum_names.h"
#include "libkbench/base/json_text.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

constexpr double kOutsideOneSide = 0.025;

/// The largest k with P(binomial(n, 1/2) < k) <= 2.5%: the interval is the k-th smallest to the
/// k-th largest value. 0 when there is none.
int64_t lower_rank(int64_t n) {
  // Binomial weights relative to the central one, which neither overflow nor need a gamma
  // function; those below 1e-40 of it change nothing.
  std::vector<double> weights;
  const int64_t centre = n / 2;
  double weight = 1;
  for (int64_t i = centre; i >= 0 && weight > 1e-40; --i) {
    weights.push_back(weight);
    weight *= static_cast<double>(i) / static_cast<double>(n - i + 1);
  }
  double total = 0;
  for (auto w = weights.rbegin(); w != weights.rend(); ++w) total += 2 * *w;
  if (n % 2 == 0) total -= weights.front();

  int64_t rank = centre + 1 - static_cast<int64_t>(weights.size());
  double below = 0;
  for (auto w = weights.rbegin(); w != weights.rend(); ++w, ++rank) {
    below += *w / total;
    if (below > kOutsideOneSide) break;
  }
  return rank;
}

double median_of_sorted(const std::vector<double>& sorted) {
  const size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  // Equal values first: the mean of two infinities is theirs, and no rounding is added.
  if (sorted[middle - 1] == sorted[middle]) return sorted[middle];
  return sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2;
}

void sort_numbers(std::vector<double>& values) {
  for (double value : values) {
    if (std::isnan(value)) {
      throw Error(ErrorCode::kInvalidArgument, "a NaN has no place among values to be ranked");
    }
  }
  std::ranges::sort(values);
}

using ResultsByTask = std::map<TaskId, Result>;

std::string fast_name(double p) { return "fast_" + number_text(p); }

std::vector<FastP> fast_all(std::span<const Result> results, std::span<const double> thresholds,
                            int tasks) {
  std::vector<FastP> scores;
  for (double p : thresholds) scores.push_back(fast_p(results, p, tasks));
  return scores;
}

using Tasks = std::set<TaskId>;

LeaderboardRow row_of(const std::string& set, const ResultsByTask& results, const Tasks& tasks,
                      const Tasks& certified, const Tasks& collapsing,
                      std::span<const double> thresholds) {
  LeaderboardRow row;
  row.set = set;
  row.tasks = static_cast<int>(tasks.size());
  std::vector<Result> all, certain, collapsed, others;
  std::map<int, std::vector<Result>> by_level;
  std::vector<double> speedups, speedups_of_collapsed;
  for (const TaskId& task : tasks) {
    ++row.tasks_by_level[task.level];
    row.certified_tasks += certified.contains(task) ? 1 : 0;
    const bool collapses = collapsing.contains(task);
    row.collapsing_tasks += collapses ? 1 : 0;
    const auto found = results.find(task);
    if (found == results.end()) {
      row.not_passed.emplace_back(task, Verdict::missing);
      continue;
    }
    const Result& result = found->second;
    row.software_device |= result.software_device;
    if (!result.correct()) {
      row.not_passed.emplace_back(task, result.verdict);
      continue;
    }
    ++row.correct;
    row.untried += result.certificate == kUntried ? 1 : 0;
    row.busy += result.busy ? 1 : 0;
    ++row.correct_by_level[task.level];
    (collapses ? speedups_of_collapsed : speedups).push_back(result.speedup.point);
    row.tried_at_sizes += result.holds_at ? 1 : 0;
    row.general += result.holds_at && result.holds_at->everywhere() ? 1 : 0;
    all.push_back(result);
    (collapses ? collapsed : others).push_back(result);
    if (certified.contains(task)) certain.push_back(result);
    by_level[task.level].push_back(result);
  }
  row.median_speedup = median(speedups);
  row.geomean_speedup = geometric_mean(speedups);
  row.overall = fast_all(all, thresholds, row.tasks);
  row.collapsing_correct = static_cast<int>(collapsed.size());
  row.collapsing = fast_all(collapsed, thresholds, row.collapsing_tasks);
  row.collapsing_median = median(speedups_of_collapsed);
  row.collapsing_geomean = geometric_mean(speedups_of_collapsed);
  row.not_collapsing = fast_all(others, thresholds, row.tasks - row.collapsing_tasks);
  row.certified_correct = static_cast<int>(certain.size());
  row.certified = fast_all(certain, thresholds, row.certified_tasks);
  for (const auto& [level, count] : row.tasks_by_level) {
    row.by_level[level] = fast_all(by_level[level], thresholds, count);
  }
  return row;
}

// --- the text table ------------------------------------------------------------------------------

using Cells = std::vector<std::string>;

std::string formatted(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string share(int part, int whole) {
  return std::to_string(part) + "/" + std::to_string(whole);
}

void add_scores(Cells& cells, const std::vector<FastP>& scores) {
  for (const FastP& score : scores) {
    cells.push_back(formatted("%.3f", score.point()) + formatted(" (%.3f)", score.low()));
  }
}

/// "simple: 2 not passed: wrong_values level1/3; does_not_fit level1/33 (not the candidate's
/// fault)"
std::string describe_failures(const LeaderboardRow& row) {
  std::map<Verdict, std::string> tasks;
  for (const auto& [task, verdict] : row.not_passed) {
    std::string& list = tasks[verdict];
    list += (list.empty() ? "" : ", ") + to_string(task);
  }
  std::string text = shown(row.set) + ": " + std::to_string(row.not_passed.size()) + " not passed";
  const char* separator = ": ";
  for (const auto& [verdict, list] : tasks) {
    text += separator + std::string(name_of(verdict)) + ' ' + list;
    if (!is_candidates_fault(verdict)) text += " (not the candidate's fault)";
    separator = "; ";
  }
  return text;
}

nlohmann::ordered_json to_json(const std::vector<FastP>& scores) {
  auto json = nlohmann::ordered_json::array();
  for (const FastP& score : scores) {
    json.push_back({{"p", score.p},
                    {"tasks", score.tasks},
                    {"at_point", score.at_point},
                    {"at_low", score.at_low},
                    {"point", score.point()},
                    {"low", score.low()}});
  }
  return json;
}

}  // namespace

Interval median_interval(std::vector<double> values) {
  if (values.empty()) throw Error(ErrorCode::kInvalidArgument, "no values to take a median of");
  sort_numbers(values);
  const int64_t rank = lower_rank(static_cast<int64_t>(values.size()));
  Interval interval{0, median_of_sorted(values), std::numeric_limits<double>::infinity()};
  if (rank > 0) {
    interval.low = values[static_cast<size_t>(rank - 1)];
    interval.high = values[values.size() - static_cast<size_t>(rank)];
  }
  return interval;
}

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (double value : values) {
    if (!(value > 0)) return 0;
    sum += std::log(value);
  }
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

Interval geometric_mean_interval(std::span<const Interval> values) {
  double sum = 0, down = 0, up = 0;
  for (const Interval& each : values) {
    sum += std::log(each.point);
    down = std::hypot(down, std::log(each.point / each.low));
    up = std::hypot(up, std::log(each.high / each.point));
  }
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  const double point = std::exp(sum / count);
  return {point * std::exp(-down / count), point, point * std::exp(up / count)};
}

std::string_view name_of(SpeedupOf which) {
  return name_in<SpeedupOf::least>({"own", "geomean", "least"}, which);
}

SpeedupOf speedup_of_from_name(std::string_view name) {
  if (const auto which = value_named(name, SpeedupOf::least)) return *which;
  throw Error(ErrorCode::kInvalidArgument,
              "unknown speedup '" + shown(name) + "'; known: own, geomean, least");
}

std::vector<Result> with_speedup_of(SpeedupOf which, std::vector<Result> results) {
  for (Result& result : results) {
    if (which == SpeedupOf::own || !result.correct()) continue;
    if (result.workloads) {
      result.speedup =
          which == SpeedupOf::geomean ? result.workloads->geomean : result.workloads->least;
    } else if (result.settings.find("workloads=") == result.settings.npos) {
      throw Error(ErrorCode::kInvalidArgument,
                  to_string(result.task) + " of " + shown(result.set) +
                      " was timed at its own sizes alone: judge it with --workloads N");
    }
  }
  return results;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  sort_numbers(values);
  return median_of_sorted(values);
}

FastP fast_p(std::span<const Result> results, double p, int tasks) {
  require_one_size(results);
  std::map<TaskId, const Result*> last;
  for (const Result& result : results) last[result.task] = &result;

  FastP score{.p = p, .tasks = tasks};
  for (const auto& [task, result] : last) {
    if (!result->correct()) continue;
    // Every time is above zero: at p = 0 only correctness counts.
    score.at_point += p <= 0 || result->speedup.point > p;
    score.at_low += p <= 0 || result->speedup.low > p;
  }
  return score;
}

double pass_at_k(int n, int c, int k) {
  if (c < 0 || n < c || k < 1 || k > n) {
    throw Error(ErrorCode::kInvalidArgument,
                "pass@k needs 0 <= c <= n and 1 <= k <= n, got n = " + std::to_string(n) +
                    ", c = " + std::to_string(c) + ", k = " + std::to_string(k));
  }
  if (n - c < k) return 1;
  double all_bad = 1;
  for (int i = n - c + 1; i <= n; ++i) all_bad *= 1 - static_cast<double>(k) / i;
  return 1 - all_bad;
}

int LeaderboardRow::correct_in_level(int level) const {
  const auto found = correct_by_level.find(level);
  return found == correct_by_level.end() ? 0 : found->second;
}

std::vector<LeaderboardRow> leaderboard(std::span<const Result> results,
                                        std::span<const TaskId> tasks,
                                        std::span<const double> thresholds,
                                        std::span<const TaskId> certified,
                                        std::span<const TaskId> collapsing) {
  const Tasks certain(certified.begin(), certified.end());
  const Tasks collapsed(collapsing.begin(), collapsing.end());
  const Tasks wanted(tasks.begin(), tasks.end());
  std::vector<Result> counted(results.begin(), results.end());
  std::erase_if(counted, [&](const Result& result) { return !wanted.contains(result.task); });
  require_one_size(counted);
  std::map<std::string, ResultsByTask> sets;
  for (const Result& result : counted) sets[result.set][result.task] = result;
  std::vector<LeaderboardRow> rows;
  for (const auto& [set, by_task] : sets) {
    rows.push_back(row_of(set, by_task, wanted, certain, collapsed, thresholds));
  }

  const auto first_from_one = std::ranges::find_if(thresholds, [](double p) { return p >= 1; });
  const bool any_from_one = first_from_one != thresholds.end();
  const ptrdiff_t column = any_from_one ? first_from_one - thresholds.begin()
                                        : static_cast<ptrdiff_t>(thresholds.size()) - 1;
  const auto rank = [&](const LeaderboardRow& row) {
    const int fast = column < 0 ? row.correct : row.overall[static_cast<size_t>(column)].at_point;
    return std::pair<int, double>(fast, row.geomean_speedup);
  };
  // Stable, so that equal rows stay in the order of their names.
  std::ranges::stable_sort(rows, std::greater<>(), rank);
  return rows;
}

std::string format_leaderboard(std::span<const LeaderboardRow> rows) {
  if (rows.empty()) return "no results\n";
  const bool sizes = std::ranges::any_of(rows, &LeaderboardRow::tried_at_sizes);
  Cells header = {"set", "correct"};
  if (sizes) header.push_back("general");
  for (const FastP& score : rows.front().overall) header.push_back(fast_name(score.p) + " (low)");
  header.insert(header.end(), {"median", "geomean"});
  std::vector<Cells> lines = {header};
  for (const LeaderboardRow& row : rows) {
    const auto add = [&](const std::string& name, const std::string& correct,
                         const std::string& general, const std::vector<FastP>& scores) -> Cells& {
      Cells cells = {name, correct};
      if (sizes) cells.push_back(general);
      add_scores(cells, scores);
      lines.push_back(cells);
      return lines.back();
    };
    const auto add_means = [](Cells& cells, double median, double geomean) {
      for (const double mean : {median, geomean}) {
        cells.push_back(mean > 0 ? formatted("%.2fx", mean) : "-");
      }
    };
    add_means(add(shown(row.set), share(row.correct, row.tasks),
                  share(row.general, row.tried_at_sizes), row.overall),
              row.median_speedup, row.geomean_speedup);
    for (const auto& [level, scores] : row.by_level) {
      add(level == 0 ? "  own" : "  L" + std::to_string(level),
          share(row.correct_in_level(level), row.tasks_by_level.at(level)), "", scores);
    }
    if (row.certified_tasks > 0) {
      add("  certified", share(row.certified_correct, row.certified_tasks), "", row.certified);
    }
    if (row.collapsing_tasks > 0) {
      add("  not collapsing",
          share(row.correct - row.collapsing_correct, row.tasks - row.collapsing_tasks), "",
          row.not_collapsing);
      add_means(add("  collapsing", share(row.collapsing_correct, row.collapsing_tasks), "",
                    row.collapsing),
                row.collapsing_median, row.collapsing_geomean);
    }
  }
  return text_table(lines, Side::right);
}

std::string format_leaderboard_notes(std::span<const LeaderboardRow> rows) {
  std::string text;
  for (const LeaderboardRow& row : rows) {
    if (!row.not_passed.empty()) text += describe_failures(row) + '\n';
  }
  if (std::ranges::any_of(rows, &LeaderboardRow::software_device)) {
    text += "Timed on a software device (a CPU): the speedups say nothing about a GPU.\n";
  }
  return text + untried_note(rows) + busy_note(rows);
}

std::string untried_note(std::span<const LeaderboardRow> rows) {
  int untried = 0, correct = 0;
  for (const LeaderboardRow& row : rows) {
    untried += row.untried;
    correct += row.correct;
  }
  if (untried == 0) return "";
  return std::to_string(untried) + " of " + std::to_string(correct) +
         " that passed did so at sizes without a certificate: no shortcut was held against the "
         "task's check there (docs/certificate.md).\n";
}

std::string busy_note(std::span<const LeaderboardRow> rows) {
  int busy = 0, correct = 0;
  for (const LeaderboardRow& row : rows) {
    busy += row.busy;
    correct += row.correct;
  }
  if (busy == 0) return "";
  return std::to_string(busy) + " of " + std::to_string(correct) +
         " speedups were measured while other processes kept the processors busy, and may be off: "
         "measure them again on an idle machine.\n";
}

std::string leaderboard_json(std::span<const LeaderboardRow> rows) {
  auto json = nlohmann::ordered_json::array();
  for (const LeaderboardRow& row : rows) {
    nlohmann::ordered_json levels = nlohmann::ordered_json::object();
    for (const auto& [level, scores] : row.by_level) {
      levels[std::to_string(level)] = {{"tasks", row.tasks_by_level.at(level)},
                                       {"correct", row.correct_in_level(level)},
                                       {"fast_p", to_json(scores)}};
    }
    auto not_passed = nlohmann::ordered_json::array();
    for (const auto& [task, verdict] : row.not_passed) {
      not_passed.push_back({{"task", to_string(task)}, {"verdict", std::string(name_of(verdict))}});
    }
    json.push_back({{"set", row.set},
                    {"tasks", row.tasks},
                    {"correct", row.correct},
                    {"fast_p", to_json(row.overall)},
                    {"median_speedup", row.median_speedup},
                    {"geomean_speedup", row.geomean_speedup},
                    {"levels", levels},
                    {"certified",
                     {{"tasks", row.certified_tasks},
                      {"correct", row.certified_correct},
                      {"fast_p", to_json(row.certified)}}},
                    {"collapsing",
                     {{"tasks", row.collapsing_tasks},
                      {"correct", row.collapsing_correct},
                      {"fast_p", to_json(row.collapsing)},
                      {"median_speedup", row.collapsing_median},
                      {"geomean_speedup", row.collapsing_geomean}}},
                    {"not_collapsing", {{"fast_p", to_json(row.not_collapsing)}}},
                    {"tried_at_sizes", row.tried_at_sizes},
                    {"general", row.general},
                    {"not_passed", not_passed},
                    {"software_device", row.software_device},
                    {"untried", row.untried},
                    {"busy", row.busy}});
  }
  return json_text(json, 2);
}

Interval ratio_of(const Interval& over, const Interval& under) {
  const double down =
      std::hypot(std::log(over.point / over.low), std::log(under.high / under.point));
  const double up = std::hypot(std::log(over.high / over.point), std::log(under.point / under.low));
  const double point = over.point / under.point;
  return {point * std::exp(-down), point, point * std::exp(up)};
}

}  // namespace kbench
