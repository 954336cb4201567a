// A kernel's text as its compiler is given it.
#pragma once

#include <string>

#include "kbench/candidate.h"

namespace kbench::runner {

/// The source with the preamble behind its #version line, or before it where it has none. Compilers
/// count the source's lines as without it, and the preamble's as the manifest does, of a file that
/// is named "FILE (preamble)".
std::string kernel_text(const Kernel& kernel);

}  // namespace kbench::runner
