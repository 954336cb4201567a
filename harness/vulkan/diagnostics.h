// The compiler's text as diagnostics.
#pragma once

#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::vulkan {

/// Reads "FILE:LINE: SEVERITY: MESSAGE" lines, as shaderc writes them. Lines of `file` itself are
/// counted from `first_line`; a line of another form continues the message before it.
std::vector<Diagnostic> parse_diagnostics(const std::string& text, const std::string& file,
                                          int first_line);

}  // namespace kbench::vulkan
