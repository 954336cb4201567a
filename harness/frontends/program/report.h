// What the program says about results.
#pragma once

#include <span>
#include <string>

#include "harness/frontends/program/job.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"
#include "kbench/score.h"

namespace kbench::program {

/// What failed and why: set, task, verdict, message, the first diagnostics; the tasks that a set
/// has no candidate for in one line. Empty when nothing did.
std::string format_failures(std::span<const Result> results, std::span<const Result> unusable);

/// One result in full, for `kbench run`; `candidate` is its file.
std::string format_result(const Result& result, const std::string& candidate);

/// The line that says a CPU was timed.
std::string software_warning(const std::string& device);

/// The one document of --json.
std::string job_json(const Job& job, std::span<const Result> results,
                     std::span<const LeaderboardRow> rows);

/// The document of kbench score --json.
std::string score_json(std::span<const std::string> files, std::span<const Result> results,
                       std::span<const LeaderboardRow> rows);

/// One result, or several as a list, as JSON text.
std::string results_json(std::span<const Result> results);

}  // namespace kbench::program
