#include "harness/measure/runner/launch_warnings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "harness/measure/runner/steps.h"
#include "harness/measure/vulkan/spirv_advice.h"
#include "kbench/text.h"

namespace kbench::runner {
namespace {

using vulkan::Resource;
using vulkan::Scalar;

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

bool is_float(DType type) { return type == DType::f32 || type == DType::f64 || type == DType::f16; }

uint32_t bits_of(DType type) { return 8 * static_cast<uint32_t>(size_of(type)); }

/// Whether a shader that declares such elements can mean a tensor of this type. `by_bits`: the
/// shader reinterprets the bits of some number.
bool may_hold(const vulkan::ElementType& element, DType type, bool by_bits) {
  const Scalar& number = element.number;
  const bool integer = number.kind == Scalar::Kind::sint || number.kind == Scalar::Kind::uint;
  if (number.kind == Scalar::Kind::floating) return is_float(type) && number.bits == bits_of(type);
  if (!integer) return true;  // addresses
  if (is_float(type)) return by_bits;
  if (type == DType::i64) {  // whole, or two words of it
    return number.bits == 64 || (number.bits == 32 && (element.together % 2 == 0 || by_bits));
  }
  if (type == DType::i32 || type == DType::u32) return number.bits == 32 || by_bits;
  return true;  // bytes and bfloat16: a shader may use words of any type
}

std::string resource_name(const Resource& resource) {
  const std::string& name = resource.block.empty() ? resource.name : resource.block;
  return name.empty() ? "binding " + std::to_string(resource.binding) : shown(name, 60);
}

/// A buffer that is bound twice under different types is read in two ways on purpose.
bool same_type(const std::map<uint32_t, vulkan::ElementType>& types, const Resource& a,
               const Resource& b) {
  const auto one = types.find(a.variable), other = types.find(b.variable);
  if (one == types.end() || other == types.end()) return false;
  return one->second.number == other->second.number &&
         one->second.together == other->second.together;
}

std::string kernel_name(const ResolvedCandidate& candidate, const ResolvedStep& step) {
  return shown(candidate.kernels[static_cast<size_t>(step.kernel)].kernel->name, 60);
}

void warn_of_bound_twice(const ResolvedCandidate& candidate, const ResolvedStep& step,
                         const vulkan::ShaderInterface& interface, const ShaderLaunch& launch,
                         const std::map<uint32_t, vulkan::ElementType>& types,
                         std::vector<Diagnostic>& diagnostics) {
  for (size_t i = 0; i < launch.slots.size(); ++i) {
    for (size_t j = i + 1; j < launch.slots.size(); ++j) {
      const ShaderLaunch::Slot &a = launch.slots[i], &b = launch.slots[j];
      if (a.bind < 0 || b.bind < 0 || a.bind == b.bind) continue;
      const int buffer = step.bind[static_cast<size_t>(a.bind)];
      const bool same = buffer == step.bind[static_cast<size_t>(b.bind)] && a.offset == b.offset;
      if (!same || !same_type(types, interface.resources[i], interface.resources[j])) continue;
      warn(step.at,
           "binds " + shown(candidate.buffers[static_cast<size_t>(buffer)].name, 60) +
               " twice, as " + resource_name(interface.resources[i]) + " and as " +
               resource_name(interface.resources[j]) + " of kernel " + kernel_name(candidate, step),
           diagnostics);
    }
  }
}

}  // namespace

void warn_of_unread(const ResolvedCandidate& candidate, std::vector<Diagnostic>& diagnostics) {
  std::set<int> given;
  for (const ResolvedStep* step : all_steps(candidate)) {
    given.insert(step->bind.begin(), step->bind.end());
    for (const auto& [offset, buffer] : step->addresses) given.insert(buffer);
    for (const ResolvedUniform& block : step->uniforms) {
      for (const ResolvedUniform::Field& field : block.fields) {
        for (const ResolvedNumber& value : field.values) given.insert(value.buffer);
      }
    }
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
        (kernel.preamble && has(kernel.preamble->text)) ||
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
  const vulkan::SpirvAdvice advice = vulkan::advise(spirv);
  if (advice.barrier_behind_return) {
    warn(line_with(kernel, barrier),
         name +
             " has a barrier that may be skipped: some invocations of a workgroup may have "
             "returned before, and all have to reach it",
         diagnostics);
  } else if (advice.barrier_in_branch) {
    warn(line_with(kernel, barrier),
         name +
             " has a barrier that may be skipped: it stands in a branch or a loop that some "
             "invocations of a workgroup may not enter, and all have to reach it",
         diagnostics);
  }
  if (advice.shared_without_barrier) {
    warn(line_with(kernel, hlsl ? "groupshared" : "shared"),
         name +
             " writes and reads shared memory and has no barrier: what other invocations wrote "
             "may not be there yet",
         diagnostics);
  }
}

void warn_of_launch(const ResolvedCandidate& candidate, const ResolvedStep& step,
                    const vulkan::ShaderInterface& interface, const ShaderLaunch& launch,
                    const vulkan::Spirv& spirv, std::vector<Diagnostic>& diagnostics) {
  const auto types = vulkan::element_types(spirv);
  const bool by_bits = vulkan::reads_bits(spirv);
  std::set<int> used;
  for (size_t i = 0; i < launch.slots.size(); ++i) {
    const int bind = launch.slots[i].bind;
    if (bind < 0) continue;
    used.insert(bind);
    const Resource& resource = interface.resources[i];
    const auto type = types.find(resource.variable);
    if (resource.kind != Resource::Kind::storage_buffer || type == types.end()) continue;
    const BufferSlot& buffer =
        candidate.buffers[static_cast<size_t>(step.bind[static_cast<size_t>(bind)])];
    // A data buffer holds words, which the shader may take for any type.
    const bool data = buffer.kind == BufferSlot::Kind::data;
    if (data || may_hold(type->second, buffer.type.dtype, by_bits)) continue;
    warn(step.at,
         "kernel " + kernel_name(candidate, step) + " takes the elements of " +
             shown(buffer.name, 60) + ", of type " + std::string(name_of(buffer.type.dtype)) +
             ", for " + vulkan::name_of(type->second.number) + " (" + resource_name(resource) + ")",
         diagnostics);
  }
  for (size_t i = 0; i < step.bind.size(); ++i) {
    if (used.contains(static_cast<int>(i))) continue;
    const BufferSlot& buffer = candidate.buffers[static_cast<size_t>(step.bind[i])];
    warn(step.at,
         "binds " + shown(buffer.name, 60) + ", which kernel " + kernel_name(candidate, step) +
             " does not use: its shader has nothing there, or never reads it",
         diagnostics);
  }
  warn_of_bound_twice(candidate, step, interface, launch, types, diagnostics);
}

}  // namespace kbench::runner
