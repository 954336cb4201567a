// PTX for the assembler, printed anew from the statements that were checked.
#pragma once

#include <string>

#include "harness/measure/cuda/ptx.h"

namespace kbench::cuda {

/// The module's statements as PTX, each on the line that it came from. Comments, lines, files and
/// debug sections are not among them. The names of registers begin with "%_" ("%$" where they began
/// with no '%'), so that none is the name of a special register that the rules do not know, or of a
/// variable. An indexed branch is held to the number of its targets.
std::string print_ptx(const PtxModule& module);

/// A message of the assembler, with registers by the names that their author gave them.
std::string with_own_names(std::string message);

}  // namespace kbench::cuda
