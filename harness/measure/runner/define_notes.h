// Notes on compilers' errors in lines that use the manifest's macros.
#pragma once

#include <cstddef>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::runner {

/// Adds a note with the definition of each constant and `defines` macro that a line with an error
/// uses. Looks at the diagnostics from `first` on.
void add_define_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace kbench::runner
