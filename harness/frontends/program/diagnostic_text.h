// Formats a result's diagnostics, each once, with the source line it is about.
#pragma once

#include <string>

#include "kbench/result.h"

namespace kbench::program {

/// Each on a line that begins with `indent`; below it the quoted source line, with a caret under
/// the name that the message quotes. `candidate`: its file or folder; if that cannot be read, no
/// lines are quoted.
std::string format_diagnostics(const Result& result, const std::string& candidate,
                               const std::string& indent);

/// Whether the result's message repeats its first error.
bool repeats_diagnostic(const Result& result);

}  // namespace kbench::program
