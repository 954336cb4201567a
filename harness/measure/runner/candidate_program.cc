#include "harness/measure/runner/candidate_program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <set>

#include "harness/measure/runner/hints.h"
#include "harness/measure/runner/kernel_rules.h"
#include "harness/measure/runner/resolved.h"
#include "harness/measure/vulkan/texels.h"
#include "kbench/error.h"

namespace kbench::runner {

namespace {

using Clock = std::chrono::steady_clock;

/// HLSL: types of 16 bits are switched on only for a kernel that uses KB_REAL in a task of halves.
/// Elsewhere `half` is a float of 32 bits.
vulkan::ShaderSource source_of(const ResolvedKernel& resolved, const ResolvedCandidate& all) {
  const Candidate* const candidate = all.candidate;
  const Kernel& kernel = *resolved.kernel;
  vulkan::ShaderSource source;
  source.language = kernel.language == Kernel::Language::hlsl
                        ? vulkan::ShaderSource::Language::hlsl
                        : vulkan::ShaderSource::Language::glsl;
  source.text = kernel_text(resolved);
  source.file = kernel.file;
  source.first_line = kernel.first_line;
  source.entry = kernel.entry;
  source.macros = resolved.macros;
  source.hlsl_16bit_types = is_half(all.real) && !resolved.real_names.empty();
  if (candidate) {
    source.include = [candidate](const std::string& name, const std::string& from) {
      return find_include(*candidate, name, from);
    };
  }
  return source;
}

/// The refusal with the kernel's place and name before its message.
Refused about(const Kernel& kernel, Refused refusal) {
  refusal.message = at(kernel.at) + "kernel " + kernel.name + " " + refusal.message;
  return refusal;
}

/// Placed where the manifest gives the constant.
Diagnostic unused_warning(const Kernel& kernel, const vulkan::UnusedConstant& unused) {
  Location place = kernel.at;
  for (const auto& [id, expression] : kernel.specialization) {
    if (id == unused.id) place = expression.at;
  }
  return {"warning", shown(place.file), place.line, place.column,
          "kernel " + kernel.name + ": " + shown(unused.why, 1000)};
}

/// The pushed bytes with the addresses of the buffers added.
std::vector<std::byte> with_addresses(std::vector<std::byte> push,
                                      const std::vector<std::pair<size_t, int>>& addresses,
                                      const CandidateProgram::Buffers& memory) {
  add_addresses(push, addresses, [&](size_t buffer) { return memory.tensor[buffer].address(); });
  return push;
}

}  // namespace

/// The time limit of build().
class CandidateProgram::Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds) {}

  double left() const {
    return std::max(0.0, seconds_ - std::chrono::duration<double>(Clock::now() - start_).count());
  }
  bool passed() const { return left() <= 0; }
  /// The refusal, if the limit has passed.
  std::optional<Refused> check(const std::string& doing) const {
    if (!passed()) return std::nullopt;
    char limit[32];
    std::snprintf(limit, sizeof limit, "%.3g", seconds_);
    return Refused{Verdict::timeout,
                   doing + " took longer than " + limit + " s; --compile-seconds sets the limit"};
  }

 private:
  Clock::time_point start_ = Clock::now();
  double seconds_;
};

std::optional<Refused> CandidateProgram::build(double seconds_limit,
                                               std::vector<Diagnostic>& diagnostics) {
  const Deadline deadline(seconds_limit);
  std::optional<Refused> too_large;  // Returned last: another device may be able to bind it.
  if (auto refusal = check_languages()) return refusal;
  if (auto refusal = compile_all(deadline, diagnostics)) return refusal;
  for (const ResolvedStep* step : all_steps(candidate_)) {  // before a driver sees any module
    auto refusal = check(*step);
    if (!refusal) continue;
    refusal->message = at(step->at) + refusal->message;
    if (!refusal->size) return refusal;
    if (!too_large) too_large = std::move(refusal);
  }
  add_warnings(diagnostics);
  upload_uniforms();
  make_pipelines(deadline);
  constexpr const char* kDoing = "making the candidate's pipelines";
  for (const Phase phase : {&ResolvedCandidate::setup, &ResolvedCandidate::dispatch}) {
    for (size_t i = 0; i < (candidate_.*phase).size(); ++i) {
      if (auto refusal = deadline.check(kDoing)) return refusal;
      if (auto refusal = prepare(phase, i)) return refusal;
    }
  }
  if (auto refusal = deadline.check(kDoing)) return refusal;
  return too_large;
}

std::optional<Refused> CandidateProgram::compile_all(const Deadline& deadline,
                                                     std::vector<Diagnostic>& diagnostics) {
  kernels_.resize(candidate_.kernels.size());
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const bool addresses = std::ranges::any_of(
        steps_of(candidate_, i), [](const auto* step) { return !step->addresses.empty(); });
    if (auto refusal = compile(i, addresses, deadline, diagnostics)) return refusal;
    if (auto refusal = deadline.check("compiling kernel " + candidate_.kernels[i].kernel->name)) {
      return refusal;
    }
  }
  return std::nullopt;
}

std::optional<Refused> CandidateProgram::compile(size_t index, bool addresses,
                                                 const Deadline& deadline,
                                                 std::vector<Diagnostic>& diagnostics) {
  const ResolvedKernel& resolved = candidate_.kernels[index];
  const Kernel& kernel = *resolved.kernel;
  if (kbench::is_cuda(kernel.language)) return compile_cuda(index, deadline.left(), diagnostics);
  CompiledKernel& made = kernels_[index];
  if (kernel.language == Kernel::Language::spirv) {
    made.spirv = kernel.spirv;
  } else {
    const size_t before = diagnostics.size();
    vulkan::CompileOutcome outcome = device_.compiler().compile(source_of(resolved, candidate_));
    diagnostics.insert(diagnostics.end(), outcome.diagnostics.begin(), outcome.diagnostics.end());
    if (!outcome.ok()) {
      add_define_notes(resolved, *candidate_.candidate, before, diagnostics);
      return compile_error(kernel, std::span(diagnostics).subspan(before));
    }
    made.spirv = std::move(outcome.spirv);
    made.interface = std::move(outcome.named);
  }
  std::optional<Refused> refusal;
  try {
    refusal = finish(index, addresses, diagnostics);
  } catch (const Error& e) {
    const bool invalid = e.code() == ErrorCode::kInvalidArgument;
    if (!invalid && e.code() != ErrorCode::kCompile) throw;
    // An older SPIR-V tool calls a module wrong that uses what it does not know.
    refusal = invalid ? std::nullopt
                      : check_declared(vulkan::declared_by(made.spirv), device_.snapshot(),
                                       device_.plan());
    if (!refusal) {
      refusal = Refused{invalid ? Verdict::invalid_candidate : Verdict::compile_error, e.message()};
    }
  }
  if (refusal) return about(kernel, *refusal);
  if (made.facts.uses_float16 && float16_kernel_.empty()) float16_kernel_ = kernel.name;
  return std::nullopt;
}

/// Freezes the module and checks it: what is checked is what runs.
std::optional<Refused> CandidateProgram::finish(size_t index, bool addresses,
                                                std::vector<Diagnostic>& diagnostics) {
  const ResolvedKernel& resolved = candidate_.kernels[index];
  CompiledKernel& made = kernels_[index];
  const vulkan::ShaderInterface named = std::move(made.interface);
  std::vector<vulkan::UnusedConstant> unused;
  const vulkan::Specialization values =
      vulkan::typed_specialization(made.spirv, given_constants(resolved), named, unused);
  for (const vulkan::UnusedConstant& each : unused) {
    diagnostics.push_back(unused_warning(*resolved.kernel, each));
  }
  made.spirv = vulkan::freeze_spirv(made.spirv, values, resolved.kernel->entry);
  made.interface = vulkan::reflect_spirv(made.spirv);
  vulkan::adopt_names(made.interface, named);
  made.spirv = vulkan::rebind_spirv(made.spirv, made.interface);
  made.facts = vulkan::inspect_spirv(made.spirv);
  if (made.interface.stray_length) {
    return unsupported("asks for the length of a buffer through a pointer that is no variable");
  }
  return check_module(made.facts, device_.snapshot(), device_.plan(), addresses);
}

std::optional<Refused> CandidateProgram::check(const ResolvedStep& step) {
  // Operators are checked by eager::PreparedCall, CUDA kernels by compile_cuda().
  if (step.kernel < 0 || is_cuda(step)) return std::nullopt;
  const auto index = static_cast<size_t>(step.kernel);
  const ResolvedKernel& resolved = candidate_.kernels[index];
  const CompiledKernel& kernel = kernels_[index];
  const std::string& name = resolved.kernel->name;
  const vulkan::DeviceSnapshot& limits = device_.snapshot();
  ShaderLaunch& launch = shader_launches_[&step];
  auto refusal = connect(kernel.interface, candidate_, step, limits, uniforms_, launch);
  if (refusal) refusal->message = "kernel " + name + " " + refusal->message;
  if (refusal && !refusal->size) return refusal;
  if (step.bind.size() > limits.max_storage_buffers_per_stage) {
    return unsupported(
        "binds " + std::to_string(step.bind.size()) + " buffers, the device's limit is " +
        std::to_string(limits.max_storage_buffers_per_stage) + ": push {address: NAME} for some");
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (step.groups[axis] > limits.max_group_count[axis]) {
      return unsupported(std::to_string(step.groups[axis]) + " groups in " + "xyz"[axis] +
                         " are over the device's limit of " +
                         std::to_string(limits.max_group_count[axis]));
    }
  }
  return refusal;
}

void CandidateProgram::add_warnings(std::vector<Diagnostic>& diagnostics) const {
  warn_of_unread(candidate_, diagnostics);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i].cuda) continue;
    warn_of_shader(candidate_.kernels[i], *candidate_.candidate, kernels_[i].spirv,
                   kernels_[i].facts, diagnostics);
  }
  std::set<std::pair<int, int>> places;  // The repeats of a step have one place.
  for (const auto& [step, launch] : shader_launches_) {
    if (!places.emplace(step->at.line, step->at.column).second) continue;
    warn_of_launch(candidate_, *step, launch, diagnostics);
  }
}

/// Makes the pipelines in parallel, until the time is up.
void CandidateProgram::make_pipelines(const Deadline& deadline) {
  constexpr size_t kAtOnce = 256;  // Bounds memory: a key holds its module.
  const eager::DeviceTraits traits = eager::traits_of(device_.snapshot());
  std::set<PipelineSpec> specs;
  std::vector<vulkan::EmbeddedKey> built_in;
  for (const ResolvedStep* step : all_steps(candidate_)) {
    if (step->kernel >= 0) {
      if (!is_cuda(*step)) specs.insert(spec_of(*step));
      continue;
    }
    try {
      for (const eager::Launch& launch :
           eager::plan_call(step->call, traits, candidate_.real).launches) {
        built_in.push_back(eager::pipeline_key(launch));
      }
    } catch (const Error&) {  // prepare() reports it with its place.
      continue;
    }
  }
  const auto stop = [&deadline] { return deadline.passed(); };
  std::vector<vulkan::PipelineKey> keys;
  for (const PipelineSpec& spec : specs) {
    keys.push_back(pipeline_key(spec));
    if (keys.size() < kAtOnce) continue;
    pipeline_cache_.prepare(std::move(keys), {}, stop);
    keys.clear();
    if (stop()) return;
  }
  pipeline_cache_.prepare(std::move(keys), {}, stop);
  device_.pipelines().prepare({}, built_in, stop);
}

std::optional<Refused> CandidateProgram::prepare(Phase phase, size_t index) {
  const ResolvedStep& step = (candidate_.*phase)[index];
  PreparedStep made;
  made.step = &step;
  try {
    if (step.kind == Step::Kind::op) {
      made.call.emplace(device_, step.call, candidate_.real);
      scratch_bytes_ = std::max(scratch_bytes_, static_cast<uint64_t>(made.call->scratch_bytes()));
    } else if (is_cuda(step)) {
      made.launched = as_launched(*kernels_[static_cast<size_t>(step.kernel)].cuda, step);
    } else {
      made.shader = &shader_launches_.at(&step);
      made.pipeline = &pipeline(spec_of(step));
    }
  } catch (const Error& e) {
    const bool refused = e.code() == ErrorCode::kCompile && step.kernel >= 0;
    if (e.code() != ErrorCode::kUnsupported && !refused) throw;
    return Refused{refused ? Verdict::compile_error : Verdict::unsupported,
                   at(step.at) + e.message()};
  }
  (phase == &ResolvedCandidate::setup ? setup_ : dispatch_).push_back(std::move(made));
  return std::nullopt;
}

const vulkan::Pipeline& CandidateProgram::pipeline(const PipelineSpec& spec) {
  const vulkan::Pipeline*& known = pipelines_[spec];
  if (!known) known = &pipeline_cache_.get(pipeline_key(spec));
  return *known;
}

bool CandidateProgram::asks_length(const ResolvedStep& step) const {
  if (step.kernel < 0) return false;
  const auto& resources = kernels_[static_cast<size_t>(step.kernel)].interface.resources;
  return std::any_of(resources.begin(), resources.end(),
                     [](const vulkan::Resource& each) { return each.asks_length; });
}

void CandidateProgram::describe(Built& built) const {
  for (const ResolvedKernel& kernel : candidate_.kernels) {
    built.kernels.push_back(kernel.kernel->name);
  }
  built.has_setup = !candidate_.setup.empty();
  built.asks_lengths =
      std::ranges::any_of(all_steps(candidate_), [this](auto* step) { return asks_length(*step); });
  for (const CompiledKernel& kernel : kernels_) {
    built.stack_bytes = std::max(built.stack_bytes, kernel.facts.stack_bytes);
    // Vulkan's kernels do not reach all local memory of CUDA's.
    if (kernel.cuda && kernel.cuda->uses_stack) {
      built.stack_bytes = std::numeric_limits<uint64_t>::max();
    }
  }
  for (const ResolvedStep& step : candidate_.dispatch) {
    built.library.push_back(step.kernel < 0 ? step.call.op->name : "");
  }
  built.float16_kernel = float16_kernel_;
  built.approximations = approximations_;
}

CandidateProgram::PipelineSpec CandidateProgram::spec_of(const ResolvedStep& step) const {
  const ShaderLaunch& shader = shader_launches_.at(&step);
  PipelineSpec spec{step.kernel, shader.bindings, shader.push.size(), {}};
  if (asks_length(step)) spec.lengths = shader.lengths();
  return spec;
}

vulkan::PipelineKey CandidateProgram::pipeline_key(const PipelineSpec& spec) const {
  const CompiledKernel& kernel = kernels_[static_cast<size_t>(spec.kernel)];
  vulkan::PipelineKey key;
  key.spirv = kernel.spirv;
  if (!spec.lengths.empty()) {
    std::vector<uint32_t> texels;
    for (const vulkan::Binding& each : spec.bindings) {
      texels.push_back(vulkan::texel_bytes(each.format));
    }
    key.spirv = vulkan::with_lengths(kernel.spirv, kernel.interface, spec.lengths, texels);
  }
  key.bindings = vulkan::Bindings(spec.bindings);
  key.push_bytes = static_cast<uint32_t>(spec.push_bytes);
  return key;
}

void CandidateProgram::upload_uniforms() {
  if (uniforms_.bytes().empty()) return;
  uniform_buffer_ = device_.allocate(uniforms_.bytes().size());
  device_.upload(uniform_buffer_, 0, uniforms_.bytes());
}

void CandidateProgram::record(vulkan::Commands& commands, const Pass& pass, const Buffers& memory,
                              const AfterStep& after_step) const {
  bool first = true;
  for (const PreparedStep& made : pass.setup ? setup_ : dispatch_) {
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
    } else {
      record_shader(commands, made, memory, pass.exact);
    }
    if (after_step) after_step();
  }
}

void CandidateProgram::record_shader(vulkan::Commands& commands, const PreparedStep& made,
                                     const Buffers& memory, bool exact) const {
  const ResolvedStep& step = *made.step;
  const ShaderLaunch& shader = *made.shader;
  const auto& resources = kernels_[static_cast<size_t>(step.kernel)].interface.resources;
  std::vector<vulkan::Region> regions;
  for (size_t i = 0; i < shader.slots.size(); ++i) {
    const ShaderLaunch::Slot& slot = shader.slots[i];
    if (slot.bind < 0) {
      regions.push_back({&uniform_buffer_, slot.uniform_offset, slot.bytes});
      continue;
    }
    const auto buffer = static_cast<size_t>(step.bind[static_cast<size_t>(slot.bind)]);
    regions.push_back(bound_region(memory.tensor[buffer], resources[i], slot, shader.bindings[i],
                                   device_.snapshot(), exact));
  }
  commands.dispatch(*made.pipeline, regions, with_addresses(shader.push, shader.addresses, memory),
                    step.groups);
}

}  // namespace kbench::runner
