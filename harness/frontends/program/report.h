// Formats results.
#pragma once

#include <span>
#include <string>

#include "harness/frontends/program/job.h"
#include "kbench/evaluate.h"
#include "kbench/result.h"
#include "kbench/score.h"

namespace kbench::program {

/// The failures: set, task, verdict, message, the first diagnostics; missing candidates are summed
/// up in one line for each set. Empty if nothing failed.
std::string format_failures(std::span<const Result> results, std::span<const Result> unusable);

/// It passed, where a shortcut is known to pass, too, or none was tried (kbench/certificate.h).
bool passed_uncertified(const Result& result);
/// One result in full, for `kbench run`; `candidate`: its file.
std::string format_result(const Result& result, const std::string& candidate);

/// The warning that a CPU was timed.
std::string software_warning(const std::string& device);

/// The document of --json.
std::string job_json(const Job& job, std::span<const Result> results,
                     std::span<const LeaderboardRow> rows);

/// The document of `kbench score --json`.
std::string score_json(std::span<const std::string> files, std::span<const Result> results,
                       std::span<const LeaderboardRow> rows);

/// One result, or a list of several, as JSON.
std::string results_json(std::span<const Result> results);

}  // namespace kbench::program
