// Macros from the manifest, as kernels are compiled with them.
#pragma once

#include <cstddef>
#include <string>

#include "kbench/candidate.h"

namespace kbench {

/// "ld" of "ld(b,i)".
std::string macro_name(const std::string& define);

/// Adds a kernel's macros behind its constants; its own replace the candidate's of the same name.
/// Languages without a preprocessor get none. Throws kParse where a macro has a constant's name.
/// Returns the number of bytes of text added.
size_t add_defines(const Candidate& candidate, const Kernel& kernel, ResolvedKernel& resolved);

}  // namespace kbench
