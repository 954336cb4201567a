// The source text that a kernel's compiler is given.
#pragma once

#include <string>

#include "kbench/candidate.h"

namespace kbench::runner {

/// The source with the definition of KB_REAL, where it is used, and the preamble after its #version
/// line, or at its start if it has none. In compilers' messages lines of the source keep their
/// numbers, and lines of the preamble have the manifest's, in a file named "FILE (preamble)".
std::string kernel_text(const ResolvedKernel& resolved);

}  // namespace kbench::runner
