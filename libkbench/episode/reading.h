// Reading an answer without a device.
#pragma once

#include <string>

#include "kbench/episode.h"

namespace kbench {

/// Extraction, form, the policy on built-in steps, names and shapes at the sizes asked for.
Reading read_answer(const Answer& answer, const Task& task, const EpisodeOptions& options);
/// Only the files of an answer.
CandidateFiles read_files(const Answer& answer, const Task& task, const EpisodeOptions& options);
/// The result of an answer that is refused without a device.
Result unjudged(const Task& task, const EpisodeOptions& options, const std::string& message);

}  // namespace kbench
