#include "harness/measure/runner/launch_warnings.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "harness/measure/runner/steps.h"
#include "harness/measure/vulkan/spirv_flow.h"
#include "kbench/text.h"

namespace kbench::runner {
namespace {

/// Adds a warning, unless it is there already.
void warn(const Location& at, const std::string& message, std::vector<Diagnostic>& diagnostics) {
  const bool told = std::ranges::any_of(diagnostics, [&](const Diagnostic& each) {
    return each.severity == "warning" && each.message == message;
  });
  if (told) return;
  diagnostics.push_back({.severity = "warning",
                         .file = shown(at.file),
                         .line = at.line,
                         .column = at.column,
                         .message = message});
}

/// The first line of a kernel's source with the word; else the kernel's place in the manifest.
Location line_with(const Kernel& kernel, std::string_view word) {
  const size_t found = kernel.source.find(word);
  if (found == std::string::npos) return kernel.at;
  const auto newlines = std::count(
      kernel.source.begin(), kernel.source.begin() + static_cast<std::ptrdiff_t>(found), '\n');
  return {kernel.file, kernel.first_line + static_cast<int>(newlines), 0};
}

}  // namespace

void warn_of_unread(const ResolvedCandidate& candidate, std::vector<Diagnostic>& diagnostics) {
  std::set<int> given;
  for (const ResolvedStep* step : all_steps(candidate)) {
    given.insert(step->bind.begin(), step->bind.end());
    for (const auto& [offset, buffer] : step->addresses) given.insert(buffer);
    for (const ResolvedArgument& argument : step->arguments) given.insert(argument.buffer);
  }
  for (size_t i = 0; i < candidate.buffers.size(); ++i) {
    const BufferSlot& buffer = candidate.buffers[i];
    const bool input = buffer.kind == BufferSlot::Kind::input;
    if ((!input && buffer.kind != BufferSlot::Kind::parameter) ||
        given.contains(static_cast<int>(i)))
      continue;
    warn(candidate.candidate->dispatch_at,
         std::string("no step reads the task's ") + (input ? "input " : "parameter ") +
             shown(buffer.name, 60),
         diagnostics);
  }
}

void warn_of_shader(const ResolvedKernel& resolved, const Candidate& candidate,
                    const vulkan::Spirv& spirv, const vulkan::SpirvFacts& facts,
                    std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *resolved.kernel;
  const std::string name = "kernel " + shown(kernel.name, 60);
  const bool hlsl = kernel.language == Kernel::Language::hlsl;
  const uint64_t invocations =
      uint64_t{facts.local_size[0]} * facts.local_size[1] * facts.local_size[2];
  if (invocations == 1) {
    const char* const word = hlsl ? "numthreads" : "local_size";
    const auto has = [&](const std::string& text) { return text.find(word) != std::string::npos; };
    const bool said =
        kernel.language == Kernel::Language::spirv || has(kernel.source) ||
        std::ranges::any_of(candidate.includes, [&](const auto& each) { return has(each.second); });
    if (!said) {
      warn(kernel.at,
           name + " does not say its local size, so that a workgroup is one invocation: " +
               (hlsl ? "[numthreads(64, 1, 1)] before the entry point"
                     : "layout(local_size_x = 64) in;"),
           diagnostics);
    }
    return;  // With one invocation, barriers do not matter.
  }
  const char* const barrier = hlsl ? "WithGroupSync" : "barrier()";
  const vulkan::SkippedBarriers skipped = vulkan::skipped_barriers(vulkan::SpirvModule(spirv));
  if (skipped.behind_return) {
    warn(line_with(kernel, barrier),
         name +
             " has a barrier that may be skipped: some invocations of a workgroup may have "
             "returned before, and all have to reach it",
         diagnostics);
  } else if (skipped.in_branch) {
    warn(line_with(kernel, barrier),
         name +
             " has a barrier that may be skipped: it stands in a branch or a loop that some "
             "invocations of a workgroup may not enter, and all have to reach it",
         diagnostics);
  }
}

void warn_of_launch(const ResolvedCandidate& candidate, const ResolvedStep& step,
                    const ShaderLaunch& launch, std::vector<Diagnostic>& diagnostics) {
  std::set<int> used;
  for (const ShaderLaunch::Slot& slot : launch.slots) used.insert(slot.bind);
  const Kernel& kernel = *candidate.kernels[static_cast<size_t>(step.kernel)].kernel;
  for (size_t i = 0; i < step.bind.size(); ++i) {
    if (used.contains(static_cast<int>(i))) continue;
    const BufferSlot& buffer = candidate.buffers[static_cast<size_t>(step.bind[i])];
    warn(step.at,
         "binds " + shown(buffer.name, 60) + ", which kernel " + shown(kernel.name, 60) +
             " does not use: its shader has nothing there, or never reads it",
         diagnostics);
  }
}

}  // namespace kbench::runner
