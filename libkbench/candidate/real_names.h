// KB_REAL: the type that a task's floats have in memory, by one name in every precision.
#pragma once

#include <string>

#include "kbench/candidate.h"

namespace kbench {

/// Text for a kernel's compiler, to stand before its source (in GLSL behind #version): the types
/// KB_REAL, KB_REAL2 and KB_REAL4, and KB_TO_FLOAT(x) and KB_FROM_FLOAT(v) with 2 and 4 behind
/// their names for vectors. Empty where neither the kernel's text nor a file that the candidate
/// includes says one of these names, and for languages without macros. In CUDA C++ KB_REAL is
/// __half or __nv_bfloat16 where the kernel includes the toolkit's header of that type, else a
/// structure of 16 bits that takes no header.
std::string real_names(const Kernel& kernel, const Candidate& candidate, DType dtype);

}  // namespace kbench
