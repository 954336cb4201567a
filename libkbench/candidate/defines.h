// Macros that kernels are compiled with: those of the manifest, and KB_REAL.
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

// KB_REAL: the type that a task's floats have in memory, by one name in every precision.

/// Text for a kernel's compiler, to stand before its source (in GLSL behind #version): the types
/// KB_REAL, KB_REAL2 and KB_REAL4, and KB_TO_FLOAT(x) and KB_FROM_FLOAT(v) with 2 and 4 behind
/// their names for vectors. Empty where neither the kernel's text nor a file that the candidate
/// includes says one of these names, and for languages without macros. In CUDA C++ KB_REAL is
/// __half or __nv_bfloat16 where the kernel includes the toolkit's header of that type, else a
/// structure of 16 bits that takes no header.
std::string real_names(const Kernel& kernel, const Candidate& candidate, DType dtype);

}  // namespace kbench
