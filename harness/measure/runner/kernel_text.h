// The source text that a kernel's compiler is given.
#pragma once

#include <string>

#include "kbench/candidate.h"

namespace kbench::runner {

/// The source with the definition of KB_REAL, where it is used, after its #version line, or at its
/// start if it has none. In compilers' messages lines of the source keep their numbers.
std::string kernel_text(const ResolvedKernel& resolved);

}  // namespace kbench::runner
