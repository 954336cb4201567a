// Reading an answer without a device.
#pragma once

#include <string>

#include "kbench/candidate.h"
#include "kbench/episode.h"

namespace kbench {

/// Extraction, form, the policy on built-in steps, names and shapes at the sizes asked for.
Reading read_answer(const Answer& answer, const Task& task, const EpisodeOptions& options);
/// Only the files of an answer.
CandidateFiles read_files(const Answer& answer, const Task& task, const EpisodeOptions& options);
/// The result of an answer that is refused without a device.
Result unjudged(const Task& task, const EpisodeOptions& options, const std::string& message);

/// Whether a kernel of dispatch may write what reaches an output: an output itself, or a temporary
/// that later steps read on the way to one, before a built-in step overwrites all of it. Decided by
/// the buffers that steps name: whether a kernel changes a buffer that it names is not known.
bool own_kernel_reaches_output(const ResolvedCandidate& candidate);

}  // namespace kbench
