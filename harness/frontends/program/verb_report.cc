#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/evaluate/report/analysis.h"
#include "harness/evaluate/report/page.h"
#include "harness/evaluate/report/study.h"
#include "harness/evaluate/report/tables.h"
#include "harness/frontends/program/options.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/score.h"
#include "libkbench/base/files.h"
#include "libkbench/base/text.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

struct ReportOptions {
  std::vector<std::string> sources, sets, devices;
  TaskOptions tasks;
  std::vector<int> ks;
  FastPOptions fast_p;
  std::string preset, dtype, html;
  bool json = false;
};

/// Attempts, as tables or as the page.
report::Study study_of(const ReportOptions& options) {
  std::vector<TaskId> tasks;
  if (options.tasks.given()) {
    for (const Task* task : options.tasks.select()) tasks.push_back(task->id);
  }
  return report::read_study(options.sources, tasks, options.dtype, options.preset);
}

// --- the leaderboard of files of results ---------------------------------------------------------

std::vector<ResultLine> read_all(const std::vector<std::string>& files) {
  std::vector<ResultLine> lines;
  for (const std::string& file : files) {
    std::vector<ResultLine> more = read_result_lines(file);
    require_known_tasks(more);
    for (ResultLine& line : more) {
      try {
        line.result.certificate = certification(line.result);
      } catch (const Error& e) {
        throw Error(ErrorCode::kParse, Location{line.file, line.line, 0}, e.message());
      }
    }
    std::ranges::move(more, std::back_inserter(lines));
  }
  return lines;
}

/// Whether `part`, ignoring case, is part of a device's name.
bool names(const std::string& part, const std::string& device) {
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(device.begin(), device.end(), part.begin(), part.end(), same) != device.end();
}

/// Keeps the results of which a field fits one of `wanted`, each of which must fit some; all if
/// nothing is wanted.
template <class Field, class Fits>
void filter(std::vector<ResultLine>& lines, const char* flag,
            const std::vector<std::string>& wanted, Field field, Fits fits) {
  if (wanted.empty()) return;
  for (const std::string& each : wanted) {
    std::set<std::string> known;
    bool found = false;
    for (const ResultLine& line : lines) {
      known.insert(shown(field(line.result)));
      found |= fits(each, field(line.result));
    }
    if (found) continue;
    const std::vector<std::string> list(known.begin(), known.end());
    throw Error(ErrorCode::kNotFound, std::string("no result fits ") + flag + " " + shown(each) +
                                          suggestion(each, list) +
                                          "; there are: " + listed(list, std::identity()));
  }
  std::erase_if(lines, [&](const ResultLine& line) {
    return std::ranges::none_of(
        wanted, [&](const std::string& each) { return fits(each, field(line.result)); });
  });
}

void apply_filters(std::vector<ResultLine>& lines, const ReportOptions& options) {
  const auto equal = [](const std::string& a, const std::string& b) { return a == b; };
  const auto list_of = [](const std::string& word) {
    return word.empty() ? std::vector<std::string>() : std::vector{word};
  };
  filter(
      lines, "--sets", options.sets, [](const Result& r) { return r.set; }, equal);
  filter(
      lines, "--device", options.devices, [](const Result& r) { return r.device; }, names);
  filter(
      lines, "--preset", list_of(options.preset), [](const Result& r) { return r.preset; }, equal);
  filter(
      lines, "--dtype", list_of(options.dtype),
      [](const Result& r) { return std::string(name_of(r.dtype)); }, equal);
}

/// The tasks of --task, with or without results; else those with results, of the chosen levels.
std::vector<TaskId> tasks_of(const std::vector<ResultLine>& lines, const TaskOptions& tasks) {
  std::set<TaskId> chosen, there;
  for (const Task* task : tasks.select()) chosen.insert(task->id);
  if (!tasks.selection.empty()) return {chosen.begin(), chosen.end()};
  for (const ResultLine& line : lines) {
    if (!tasks.given() || chosen.contains(line.result.task)) there.insert(line.result.task);
  }
  return {there.begin(), there.end()};
}

/// The tasks certified by this build, for results at the presets' own sizes; a task without a
/// result counts at the others' preset in their dtype.
std::vector<TaskId> certified_tasks(const std::vector<Result>& results,
                                    const std::vector<TaskId>& tasks) {
  std::map<TaskId, std::string> known;
  std::set<std::pair<std::string, DType>> sizes;
  bool untried = false;
  for (const Result& result : results) {
    known.try_emplace(result.task, result.certificate);
    sizes.emplace(result.preset, result.dtype);
    untried |= result.certificate == kUntried;
  }
  std::vector<TaskId> certified;
  for (const TaskId& id : tasks) {
    const auto found = known.find(id);
    if (found != known.end()) {
      if (is_certified(found->second)) certified.push_back(id);
    } else if (sizes.size() == 1 && !untried) {
      const auto& [preset, dtype] = *sizes.begin();
      if (is_certified(certification({id, preset, {}, dtype}))) certified.push_back(id);
    }
  }
  return certified;
}

/// Adds results for what the leaderboard counts as missing although no file says so.
std::vector<Result> with_gaps(const std::vector<Result>& results,
                              const std::vector<LeaderboardRow>& rows) {
  std::set<std::pair<std::string, TaskId>> there;
  for (const Result& result : results) there.emplace(result.set, result.task);
  std::vector<Result> all = results;
  for (const LeaderboardRow& row : rows) {
    for (const auto& [id, verdict] : row.not_passed) {
      if (there.contains({row.set, id})) continue;
      Result& gap = all.emplace_back();
      gap.set = row.set;
      gap.task = id;
      gap.verdict = Verdict::missing;
      if (const Task* task = lookup_task(id)) gap.task_name = task->name;
    }
  }
  return all;
}

/// Calls `check`, and adds advice to what it throws.
void advise(const std::function<void()>& check, const char* advice) {
  try {
    check();
  } catch (const Error& e) {
    throw Error(e.code(), e.message() + advice);
  }
}

std::string scores_of(const ReportOptions& options) {
  options.tasks.select();  // Makes its files known: results are of what a file means.
  std::vector<ResultLine> lines = read_all(options.sources);
  const size_t read = lines.size();
  apply_filters(lines, options);
  const std::vector<TaskId> tasks = tasks_of(lines, options.tasks);
  std::erase_if(lines, [&](const ResultLine& line) {
    return !std::ranges::binary_search(tasks, line.result.task);
  });
  std::vector<Result> all;
  for (const ResultLine& line : lines) all.push_back(line.result);
  advise([&] { require_one_device_kind(all); }, "; choose by --device");
  advise([&] { require_one_question(all); },
         "; choose by --preset and --dtype, or leave files out");
  std::vector<Result> results;
  advise([&] { results = merge_results(lines); }, "; leave a file out");
  const auto rows =
      leaderboard(with_speedup_of(options.fast_p.which(), results), tasks,
                  options.fast_p.thresholds, certified_tasks(results, tasks), collapsing_tasks());
  if (options.json) return score_json(options.sources, results, rows);
  std::string text = counted(results.size(), "result") + " of " + counted(read, "line") + " in " +
                     counted(options.sources.size(), "file") + "\n";
  std::string software;
  if (!results.empty()) {
    // What is missing was on no device.
    const auto judged = std::ranges::find_if(
        results, [](const Result& r) { return r.verdict != Verdict::missing; });
    const Result& one = judged != results.end() ? *judged : results.front();
    text += (judged != results.end() ? shown(one.device) + ", " : "") + "preset " +
            preset_in_words(shown(one.preset), one.dtype) + ", " + counted(tasks.size(), "task") +
            "\n";
    if (one.software_device) software = one.device;
  }
  text += options.fast_p.note();
  return broken_lines(text + format_scores(format_leaderboard(rows), rows, software,
                                           format_failures(with_gaps(results, rows), {})));
}

/// Whether it is a run, or a file of several candidates for one task, as samples of a model are.
bool has_attempts(const std::string& source) {
  if (std::filesystem::is_directory(source)) return true;
  report::ResultSamples samples;
  return std::ranges::any_of(read_results(source), [&](const Result& result) {
    return samples.of(result) != report::ResultSamples::Place();
  });
}

int run_report(const ReportOptions& options) {
  if (!options.preset.empty()) preset_from_name(options.preset);
  const bool attempts = !options.ks.empty() || std::ranges::any_of(options.sources, has_attempts);
  const bool filtered = !options.sets.empty() || !options.devices.empty();
  if (filtered && (attempts || !options.html.empty())) {
    throw Error(ErrorCode::kInvalidArgument,
                "--sets and --device choose among files of results for the leaderboard; they do "
                "not go with a run, several candidates of a set for one task, --k or --html");
  }
  if (options.fast_p.which() != SpeedupOf::own && (attempts || !options.html.empty())) {
    throw Error(ErrorCode::kInvalidArgument,
                "--fast-p-of is of the leaderboard of files of results");
  }
  if (!attempts && options.html.empty()) {
    say(scores_of(options));
    return kDone;
  }
  const report::Study study = study_of(options);
  report::AnalysisOptions wanted{options.ks, options.fast_p.thresholds};
  std::ranges::sort(wanted.ks);
  const report::Analysis analysis = report::analyse(study, wanted);
  // What is refused leaves no page behind.
  const std::string text = !attempts      ? scores_of(options)
                           : options.json ? report::report_json(study, analysis)
                                          : report::format_report(study, analysis);
  if (!options.html.empty()) replace_file(options.html, report::report_page(study, analysis));
  say(text);
  return kDone;
}

}  // namespace

Verb add_report(Command program) {
  auto options = std::make_shared<ReportOptions>();
  const Command app = program.add_verb(
      "report", "Results files as a leaderboard; runs of models: pass@k, cost",
      "Of files of results (--output of the main job and of run) it prints one leaderboard of all "
      "that they hold together: the shards of a job, several sets, several machines of one kind. "
      "Equal results count once. Two outcomes of one experiment are a contradiction and refused, "
      "with the files and lines; so are different kinds of device, presets, dtypes, tolerances or "
      "baselines in one table. The tasks that count are those of --task; without it, all that the "
      "files have results of, narrowed by --level. "
      "Of a run's folder it prints leaderboard, funnel, correct-by-attempt, cost, the models as a "
      "swarm and their comparisons; files of results beside it, or with --k, count as models, and "
      "several candidates of a set for one task as samples. Nothing is run and no device is "
      "needed.",
      "  kbench report results.jsonl --fast-p 0,0.5,1,2\n"
      "  kbench report shard-*.jsonl --level 1 --json\n"
      "  kbench report mine.jsonl theirs.jsonl --sets mine,theirs --device H200\n"
      "  kbench report run/ other/ --k 1,10 --fast-p 1,2 --html report.html");
  app.add_option("RUN PATH", options->sources, "Files of results, or folders of runs", readable())
      .required();
  options->tasks.add_to(app);
  const Command scores = app.in_group("Scores");
  options->fast_p.add_to(scores);
  scores
      .add_option("--k K,...", options->ks,
                  "Samples k of pass@k: 1,5,10 (default: as many as there are)",
                  number_from(1, 1000000))
      .comma_separated();
  scores.add_option("--sets SET,...", options->sets, "Only these candidate sets, by name")
      .comma_separated();
  scores
      .add_option("--device NAME,...", options->devices,
                  "Only results of these devices: parts of their names")
      .comma_separated();
  scores.add_option("--preset PRESET", options->preset,
                    std::string("Only results at this preset: ") + kPresetNames);
  scores.add_option("--dtype NAME", options->dtype, "Only results in f32, f16 or bf16",
                    task_dtypes());
  const Command output = app.in_group("Output");
  output.add_option("--html FILE", options->html,
                    "Write one page with everything in it, for any browser");
  output.add_flag("--json", options->json, "One JSON document on standard output");
  return {app, [options] { return run_report(*options); }};
}

}  // namespace kbench::program
