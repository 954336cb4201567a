// Formats results, and their diagnostics, each once with the source line that it is about.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/frontends/program/job.h"
#include "kbench/result.h"
#include "kbench/score.h"

namespace kbench::program {

/// The failures: set, task, verdict, message, the first diagnostics; missing candidates are summed
/// up in one line for each set. Empty if nothing failed.
std::string format_failures(std::span<const Result> results, std::span<const Result> unusable);

/// A line for each verdict, with what it means.
std::string format_meanings(const std::set<Verdict>& verdicts);

/// A line of one result: verdict, speedup, time, and `candidate`, its file.
std::string format_line(const Result& result, const std::string& candidate);
enum class Detail { brief, full };  ///< full: with rates and the stages of its time
/// One result in a block of lines, for `kbench run`; `candidate`: its file.
std::string format_result(const Result& result, const std::string& candidate, Detail detail);

/// A table of scores, and below it what else is to be said of them. `software`: the CPU that was
/// timed; empty: none was. `failures`: format_failures().
std::string format_scores(const std::string& table, std::span<const LeaderboardRow> rows,
                          const std::string& software, const std::string& failures);

/// The main job's document of --json.
std::string job_json(const Job& job, const std::vector<Result>& results,
                     const std::vector<LeaderboardRow>& rows);

/// The document of `kbench report --json` on files of results.
std::string score_json(const std::vector<std::string>& files, const std::vector<Result>& results,
                       const std::vector<LeaderboardRow>& rows);

/// One result, or a list of several, as JSON.
std::string results_json(const std::vector<Result>& results);

/// Each on a line that begins with `indent`; below it the quoted source line, with a caret under
/// the name that the message quotes. `candidate`: its file or folder; if that cannot be read, no
/// lines are quoted.
std::string format_diagnostics(const Result& result, const std::string& candidate,
                               const std::string& indent);

/// Whether the result's message repeats its first error.
bool repeats_diagnostic(const Result& result);

}  // namespace kbench::program
