// The compiler's text as diagnostics.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::vulkan {

/// How many diagnostics are kept, half of them for errors and half for the rest; and how much of
/// each.
inline constexpr size_t kMostDiagnostics = 50;
inline constexpr size_t kMostMessageBytes = 4096;

/// Reads "FILE:LINE: SEVERITY: MESSAGE" lines, as shaderc writes them. Lines of `file` itself are
/// counted from `first_line`; a line of another form continues the message before it. Files and
/// messages come out escaped and cut (kbench/text.h); a file is only ever a name to show, as a
/// #line directive may claim any. Where some are left out a last note counts them.
std::vector<Diagnostic> parse_diagnostics(const std::string& text, const std::string& file,
                                          int first_line);

}  // namespace kbench::vulkan
