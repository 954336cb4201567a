// Hints for the author of a candidate: notes on compilers' errors in lines that use macros, and
// warnings about what is allowed but mostly a mistake: buffers that nothing reads, one invocation a
// workgroup, barriers that some invocations may not reach.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/measure/runner/shader_interface.h"
#include "harness/measure/vulkan/spirv.h"
#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::runner {

/// About inputs and parameters of the task that no step uses.
void warn_of_unread(const ResolvedCandidate& candidate, std::vector<Diagnostic>& diagnostics);

/// About a shader by itself. `spirv` is the module that runs.
void warn_of_shader(const ResolvedKernel& kernel, const Candidate& candidate,
                    const vulkan::Spirv& spirv, const vulkan::SpirvFacts& facts,
                    std::vector<Diagnostic>& diagnostics);

/// About buffers that a step binds and its shader does not use.
void warn_of_launch(const ResolvedCandidate& candidate, const ResolvedStep& step,
                    const ShaderLaunch& launch, std::vector<Diagnostic>& diagnostics);

/// Adds notes to the diagnostics from `first` on: for each line with an error, what the candidate's
/// macros in that line stand for. Where a macro is not defined, the compiler reports a syntax error
/// that does not name it; so a note also lists the words of the line that look like such macros.
void add_define_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace kbench::runner
