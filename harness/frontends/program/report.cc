#include "harness/frontends/program/report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "harness/frontends/program/json_documents.h"
#include "harness/frontends/program/terminal.h"
#include "harness/frontends/program/text.h"
#include "kbench/candidate_source.h"
#include "kbench/certificate.h"
#include "kbench/error.h"
#include "kbench/feedback.h"
#include "kbench/version.h"
#include "libkbench/base/text.h"
#include "libkbench/candidate/files.h"
#include "libkbench/core/in_words.h"
#include "libkbench/feedback/parts.h"

namespace kbench::program {
namespace {

/// The candidate's source files, for quoting.
struct Quoted {
  std::optional<Candidate> candidate;
  std::string manifest, text;  ///< its YAML file's path, as diagnostics have it, and text
  Evidence evidence;           ///< contains that file

  explicit Quoted(const std::string& path) {
    try {
      const CandidatePlace place = candidate_place(path);
      if (auto read = CandidateFolder(place.folder).read(place.manifest)) {
        manifest = shown_path(place.folder, place.manifest);
        text = *read;
        evidence.files.emplace(place.manifest, *std::move(read));
      }
      candidate = load_candidate(path);
    } catch (const Error&) {  // nothing to quote, or only the YAML file
    }
  }
};

/// The position in the line of the first quoted name that it contains.
std::optional<size_t> place_of_quoted(const std::string& message, const std::string& line) {
  for (size_t at = message.find('\''); at != std::string::npos;) {
    const size_t end = message.find('\'', at + 1);
    if (end == std::string::npos) return std::nullopt;
    const std::string name = message.substr(at + 1, end - at - 1);
    if (const size_t found = find_word(line, name); found != line.npos) return found;
    at = message.find('\'', end + 1);
  }
  return std::nullopt;
}

}  // namespace

std::string format_diagnostics(const Result& result, const std::string& candidate,
                               const std::string& indent) {
  if (result.diagnostics.empty()) return "";
  const Quoted quoted(candidate);
  const Facts facts =
      facts_of(result, quoted.candidate ? &*quoted.candidate : nullptr, quoted.evidence);
  std::string text;
  for (const Diagnostic& each : result.diagnostics) {
    text += indent + format_diagnostic(each) + "\n";
    if (quoted.manifest == each.file && each.column > 0) {
      text += pointed_line(quoted.text, {each.file, each.line, each.column}, indent);
      continue;
    }
    const std::string line = source_line(facts, each.file, each.line);
    if (line.empty()) continue;
    text += indent + "    | " + line + "\n";
    if (const auto place = place_of_quoted(each.message, line)) {
      text += indent + "    | " + std::string(*place, ' ') + "^\n";
    }
  }
  return text;
}

bool repeats_diagnostic(const Result& result) {
  const auto first =
      std::ranges::find(result.diagnostics, std::string("error"), &Diagnostic::severity);
  return first != result.diagnostics.end() &&
         result.message == at(Location{first->file, first->line, first->column}) + first->message;
}

namespace {

constexpr size_t kDiagnosticsShown = 3;

std::string task_label(const Result& result) {
  if (result.task_name.empty()) return shown(result.candidate);
  return to_string(result.task) + "_" + result.task_name;
}

void append_diagnostics(std::string& text, const Result& result, size_t most,
                        const std::string& indent) {
  const size_t shown = std::min(most, result.diagnostics.size());
  for (size_t i = 0; i < shown; ++i) {
    text += indent + format_diagnostic(result.diagnostics[i]) + "\n";
  }
  if (const size_t rest = result.diagnostics.size() - shown; rest > 0) {
    text += indent + "and " + std::to_string(rest) + " more\n";
  }
}

/// A device in the main job's document.
struct DeviceLine {
  int index = 0;
  std::string name, driver, uuid;
  bool software = false;
};
KBENCH_FIELDS(DeviceLine, index, name, driver, uuid, software)

DeviceLine line_of(const vulkan::DeviceSnapshot& device) {
  return {device.index, device.name, device.driver, vulkan::to_string(device.device_uuid),
          device.software()};
}

/// A file that belongs to no task.
struct UnusableLine {
  std::string set, candidate;
  Verdict verdict = Verdict::invalid_candidate;
  std::string message;
};
KBENCH_FIELDS(UnusableLine, set, candidate, verdict, message)

struct JobDocument {
  std::string version;
  DeviceLine device;
  std::vector<DeviceLine> devices;
  std::string preset;
  DType dtype = DType::f32;
  std::string baseline;
  size_t done_before = 0;
  std::vector<Result> results;
  std::vector<UnusableLine> unusable;
  std::vector<LeaderboardRow> leaderboard;
};
KBENCH_FIELDS(JobDocument, version, device, devices, preset, dtype, baseline, done_before, results,
              unusable, leaderboard)

/// A kind of device, with how many results it made.
struct KindLine {
  std::string name;
  bool software = false;
  int results = 0;
};
KBENCH_FIELDS(KindLine, name, software, results)

struct ScoreDocument {
  std::string version;
  std::vector<std::string> files;
  std::vector<KindLine> devices;
  std::set<std::string> presets, dtypes;
  std::vector<Result> results;
  std::vector<LeaderboardRow> leaderboard;
};
KBENCH_FIELDS(ScoreDocument, version, files, devices, presets, dtypes, results, leaderboard)

/// "my/rope, level1/2, 4-11, level2/1", of tasks in order.
std::string in_ranges(const std::vector<TaskId>& tasks) {
  std::string text;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const TaskId first = tasks[i];
    const bool new_level = i == 0 || first.level != tasks[i - 1].level || !first.own.empty();
    while (i + 1 < tasks.size() && tasks[i + 1].level == first.level &&
           tasks[i + 1].number == tasks[i].number + 1) {
      ++i;
    }
    text +=
        (text.empty() ? "" : ", ") + (new_level ? to_string(first) : std::to_string(first.number));
    if (tasks[i].number > first.number) text += "-" + std::to_string(tasks[i].number);
  }
  return text;
}

/// What to compare a speedup on this task with; empty if nothing was measured.
std::string best_measured_text(const Algebra& algebra, const Result& result) {
  if (result.preset.empty()) return "";
  const Result* best = best_measured(algebra, preset_from_name(result.preset), result.dtype);
  if (best == nullptr) return "";
  return "; that reached " + format_number(best->speedup.point) + "x on " + best->device;
}

/// "task 0.62 s, sample 0.38 s": stages of a millisecond or more, in order.
std::string format_stages(const Result& r) {
  constexpr double kWorthSaying = 1e-3;
  std::string text;
  for (const char* stage :
       {"start", "in_vain", "open", "load", "task", "compile", "import", "queue", "wait",
        "opponent", "warm_up", "sample", "profile", "finish", "other_sizes", "drawn_sizes"}) {
    const auto found = r.stage_s.find(stage);
    if (found == r.stage_s.end() || found->second < kWorthSaying) continue;
    if (!text.empty()) text += ", ";
    text += std::string(stage) + " " + format_number(found->second) + " s";
  }
  return text;
}

/// "right at 4 of 6 other sizes; at N=67: wrong_values: ..."
std::string holds_at_text(const HoldsAt& holds_at) {
  std::string text = "right at " + std::to_string(holds_at.right) + " of " +
                     std::to_string(holds_at.tried) + " other sizes";
  if (!holds_at.first_wrong) return text;
  const WrongAt& wrong = *holds_at.first_wrong;
  const std::string sizes = listed(
      wrong.sizes, [](const auto& size) { return size.first + "=" + to_string(size.second); });
  return text + "; at " + sizes + ": " + std::string(name_of(wrong.verdict)) +
         (wrong.message.empty() ? "" : ": " + shown_message(wrong.message));
}

/// "0.93 [0.92, 0.94] at N=513".
std::string least_text(const Workloads& workloads) {
  const auto least = std::ranges::min_element(
      workloads.each, {}, [](const Workload& each) { return each.speedup.point; });
  const std::string sizes = listed(
      least->sizes, [](const auto& size) { return size.first + "=" + to_string(size.second); });
  return format_speedup(workloads.least) + " at " + sizes;
}

/// "matmul: num_warps 8, BLOCK 64 in 0.12 ms, the fastest of 4 (slowest 0.31 ms)".
std::string format_tuning(const TunedKernel& tuned) {
  const TunedConfig& chosen = tuned.configs.at(static_cast<size_t>(tuned.chosen));
  const auto slowest = std::ranges::max_element(tuned.configs, {}, &TunedConfig::ms);
  return shown(tuned.kernel) + ": " + shown(chosen.text) + " in " + format_ms(chosen.ms) +
         ", chosen of " + std::to_string(tuned.configs.size()) + " (slowest " +
         format_ms(slowest->ms) + ")";
}

}  // namespace

std::string format_meanings(const std::set<Verdict>& verdicts) {
  std::string text;
  for (const Verdict verdict : verdicts) {
    text += std::string(name_of(verdict)) + ": " + std::string(explain(verdict)) + "\n";
  }
  return text;
}

std::string format_failures(std::span<const Result> results, std::span<const Result> unusable) {
  std::vector<const Result*> failed;
  std::map<std::string, std::vector<TaskId>> missing;
  for (const Result& result : results) {
    if (result.verdict == Verdict::missing) {
      missing[result.set].push_back(result.task);
    } else if (!result.correct()) {
      failed.push_back(&result);
    }
  }
  for (const Result& result : unusable) failed.push_back(&result);
  size_t count = failed.size();
  for (const auto& [set, tasks] : missing) count += tasks.size();
  if (count == 0) return "";

  size_t set_width = 0, task_width = 0;
  for (const auto& [set, tasks] : missing) set_width = std::max(set_width, shown(set).size());
  for (const Result* result : failed) {
    set_width = std::max(set_width, shown(result->set).size());
    task_width = std::max(task_width, task_label(*result).size());
  }
  std::string text = "Not passed: " + std::to_string(count) + "\n";
  for (auto& [set, tasks] : missing) {
    std::ranges::sort(tasks);
    text += "  " + padded(shown(set), set_width) + "  " + std::string(name_of(Verdict::missing)) +
            ": no candidate for " + std::to_string(tasks.size()) +
            (tasks.size() == 1 ? " task: " : " tasks: ") + shown_message(in_ranges(tasks)) + "\n";
  }
  for (const Result* result : failed) {
    text += "  " + padded(shown(result->set), set_width) + "  " +
            padded(task_label(*result), task_width) + "  " + coloured_name(result->verdict);
    if (!result->message.empty()) text += ": " + shown_message(result->message);
    text += "\n";
    append_diagnostics(text, *result, kDiagnosticsShown, "      ");
  }
  std::set<Verdict> verdicts;
  for (const Result* result : failed) verdicts.insert(result->verdict);
  return text + format_meanings(verdicts);
}

std::string format_line(const Result& r, const std::string& candidate) {
  constexpr size_t kVerdict = 19, kSpeedup = 22, kTime = 12, kTask = 11;
  const bool timed = r.correct() && r.samples > 0;
  const std::string_view verdict = name_of(r.verdict);
  const size_t gap = kVerdict - std::min(verdict.size(), kVerdict - 2);
  return coloured_name(r.verdict) + std::string(gap, ' ') +
         padded(timed ? format_speedup(r.speedup) : "", kSpeedup) +
         padded(timed ? format_ms(r.candidate_ms) : "", kTime) +
         padded(r.task_name.empty() ? "" : to_string(r.task) + " ", kTask) + shown(candidate) +
         "\n";
}

std::string format_result(const Result& r, const std::string& candidate, Detail detail) {
  const bool full = detail == Detail::full;
  std::string text = (r.task_name.empty() ? "" : task_label(r) + "  ") + shown(candidate) + "\n";
  const auto line = [&](const char* what, const std::string& value) {
    text += "  " + padded(what, 12) + value + "\n";
  };
  line("verdict", coloured_name(r.verdict) + ": " + std::string(explain(r.verdict)));
  if (!r.message.empty() && !repeats_diagnostic(r)) line("message", shown_message(r.message));
  text += format_diagnostics(r, candidate, "    ");
  if (!r.preset.empty()) {
    std::string sizes = preset_in_words(r.preset, r.dtype);
    for (const auto& [name, value] : r.variables) sizes += " " + name + "=" + to_string(value);
    line("sizes", sizes);
  }
  if (!r.device.empty()) line("device", r.device);
  if (proves_nothing(r)) line("check", std::string(explain_certificate(r.certificate)));
  if (r.holds_at) line("general", holds_at_text(*r.holds_at));
  if (r.sanitized) {
    for (const auto& each : r.sanitized->findings) line("sanitized", shown_message(in_words(each)));
    for (const auto& each : r.sanitized->unknown) line("sanitized", shown_message(each));
    const std::string clean = listed(r.sanitized->clean, std::identity());
    if (!clean.empty()) line("sanitized", clean + ": clean at preset " + r.sanitized->preset);
  }
  if (!r.library_calls.empty()) {
    const std::string share =
        r.own_kernels ? format_number(100 * *r.own_kernels) + "% of its time in its own kernels, "
                      : "";
    line("calls", share + "uses " + shown_message(listed(r.library_calls, std::identity())));
  }
  if (!r.made_for.empty()) {
    line("made for", shown_message(listed(r.made_for, std::identity())));
  }
  if (r.lane == "cuda") line("launched", "by CUDA's own driver, beside the baseline's Vulkan");
  for (const TunedKernel& tuned : r.tuning) line("tuned", format_tuning(tuned));
  if (r.samples > 0) {
    if (r.correct()) line("speedup", format_speedup(r.speedup) + " over " + r.baseline);
    if (r.workloads) {
      line("geomean", format_speedup(r.workloads->geomean) + " of " +
                          counted(r.workloads->each.size(), "further size"));
      line("least", least_text(*r.workloads));
    }
    line("candidate",
         format_ms(r.candidate_ms) + (full ? ", " + format_number(r.gbytes_per_s) + " GB/s, " +
                                                 format_number(r.tflops) + " TFLOP/s"
                                           : ""));
    line("baseline", format_ms(r.baseline_ms) + (r.opponent.empty() ? "" : " by " + r.opponent));
    if (!r.opponent_finding.empty()) line("", "its values: " + r.opponent_finding);
    if (r.busy) {
      line("busy", "other processes kept the processors busy: the times may be off");
    }
    if (const Algebra* known = lookup_algebra(r.task)) {
      line("algebra", "this task can be rewritten" + best_measured_text(*known, r));
    }
    if (r.setup_ms > 0) line("setup", format_ms(r.setup_ms) + ", once, not in the speedup");
    line("samples",
         std::to_string(r.samples) + ", each checked; largest error " + format_number(r.max_error));
  }
  constexpr double kWorthSaying = 0.01;  // seconds
  line("took",
       format_number(r.wall_s) + " s" +
           (r.compile_s >= kWorthSaying ? ", " + format_number(r.compile_s) + " s of it compiling"
                                        : ""));
  if (full) {
    if (const std::string stages = format_stages(r); !stages.empty()) line("stages", stages);
  }
  return text;
}

std::string format_scores(const std::string& table, std::span<const LeaderboardRow> rows,
                          const std::string& software, const std::string& failures) {
  std::string text = "\n" + table;
  if (const std::string note = untried_note(rows); !note.empty()) text += "\n" + note;
  if (!software.empty()) text += "\n" + software_warning(software) + "\n" + busy_note(rows);
  if (!failures.empty()) text += "\n" + failures;
  return text;
}

std::string job_json(const Job& job, const std::vector<Result>& results,
                     const std::vector<LeaderboardRow>& rows) {
  JobDocument document{
      .version = version(),
      .device = line_of(job.device),
      .devices = {},
      .preset = std::string(name_of(job.preset)),
      .dtype = job.asked.dtype,
      .baseline = job.asked.recorded ? job.asked.recorded->label() : name_of(job.asked.opponent),
      .done_before = job.done_before(),
      .results = results,
      .unusable = {},
      .leaderboard = rows};
  for (const vulkan::DeviceSnapshot& device : job.devices) {
    document.devices.push_back(line_of(device));
  }
  for (const Result& result : job.unusable) {
    document.unusable.push_back({result.set, result.candidate, result.verdict, result.message});
  }
  return json_document(document);
}

std::string score_json(const std::vector<std::string>& files, const std::vector<Result>& results,
                       const std::vector<LeaderboardRow>& rows) {
  ScoreDocument document{.version = version(),
                         .files = files,
                         .devices = {},
                         .presets = {},
                         .dtypes = {},
                         .results = results,
                         .leaderboard = rows};
  for (const auto& [name, count] : device_kinds(results)) {
    const auto first = std::ranges::find_if(results, [&](const Result& result) {
      return result.device == name && result.verdict != Verdict::missing;
    });
    document.devices.push_back({name, first->software_device, count});
  }
  for (const Result& result : results) {
    document.presets.insert(result.preset);
    document.dtypes.emplace(name_of(result.dtype));
  }
  return json_document(document);
}

std::string results_json(const std::vector<Result>& results) {
  return results.size() == 1 ? json_document(results.front()) : json_document(results);
}

}  // namespace kbench::program
