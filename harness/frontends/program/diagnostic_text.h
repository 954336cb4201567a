// A result's diagnostics as a person reads them: each once, with the line it is about.
#pragma once

#include <string>

#include "kbench/result.h"

namespace kbench::program {

/// Each on a line that begins with `indent`; below it the candidate's own line, quoted, with a
/// caret under the name that the message quotes. `candidate`: its file or folder; no lines are
/// quoted where that cannot be read.
std::string format_diagnostics(const Result& result, const std::string& candidate,
                               const std::string& indent);

/// Whether the result's message is its first error again.
bool repeats_diagnostic(const Result& result);

}  // namespace kbench::program
