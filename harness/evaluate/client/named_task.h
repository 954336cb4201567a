// Which task and type a candidate says that it is for, before a judge has parsed it.
#pragma once

#include <optional>

#include "kbench/candidate_source.h"
#include "kbench/task.h"

namespace kbench::client {

/// The task that the candidate's manifest names, found line by line without parsing the manifest
/// (manifest_outline.h); null if it names none of this build's, or cannot be read. Good for
/// grouping requests and for checking sizes early. The task that is judged is the one that the
/// locked-in runner has parsed.
const Task* named_task(const CandidateSource& source);
/// The same by its name alone, which this process need not know.
std::optional<TaskId> named_task_id(const CandidateSource& source);
/// The one type that the manifest says the candidate is written for, found in the same way; nothing
/// where it names none or several.
std::optional<DType> named_dtype(const CandidateSource& source);

}  // namespace kbench::client
