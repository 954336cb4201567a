// Where a compiler's error stands on a macro of the manifest: which, and what it is.
#pragma once

#include <cstddef>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::runner {

/// Adds a note for each constant and each macro of `defines` that stands in a line with an error;
/// errors are those from `first` on.
void add_define_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace kbench::runner
