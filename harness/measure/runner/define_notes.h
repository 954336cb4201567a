// Notes on compilers' errors in lines that use macros.
#pragma once

#include <cstddef>
#include <vector>

#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::runner {

/// For each line with an error adds what the candidate's macros in it are, and, as a compiler
/// reports a syntax error without the name, which words look like macros that nobody defines. Looks
/// at the diagnostics from `first` on.
void add_define_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace kbench::runner
