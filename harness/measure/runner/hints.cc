#include "harness/measure/runner/hints.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "harness/measure/runner/resolved.h"
#include "harness/measure/vulkan/spirv_flow.h"
#include "kbench/error.h"
#include "libkbench/base/text.h"

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

constexpr size_t kMostNotes = 8;

std::string_view line_of(std::string_view text, int number) {
  for (int line = 1; line < number; ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// The line of the author's files that a diagnostic is about; empty if it is about none of them.
std::string_view line_of(const Diagnostic& diagnostic, const Kernel& kernel,
                         const Candidate& candidate) {
  if (diagnostic.line < 1) return {};
  if (diagnostic.file == shown(kernel.file)) {
    return line_of(kernel.source, diagnostic.line - kernel.first_line + 1);
  }
  for (const auto& [path, text] : candidate.includes) {
    if (diagnostic.file.ends_with(path)) return line_of(text, diagnostic.line);
  }
  return {};
}

/// Whether it looks like the name of a macro.
bool is_like_a_macro(std::string_view word) {
  return word.size() > 1 && std::isalpha(static_cast<unsigned char>(word[0])) != 0 &&
         !word.starts_with("GL_") &&
         std::ranges::none_of(word, [](unsigned char c) { return std::islower(c) != 0; });
}

/// Whether a text has `#define WORD`.
bool defines(std::string_view text, std::string_view word) {
  for (size_t at = text.find("define"); at != text.npos; at = text.find("define", at + 1)) {
    if (find_word(text.substr(at, text.find('\n', at) - at), word) != text.npos) return true;
  }
  return false;
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

void add_define_notes(const ResolvedKernel& resolved, const Candidate& candidate, size_t first,
                      std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *resolved.kernel;
  const auto what_is = [&](std::string_view word, bool syntax) -> std::string {
    for (const auto& [macro, text] : resolved.macros) {
      if (std::string_view(macro).substr(0, macro.find('(')) != word) continue;
      return " in that line is a macro: " + (text.empty() ? "nothing" : shown(text));
    }
    const bool defined = defines(kernel.source, word) ||
                         std::ranges::any_of(candidate.includes, [&](const auto& file) {
                           return defines(file.second, word);
                         });
    if (!syntax || !is_like_a_macro(word) || defined) return "";
    return " is defined nowhere: neither in the shader nor, as a macro, by the manifest's "
           "`defines` "
           "or `constants`";
  };
  std::set<std::string> told;
  const size_t last = diagnostics.size();
  for (size_t i = first; i < last; ++i) {
    const Diagnostic error = diagnostics[i];
    if (error.severity != "error") continue;
    const bool syntax = error.message.find("syntax error") != std::string::npos;
    for (const std::string_view word : words_in(line_of(error, kernel, candidate))) {
      const std::string what = what_is(word, syntax);
      if (what.empty() || told.size() >= kMostNotes || !told.emplace(word).second) continue;
      diagnostics.push_back({.severity = "note",
                             .file = error.file,
                             .line = error.line,
                             .message = "'" + shown(std::string(word), 100) + "'" + what});
    }
  }
}

}  // namespace kbench::runner
