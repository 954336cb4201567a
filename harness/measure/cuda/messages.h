// What NVIDIA's compilers say, as diagnostics.
#pragma once

#include <string>
#include <vector>

#include "kbench/result.h"

namespace kbench::cuda {

/// Reads "FILE(LINE): error: MESSAGE" as NVRTC writes it. Lines of `file` itself are counted from
/// `first_line`; lines behind a message (the source, a caret) continue it.
std::vector<Diagnostic> parse_nvrtc_log(const std::string& log, const std::string& file,
                                        int first_line);

/// Reads "ptxas application ptx input, line 12; error   : MESSAGE" as the PTX assembler writes it.
std::vector<Diagnostic> parse_ptxas_log(const std::string& log, const std::string& file,
                                        int first_line);

}  // namespace kbench::cuda
