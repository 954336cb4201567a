#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/frontends/program/options.h"
#include "harness/frontends/program/report.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/verbs.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/score.h"
#include "kbench/text.h"
#include "kbench/version.h"
#include "libkbench/base/suggest.h"
#include "libkbench/core/in_words.h"

namespace kbench::program {
namespace {

struct ScoreOptions {
  std::vector<std::string> files, sets, devices;
  std::vector<double> thresholds = {1.0};
  TaskOptions tasks;
  std::string preset, dtype;
  bool mix_devices = false, take_last = false, json = false;
};

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

/// Keeps the results for which `fits` is true; throws if there are none, saying what there is.
template <class Field, class Fits>
void narrow(std::vector<ResultLine>& lines, const char* flag, const std::string& wanted,
            Field field, Fits fits) {
  std::set<std::string> known;
  for (const ResultLine& line : lines) known.insert(shown(field(line.result)));
  const auto count = std::ranges::count_if(
      lines, [&](const ResultLine& line) { return fits(field(line.result)); });
  if (count > 0) return;
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  const std::vector<std::string> list(known.begin(), known.end());
  throw Error(ErrorCode::kNotFound, std::string("no result fits ") + flag + " " + shown(wanted) +
                                        suggestion(wanted, list) + "; there are: " + shown(all));
}

template <class Field, class Same>
void filter(std::vector<ResultLine>& lines, const char* flag,
            const std::vector<std::string>& wanted, Field field, Same same) {
  if (wanted.empty()) return;
  for (const std::string& each : wanted) {
    narrow(lines, flag, each, field, [&](const std::string& value) { return same(each, value); });
  }
  std::erase_if(lines, [&](const ResultLine& line) {
    return std::ranges::none_of(
        wanted, [&](const std::string& each) { return same(each, field(line.result)); });
  });
}

void apply_filters(std::vector<ResultLine>& lines, const ScoreOptions& options) {
  const auto equal = [](const std::string& a, const std::string& b) { return a == b; };
  filter(
      lines, "--sets", options.sets, [](const Result& r) { return r.set; }, equal);
  filter(
      lines, "--device", options.devices, [](const Result& r) { return r.device; }, names);
  const auto filter_one = [&](const char* flag, const std::string& wanted, auto field) {
    if (!wanted.empty()) filter(lines, flag, {wanted}, field, equal);
  };
  filter_one("--preset", options.preset, [](const Result& r) { return r.preset; });
  filter_one("--dtype", options.dtype,
             [](const Result& r) { return std::string(name_of(r.dtype)); });
}

/// The tasks of --task, with or without results; else those with results, of the chosen levels.
std::vector<TaskId> tasks_of(const std::vector<ResultLine>& lines, const ScoreOptions& options) {
  std::set<TaskId> chosen, there;
  for (const Task* task : options.tasks.select()) chosen.insert(task->id);
  if (!options.tasks.selection.empty()) return {chosen.begin(), chosen.end()};
  for (const ResultLine& line : lines) {
    const TaskId task = line.result.task;
    if (!options.tasks.given() || chosen.contains(task)) there.insert(task);
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

std::string joined(const std::set<std::string>& values, const char* between) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : between) + shown(value);
  return text;
}

int run_score(const ScoreOptions& options) {
  if (!options.preset.empty()) preset_from_name(options.preset);
  std::vector<ResultLine> lines = read_all(options.files);
  const size_t read = lines.size();
  apply_filters(lines, options);
  const std::vector<TaskId> tasks = tasks_of(lines, options);
  const std::set<TaskId> wanted(tasks.begin(), tasks.end());
  std::erase_if(lines, [&](const ResultLine& line) { return !wanted.contains(line.result.task); });

  std::vector<Result> all;
  for (const ResultLine& line : lines) all.push_back(line.result);
  const auto advise = [](auto check, const char* advice) {
    try {
      check();
    } catch (const Error& e) {
      throw Error(e.code(), e.message() + advice);
    }
  };
  if (!options.mix_devices) {
    advise([&] { require_one_device_kind(all); },
           "; choose by --device, or have them in one table by --mix-devices");
  }
  advise([&] { require_one_question(all); },
         "; choose by --preset and --dtype, or leave files out");
  std::vector<Result> results;
  advise(
      [&] {
        results = merge_results(
            lines, options.take_last ? Contradiction::take_last : Contradiction::refuse);
      },
      "; leave a file out, or have the last count by --last");

  const auto rows = leaderboard(results, tasks, options.thresholds, certified_tasks(results, tasks),
                                collapsing_tasks());
  if (options.json) {
    say(score_json(options.files, results, rows) + "\n");
    return kDone;
  }
  std::set<std::string> devices, software, presets, dtypes;
  for (const Result& result : results) {
    presets.insert(result.preset);
    dtypes.emplace(name_of(result.dtype));
    if (result.verdict != Verdict::missing) devices.insert(result.device);
    if (result.software_device) software.insert(result.device);
  }
  std::string text = counted(results.size(), "result") + " of " + counted(read, "line") + " in " +
                     std::to_string(options.files.size()) +
                     (options.files.size() == 1 ? " file\n" : " files\n");
  if (!results.empty()) {
    text += (devices.empty() ? "" : joined(devices, " and ") + ", ") + "preset " +
            preset_in_words(joined(presets, " and "), joined(dtypes, " and ")) + ", " +
            std::to_string(tasks.size()) + (tasks.size() == 1 ? " task\n" : " tasks\n");
  }
  text += "\n" + format_leaderboard(rows);
  if (const std::string note = untried_note(rows); !note.empty()) text += "\n" + note;
  if (!software.empty()) {
    text += "\n" + software_warning(joined(software, " and ")) + "\n" + busy_note(rows);
  }
  if (const std::string failures = format_failures(with_gaps(results, rows), {});
      !failures.empty()) {
    text += "\n" + failures;
  }
  say(text);
  return kDone;
}

}  // namespace

Verb add_score(Command program) {
  auto options = std::make_shared<ScoreOptions>();
  const Command app = program.add_verb(
      "score", "Score results files together, without measuring",
      "Prints the leaderboard of everything that results files (--output of the main job and of "
      "run) hold together: the shards of a job, several sets, several machines of one kind. "
      "Nothing is run and no device is needed. Equal results count once. Two outcomes of one "
      "experiment are a contradiction and refused, with the files and lines; so are different "
      "kinds of device, presets, dtypes, tolerances or baselines in one table. The tasks that "
      "count are "
      "those of --task; without it, all that the files have results of, narrowed by --level.",
      "  kbench score results.jsonl --fast-p 0,0.5,1,2\n"
      "  kbench score shard-*.jsonl --level 1 --json\n"
      "  kbench score mine.jsonl theirs.jsonl --sets mine,theirs --device H200");
  app.add_option("FILES FILE", options->files, "Results files", readable()).required();
  const Command scores = app.in_group("Scores");
  add_fast_p(scores, options->thresholds);
  scores
      .add_option("--sets SET,...", options->sets,
                  "Candidate sets, by name (default: all there are)")
      .comma_separated();
  scores
      .add_option("--device NAME,...", options->devices,
                  "Devices: parts of their names (default: all)")
      .comma_separated();
  scores.add_option("--preset PRESET", options->preset,
                    std::string("Only results at this preset: ") + kPresetNames);
  scores.add_option("--dtype NAME", options->dtype, "Only results in f32, f16 or bf16",
                    task_dtypes());
  scores.add_flag(
      "--mix-devices", options->mix_devices,
      "Allow several kinds of device in one table, though their speedups do not compare");
  scores.add_flag("--last", options->take_last,
                  "Of contradictory results, take the last one in the order of files and lines");
  options->tasks.add_to(app);
  app.in_group("Output").add_flag("--json", options->json, "One JSON document on standard output");
  return {app, [options] { return run_score(*options); }};
}

}  // namespace kbench::program
