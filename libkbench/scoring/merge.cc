// Results of several files as one list, and whether they may stand beside each other.
#include <algorithm>
#include <tuple>
#include <utility>

#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/text.h"

namespace kbench {
namespace {

using Counts = std::map<std::string, int>;

/// "NVIDIA H200 (120), llvmpipe (24)"
std::string in_words(const Counts& counts) {
  return listed(counts, [](const auto& entry) {
    return shown(entry.first) + " (" + std::to_string(entry.second) + ")";
  });
}

template <class Value>
Counts count_of(std::span<const Result> results, Value value) {
  Counts counts;
  for (const Result& result : results) {
    if (result.verdict != Verdict::missing) ++counts[value(result)];
  }
  return counts;
}

void require_one(const char* what, const Counts& counts) {
  if (counts.size() < 2) return;
  throw Error(ErrorCode::kInvalidArgument, "results are of " + std::to_string(counts.size()) + " " +
                                               what + ": " + in_words(counts));
}

std::string dtype_text(const Experiment& experiment) {
  return std::string(name_of(experiment.dtype));
}

std::string tolerance_rule(const Result& result) {
  const std::string& settings = result.settings;
  return settings.starts_with("tolerance=") ? settings.substr(0, settings.find(' ')) : "";
}

bool same_outcome(const Result& a, const Result& b) {
  if (a.verdict != b.verdict) return false;
  if (!a.correct()) return true;
  const auto times = [](const Result& r) {
    return std::tuple(r.samples, r.speedup.low, r.speedup.point, r.speedup.high, r.candidate_ms,
                      r.baseline_ms);
  };
  return times(a) == times(b);
}

std::string outcome(const ResultLine& line) {
  std::string text(name_of(line.result.verdict));
  if (line.result.correct()) text += " " + digits_text(line.result.speedup.point, 4) + "x";
  return text;
}

std::string place(const ResultLine& line) {
  return shown(line.file) + ":" + std::to_string(line.line);
}

std::string subject(const Result& result) {
  return shown(result.set) + " " + to_string(result.task);
}

/// "preset (smoke, v0.1) and device (llvmpipe, NVIDIA H200)"
std::string differences(const Experiment& a, const Experiment& b) {
  std::vector<std::string> parts;
  const auto compare = [&](const char* what, const std::string& x, const std::string& y) {
    if (x != y) parts.push_back(std::string(what) + " (" + shown(x) + ", " + shown(y) + ")");
  };
  compare("candidate", a.candidate_hash.substr(0, 12), b.candidate_hash.substr(0, 12));
  compare("preset", a.preset, b.preset);
  if (a.variables != b.variables && a.preset == b.preset) parts.emplace_back("shape variables");
  compare("dtype", dtype_text(a), dtype_text(b));
  compare("device", a.device, b.device);
  compare("driver", a.driver, b.driver);
  compare("baseline", a.baseline, b.baseline);
  compare("settings", a.settings, b.settings);
  compare("version", a.version, b.version);
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text;
}

/// Collects contradictions, of which the first are named.
class Contradictions {
 public:
  void add(const std::string& text) {
    constexpr int kNamed = 3;
    if (++count_ <= kNamed) text_ += (count_ > 1 ? "; " : "") + text;
  }
  void refuse() const {
    if (count_ == 0) return;
    std::string text =
        count_ == 1 ? "a contradiction: " : std::to_string(count_) + " contradictions, such as: ";
    throw Error(ErrorCode::kInvalidArgument, text + text_);
  }

 private:
  int count_ = 0;
  std::string text_;
};

using Lines = std::vector<const ResultLine*>;

/// One line an experiment, in order.
Lines one_an_experiment(std::span<const ResultLine> lines, Contradictions& found) {
  Lines kept;
  std::map<std::string, size_t> of_key;
  for (const ResultLine& line : lines) {
    const auto [at, is_new] = of_key.try_emplace(line.result.key(), kept.size());
    if (is_new) {
      kept.push_back(&line);
      continue;
    }
    const ResultLine*& before = kept[at->second];
    if (line.result.verdict == Verdict::harness_error &&
        before->result.verdict != Verdict::harness_error) {
      continue;
    }
    if (same_outcome(before->result, line.result)) continue;
    const bool again = before->file == line.file && before->result.verdict == line.result.verdict;
    if (!again && before->result.verdict != Verdict::harness_error) {
      found.add("one experiment, " + subject(line.result) + ", is " + outcome(*before) + " in " +
                place(*before) + " and " + outcome(line) + " in " + place(line));
    }
    before = &line;
  }
  return kept;
}

/// One line for each set and task, in order.
Lines one_a_task(const Lines& lines, Contradictions& found) {
  Lines kept;
  std::map<std::pair<std::string, TaskId>, size_t> of_task;
  for (const ResultLine* line : lines) {
    const auto [at, is_new] =
        of_task.try_emplace(std::pair(line->result.set, line->result.task), kept.size());
    if (is_new) {
      kept.push_back(line);
      continue;
    }
    const ResultLine*& before = kept[at->second];
    const bool one_file = before->file == line->file;
    if (!one_file && line->result.verdict == Verdict::missing) continue;
    if (!one_file && before->result.verdict != Verdict::missing) {
      found.add(subject(line->result) + " is two experiments, in " + place(*before) + " and " +
                place(*line) + ", which differ in " + differences(before->result, line->result));
    }
    before = line;
  }
  return kept;
}

}  // namespace

std::map<std::string, int> device_kinds(std::span<const Result> results) {
  return count_of(results, [](const Result& result) { return result.device; });
}

void require_one_device_kind(std::span<const Result> results) {
  const Counts kinds = device_kinds(results);
  if (kinds.size() < 2) return;
  throw Error(ErrorCode::kInvalidArgument,
              "results are of " + std::to_string(kinds.size()) +
                  " kinds of device, whose speedups do not compare: " + in_words(kinds));
}

std::string baseline_kind(const Result& result) {
  const size_t label = result.baseline.find(" ms, ");
  return label == std::string::npos ? result.baseline : result.baseline.substr(label + 5);
}

void require_one_size(std::span<const Result> results) {
  Counts presets = count_of(results, [](const Result& result) { return result.preset; });
  presets.erase("");  // of candidates that could not be read
  require_one("presets", presets);
  require_one("dtypes", count_of(results, dtype_text));
}

void require_one_question(std::span<const Result> results) {
  require_one_size(results);
  require_one("tolerances", count_of(results, tolerance_rule));
  require_one("baselines", count_of(results, baseline_kind));
}

void require_known_tasks(std::span<const ResultLine> lines, std::span<const Task> suite) {
  for (const ResultLine& line : lines) {
    const TaskId& task = line.result.task;
    const bool names_none = task.level == 0 && task.number == 0;
    if (names_none || lookup_task(task, suite) != nullptr) continue;
    throw Error(ErrorCode::kParse, Location{line.file, line.line, 0},
                "result.task is " + to_string(task) + "; there is no such task");
  }
}

std::vector<Result> merge_results(std::span<const ResultLine> lines) {
  Contradictions of_experiments, of_tasks;
  const Lines experiments = one_an_experiment(lines, of_experiments);
  of_experiments.refuse();
  const Lines kept = one_a_task(experiments, of_tasks);
  of_tasks.refuse();
  std::vector<Result> results;
  for (const ResultLine* line : kept) results.push_back(line->result);
  return results;
}

}  // namespace kbench
