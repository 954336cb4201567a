// Macros from the manifest, as kernels are compiled with them.
#pragma once

#include <cstddef>
#include <string>

#include "kbench/candidate.h"

namespace kbench {

/// "ld" of "ld(b,i)".
std::string macro_name(const std::string& define);

/// Adds a kernel's macros behind its constants, its own in place of the candidate's; languages
/// without a preprocessor take none. Throws kParse where one has a constant's name. Returns how
/// many bytes of text it added.
size_t add_defines(const Candidate& candidate, const Kernel& kernel, ResolvedKernel& resolved);

}  // namespace kbench
