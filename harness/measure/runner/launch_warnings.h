// What is no error in a candidate and mostly a mistake: buffers that no step reads, a shader that
// takes a tensor's elements for another type, barriers that some invocations may not reach.
#pragma once

#include <vector>

#include "harness/measure/runner/shader_interface.h"
#include "harness/measure/vulkan/spirv.h"
#include "harness/measure/vulkan/spirv_interface.h"
#include "kbench/candidate.h"
#include "kbench/result.h"

namespace kbench::runner {

/// Of the task's inputs and parameters: those that no step is given.
void warn_of_unread(const ResolvedCandidate& candidate, std::vector<Diagnostic>& diagnostics);

/// Of a shader by itself. `spirv` is the module that runs.
void warn_of_shader(const ResolvedKernel& kernel, const Candidate& candidate,
                    const vulkan::Spirv& spirv, const vulkan::SpirvFacts& facts,
                    std::vector<Diagnostic>& diagnostics);

/// Of a step beside its shader: what it binds twice or to no purpose, and element types.
void warn_of_launch(const ResolvedCandidate& candidate, const ResolvedStep& step,
                    const vulkan::ShaderInterface& interface, const ShaderLaunch& launch,
                    const vulkan::Spirv& spirv, std::vector<Diagnostic>& diagnostics);

}  // namespace kbench::runner
