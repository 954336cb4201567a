#include "harness/trial/candidate_program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "harness/trial/kernel_rules.h"
#include "kbench/error.h"

namespace kbench::trial {
namespace {

using Clock = std::chrono::steady_clock;

vulkan::ShaderSource source_of(const ResolvedKernel& resolved, const Candidate* candidate) {
  const Kernel& kernel = *resolved.kernel;
  vulkan::ShaderSource source;
  source.language = kernel.language == Kernel::Language::hlsl
                        ? vulkan::ShaderSource::Language::hlsl
                        : vulkan::ShaderSource::Language::glsl;
  source.text = kernel.source;
  source.file = kernel.file;
  source.first_line = kernel.first_line;
  source.entry = kernel.entry;
  source.macros = resolved.macros;
  source.optimize = kernel.optimize;
  if (candidate) {
    source.include = [candidate](const std::string& name, const std::string& from) {
      return find_include(*candidate, name, from);
    };
  }
  return source;
}

std::string first_error(const std::vector<Diagnostic>& diagnostics, size_t from) {
  for (size_t i = from; i < diagnostics.size(); ++i) {
    const Diagnostic& d = diagnostics[i];
    if (d.severity == "error") return at(Location{d.file, d.line, d.column}) + d.message;
  }
  return "";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A refusal about a kernel: prefixed with where it stands and its name.
Refusal about(const Kernel& kernel, Refusal refusal) {
  refusal.message = at(kernel.at) + "kernel " + kernel.name + " " + refusal.message;
  return refusal;
}

}  // namespace

std::string at(const Location& location) {
  if (location.file.empty()) return "";
  std::string text = location.file + ":";
  if (location.line > 0) text += std::to_string(location.line) + ":";
  if (location.line > 0 && location.column > 0) text += std::to_string(location.column) + ":";
  return text + " ";
}

std::optional<Refusal> CandidateProgram::build(double seconds_limit,
                                               const std::vector<vulkan::EmbeddedKey>& beside,
                                               std::vector<Diagnostic>& diagnostics) {
  const auto start = Clock::now();
  const auto out_of_time = [&](const std::string& doing) -> std::optional<Refusal> {
    if (std::chrono::duration<double>(Clock::now() - start).count() <= seconds_limit) {
      return std::nullopt;
    }
    char limit[32];
    std::snprintf(limit, sizeof limit, "%.3g", seconds_limit);
    return Refusal{Verdict::timeout, doing + " took longer than " + limit + " s"};
  };
  kernels_.resize(candidate_.kernels.size());
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (auto refusal = compile(i, diagnostics)) return refusal;
    if (auto refusal = out_of_time("compiling kernel " + candidate_.kernels[i].kernel->name)) {
      return refusal;
    }
  }
  std::vector<vulkan::PipelineKey> keys;
  for (const auto* steps : {&candidate_.setup, &candidate_.dispatch}) {
    for (const ResolvedStep& step : *steps) {
      if (step.kernel >= 0) keys.push_back(pipeline_key(step));
    }
  }
  device_.pipelines().prepare(std::move(keys), beside);
  for (const ResolvedStep& step : candidate_.setup) {
    if (auto refusal = prepare(step, setup_)) return refusal;
  }
  for (const ResolvedStep& step : candidate_.dispatch) {
    if (auto refusal = prepare(step, dispatch_)) return refusal;
    if (auto refusal = out_of_time("making the candidate's pipelines")) return refusal;
  }
  return std::nullopt;
}

std::optional<Refusal> CandidateProgram::compile(size_t index,
                                                 std::vector<Diagnostic>& diagnostics) {
  const ResolvedKernel& resolved = candidate_.kernels[index];
  const kbench::Kernel& kernel = *resolved.kernel;
  Kernel& made = kernels_[index];
  if (kernel.language == kbench::Kernel::Language::spirv) {
    made.spirv = kernel.spirv;
  } else {
    const size_t before = diagnostics.size();
    vulkan::CompileOutcome outcome =
        device_.compiler().compile(source_of(resolved, candidate_.candidate));
    diagnostics.insert(diagnostics.end(), outcome.diagnostics.begin(), outcome.diagnostics.end());
    if (!outcome.ok()) {
      const std::string error = first_error(diagnostics, before);
      return Refusal{
          Verdict::compile_error,
          error.empty() ? at(kernel.at) + "kernel " + kernel.name + " does not compile" : error};
    }
    made.spirv = std::move(outcome.spirv);
  }
  try {
    made.facts = vulkan::inspect_spirv(made.spirv, resolved.specialization);
  } catch (const Error& e) {
    return about(kernel, {Verdict::compile_error, "is not a SPIR-V module: " + e.message()});
  }
  if (!uses_cooperative_matrix(made.facts)) {
    if (const std::string said = vulkan::validate_spirv(made.spirv); !said.empty()) {
      return about(kernel, {Verdict::compile_error, "is not valid SPIR-V: " + first_line(said)});
    }
  }
  const auto pushes_address = [&](const std::vector<ResolvedStep>& steps) {
    return std::any_of(steps.begin(), steps.end(), [&](const ResolvedStep& step) {
      return step.kernel == static_cast<int>(index) && !step.addresses.empty();
    });
  };
  const bool addresses = pushes_address(candidate_.setup) || pushes_address(candidate_.dispatch);
  if (auto refusal = check_module(made.facts, device_.snapshot(), device_.plan(), addresses)) {
    return about(kernel, *refusal);
  }
  const std::vector<std::string> entries = inspect_interface(made.spirv).entries;
  if (std::find(entries.begin(), entries.end(), kernel.entry) == entries.end()) {
    return about(kernel, {Verdict::compile_error,
                          "has no compute entry point named '" + kernel.entry + "'"});
  }
  if (made.facts.uses_float16 && float16_kernel_.empty()) float16_kernel_ = kernel.name;
  return std::nullopt;
}

std::optional<Refusal> CandidateProgram::prepare(const ResolvedStep& step,
                                                 std::vector<Step>& steps) {
  Step made;
  made.step = &step;
  try {
    if (step.kernel < 0) {
      made.call.emplace(device_, step.call);
      scratch_bytes_ = std::max(scratch_bytes_, static_cast<uint64_t>(made.call->scratch_bytes()));
    } else if (auto refusal = prepare_kernel(step, made)) {
      refusal->message = at(step.at) + refusal->message;
      return refusal;
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnsupported) throw;
    return Refusal{Verdict::unsupported, at(step.at) + e.message()};
  }
  steps.push_back(std::move(made));
  return std::nullopt;
}

std::optional<Refusal> CandidateProgram::prepare_kernel(const ResolvedStep& step, Step& made) {
  const auto index = static_cast<size_t>(step.kernel);
  const ResolvedKernel& resolved = candidate_.kernels[index];
  const Kernel& kernel = kernels_[index];
  const std::string& name = resolved.kernel->name;
  const vulkan::DeviceSnapshot& limits = device_.snapshot();
  const ShaderInterface interface = inspect_interface(kernel.spirv);
  if (auto refusal = check_interface(kernel.facts, interface, step.bind.size(), step.push.size())) {
    refusal->message = "kernel " + name + " " + refusal->message;
    return refusal;
  }
  if (step.bind.size() > limits.max_storage_buffers_per_stage) {
    return Refusal{Verdict::unsupported, "binds " + std::to_string(step.bind.size()) +
                                             " buffers, the device's limit is " +
                                             std::to_string(limits.max_storage_buffers_per_stage) +
                                             ": push {address: NAME} for some"};
  }
  if (step.push.size() > limits.max_push_constants) {
    return Refusal{Verdict::unsupported, "pushes " + std::to_string(step.push.size()) +
                                             " bytes, the device's limit is " +
                                             std::to_string(limits.max_push_constants)};
  }
  for (const int buffer : step.bind) {
    const BufferSlot& slot = candidate_.buffers[static_cast<size_t>(buffer)];
    if (static_cast<uint64_t>(slot.type.bytes()) > limits.max_storage_buffer_range) {
      return Refusal{Verdict::unsupported, slot.name + " has " + std::to_string(slot.type.bytes()) +
                                               " bytes, over the device's " +
                                               std::to_string(limits.max_storage_buffer_range) +
                                               " for one binding: push {address: " + slot.name +
                                               "} instead"};
    }
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (step.groups[axis] > limits.max_group_count[axis]) {
      return Refusal{Verdict::unsupported, std::to_string(step.groups[axis]) + " groups in " +
                                               "xyz"[axis] + " are over the device's limit of " +
                                               std::to_string(limits.max_group_count[axis])};
    }
  }
  made.pipeline = &device_.pipelines().get(pipeline_key(step));
  return std::nullopt;
}

vulkan::PipelineKey CandidateProgram::pipeline_key(const ResolvedStep& step) const {
  const auto index = static_cast<size_t>(step.kernel);
  const ResolvedKernel& resolved = candidate_.kernels[index];
  return {.spirv = kernels_[index].spirv,
          .entry = resolved.kernel->entry,
          .specialization = resolved.specialization,
          .bindings = static_cast<uint32_t>(step.bind.size()),
          .push_bytes = static_cast<uint32_t>(step.push.size()),
          .subgroup_size = resolved.subgroup_size};
}

void CandidateProgram::record_setup(vulkan::Commands& commands, const Memory& memory) const {
  record(commands, setup_, memory);
}

void CandidateProgram::record_dispatch(vulkan::Commands& commands, const Memory& memory) const {
  record(commands, dispatch_, memory);
}

void CandidateProgram::record(vulkan::Commands& commands, const std::vector<Step>& steps,
                              const Memory& memory) const {
  bool first = true;
  for (const Step& made : steps) {
    if (!first) commands.barrier();
    first = false;
    const ResolvedStep& step = *made.step;
    if (made.call) {
      const size_t inputs = step.call.inputs.size();
      std::vector<vulkan::Region> in, out;
      for (size_t i = 0; i < step.bind.size(); ++i) {
        (i < inputs ? in : out).push_back(memory.tensor[static_cast<size_t>(step.bind[i])]);
      }
      made.call->record(commands, in, out, memory.scratch);
      continue;
    }
    std::vector<vulkan::Region> regions;
    for (const int buffer : step.bind) regions.push_back(memory.bound[static_cast<size_t>(buffer)]);
    std::vector<std::byte> push = step.push;
    for (const auto& [offset, buffer] : step.addresses) {
      const uint64_t address = memory.tensor[static_cast<size_t>(buffer)].address();
      std::memcpy(push.data() + offset, &address, sizeof address);
    }
    commands.dispatch(*made.pipeline, regions, push, step.groups);
  }
}

}  // namespace kbench::trial
