#include "harness/measure/runner/candidate_program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>

#include "harness/measure/runner/define_notes.h"
#include "harness/measure/runner/kernel_rules.h"
#include "harness/measure/runner/kernel_text.h"
#include "harness/measure/runner/launch_warnings.h"
#include "harness/measure/vulkan/texels.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::runner {
namespace {

using Clock = std::chrono::steady_clock;

vulkan::ShaderSource source_of(const ResolvedKernel& resolved, const Candidate* candidate) {
  const Kernel& kernel = *resolved.kernel;
  vulkan::ShaderSource source;
  source.language = kernel.language == Kernel::Language::hlsl
                        ? vulkan::ShaderSource::Language::hlsl
                        : vulkan::ShaderSource::Language::glsl;
  source.text = kernel_text(kernel);
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

/// A refusal about a kernel: prefixed with where it stands and its name.
Refusal about(const Kernel& kernel, Refusal refusal) {
  refusal.message = at(kernel.at) + "kernel " + kernel.name + " " + refusal.message;
  return refusal;
}

bool takes_address(const ResolvedStep& step) {
  if (!step.addresses.empty()) return true;
  for (const ResolvedUniform& block : step.uniforms) {
    for (const ResolvedUniform::Field& field : block.fields) {
      for (const ResolvedNumber& value : field.values) {
        if (value.buffer >= 0) return true;
      }
    }
  }
  return false;
}

/// At the place where the manifest gives the constant.
Diagnostic unused_warning(const Kernel& kernel, const vulkan::UnusedConstant& unused) {
  Location place = kernel.at;
  for (const auto& [id, expression] : kernel.specialization) {
    if (id == unused.id) place = expression.at;
  }
  return {"warning", shown(place.file), place.line, place.column,
          "kernel " + kernel.name + ": " + shown(unused.why, 1000)};
}

}  // namespace

/// When building has to end.
class CandidateProgram::Deadline {
 public:
  explicit Deadline(double seconds) : seconds_(seconds) {}

  bool passed() const {
    return std::chrono::duration<double>(Clock::now() - start_).count() > seconds_;
  }
  double left() const {
    return std::max(0.0, seconds_ - std::chrono::duration<double>(Clock::now() - start_).count());
  }
  /// The refusal for what took too long, once it has.
  std::optional<Refusal> check(const std::string& doing) const {
    if (!passed()) return std::nullopt;
    char limit[32];
    std::snprintf(limit, sizeof limit, "%.3g", seconds_);
    return Refusal{Verdict::timeout,
                   doing + " took longer than " + limit + " s; --compile-seconds sets the limit"};
  }

 private:
  Clock::time_point start_ = Clock::now();
  double seconds_;
};

std::optional<Refusal> CandidateProgram::build(double seconds_limit,
                                               std::vector<Diagnostic>& diagnostics) {
  const Deadline deadline(seconds_limit);
  std::optional<Refusal> too_large;  // said last: another device may bind it
  if (auto refusal = compile_all(deadline, diagnostics)) return refusal;
  for (const auto* steps : {&candidate_.setup, &candidate_.dispatch}) {
    for (const ResolvedStep& step : *steps) {  // all, before a driver sees any module
      if (auto refusal = check(step)) {
        refusal->message = at(step.at) + refusal->message;
        if (!refusal->size) return refusal;
        if (!too_large) too_large = std::move(refusal);
      }
    }
  }
  if (auto refusal = choose_lane()) return refusal;
  add_warnings(diagnostics);
  upload_uniforms();
  make_pipelines(deadline);
  const auto prepare_all = [&](Phase phase, std::vector<Step>& to) -> std::optional<Refusal> {
    for (size_t i = 0; i < (candidate_.*phase).size(); ++i) {
      if (auto refusal = deadline.check("making the candidate's pipelines")) return refusal;
      if (auto refusal = prepare(phase, i, to)) return refusal;
    }
    return std::nullopt;
  };
  if (auto refusal = prepare_all(&ResolvedCandidate::setup, setup_)) return refusal;
  if (auto refusal = prepare_all(&ResolvedCandidate::dispatch, dispatch_)) return refusal;
  if (auto refusal = deadline.check("making the candidate's pipelines")) return refusal;
  return too_large;
}

std::optional<Refusal> CandidateProgram::compile_all(const Deadline& deadline,
                                                     std::vector<Diagnostic>& diagnostics) {
  kernels_.resize(candidate_.kernels.size());
  std::vector<bool> addresses(kernels_.size(), false);
  for (const auto* steps : {&candidate_.setup, &candidate_.dispatch}) {
    for (const ResolvedStep& step : *steps) {
      if (step.kernel >= 0 && takes_address(step)) {
        addresses[static_cast<size_t>(step.kernel)] = true;
      }
    }
  }
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (auto refusal = compile(i, addresses[i], deadline, diagnostics)) return refusal;
    if (auto refusal = deadline.check("compiling kernel " + candidate_.kernels[i].kernel->name)) {
      return refusal;
    }
  }
  return std::nullopt;
}

std::optional<Refusal> CandidateProgram::compile(size_t index, bool addresses,
                                                 const Deadline& deadline,
                                                 std::vector<Diagnostic>& diagnostics) {
  const ResolvedKernel& resolved = candidate_.kernels[index];
  const kbench::Kernel& kernel = *resolved.kernel;
  if (is_cuda(kernel.language)) return compile_cuda(index, deadline.left(), diagnostics);
  Kernel& made = kernels_[index];
  if (kernel.language == kbench::Kernel::Language::spirv) {
    made.spirv = kernel.spirv;
  } else {
    const size_t before = diagnostics.size();
    vulkan::CompileOutcome outcome =
        device_.compiler().compile(source_of(resolved, candidate_.candidate));
    diagnostics.insert(diagnostics.end(), outcome.diagnostics.begin(), outcome.diagnostics.end());
    if (!outcome.ok()) {
      add_define_notes(resolved, *candidate_.candidate, before, diagnostics);
      const std::string error = first_error(diagnostics, before);
      return Refusal{
          Verdict::compile_error,
          error.empty() ? at(kernel.at) + "kernel " + kernel.name + " does not compile" : error};
    }
    made.spirv = std::move(outcome.spirv);
    made.interface = std::move(outcome.named);
  }
  std::optional<Refusal> refusal;
  try {
    refusal = finish(index, addresses, diagnostics);
  } catch (const Error& e) {
    const bool invalid = e.code() == ErrorCode::kInvalidArgument;
    if (!invalid && e.code() != ErrorCode::kCompile) throw;
    // A tool of another age says of what it does not know that it is wrong.
    refusal = invalid ? std::nullopt
                      : check_declared(vulkan::declared_by(made.spirv), device_.snapshot(),
                                       device_.plan());
    if (!refusal) {
      refusal = Refusal{invalid ? Verdict::invalid_candidate : Verdict::compile_error, e.message()};
    }
  }
  if (refusal) return about(kernel, *refusal);
  if (made.facts.uses_float16 && float16_kernel_.empty()) float16_kernel_ = kernel.name;
  return std::nullopt;
}

/// From here on the module does not change: what is checked is what runs.
std::optional<Refusal> CandidateProgram::finish(size_t index, bool addresses,
                                                std::vector<Diagnostic>& diagnostics) {
  const ResolvedKernel& resolved = candidate_.kernels[index];
  Kernel& made = kernels_[index];
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
    return Refusal{Verdict::unsupported,
                   "asks for the length of a buffer through a pointer that is no variable"};
  }
  return check_module(made.facts, device_.snapshot(), device_.plan(), addresses);
}

std::optional<Refusal> CandidateProgram::check(const ResolvedStep& step) {
  // eager::PreparedCall checks its own, a copy or a fill was held to its buffers.
  if (step.kernel < 0) return std::nullopt;
  const auto index = static_cast<size_t>(step.kernel);
  const ResolvedKernel& resolved = candidate_.kernels[index];
  const Kernel& kernel = kernels_[index];
  const std::string& name = resolved.kernel->name;
  if (kernel.cuda()) return std::nullopt;  // compile_cuda() has looked
  const vulkan::DeviceSnapshot& limits = device_.snapshot();
  ShaderLaunch& launch = shader_launches_[&step];
  auto refusal = connect(kernel.interface, candidate_, step, limits, uniforms_, launch);
  if (refusal) refusal->message = "kernel " + name + " " + refusal->message;
  if (refusal && !refusal->size) return refusal;
  if (step.bind.size() > limits.max_storage_buffers_per_stage) {
    return Refusal{Verdict::unsupported, "binds " + std::to_string(step.bind.size()) +
                                             " buffers, the device's limit is " +
                                             std::to_string(limits.max_storage_buffers_per_stage) +
                                             ": push {address: NAME} for some"};
  }
  if (launch.push.size() > limits.max_push_constants) {
    return Refusal{Verdict::unsupported, "pushes " + std::to_string(launch.push.size()) +
                                             " bytes, the device's limit is " +
                                             std::to_string(limits.max_push_constants)};
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (step.groups[axis] > limits.max_group_count[axis]) {
      return Refusal{Verdict::unsupported, std::to_string(step.groups[axis]) + " groups in " +
                                               "xyz"[axis] + " are over the device's limit of " +
                                               std::to_string(limits.max_group_count[axis])};
    }
  }
  return refusal;
}

void CandidateProgram::add_warnings(std::vector<Diagnostic>& diagnostics) const {
  warn_of_unread(candidate_, diagnostics);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (kernels_[i].cuda()) continue;
    warn_of_shader(candidate_.kernels[i], *candidate_.candidate, kernels_[i].spirv,
                   kernels_[i].facts, diagnostics);
  }
  std::set<std::pair<int, int>> places;  // of steps: those that are repeated have one
  for (const auto& [step, launch] : shader_launches_) {
    if (!places.emplace(step->at.line, step->at.column).second) continue;
    const Kernel& kernel = kernels_[static_cast<size_t>(step->kernel)];
    warn_of_launch(candidate_, *step, kernel.interface, launch, kernel.spirv, diagnostics);
  }
}

/// Several at a time, and no more of them than fit the time.
void CandidateProgram::make_pipelines(const Deadline& deadline) {
  constexpr size_t kAtOnce = 256;  // a key holds its module
  const eager::DeviceTraits traits = eager::traits_of(device_.snapshot());
  std::set<Launch> launches;
  std::vector<vulkan::EmbeddedKey> built_in;
  for (const auto* steps : {&candidate_.setup, &candidate_.dispatch}) {
    for (const ResolvedStep& step : *steps) {
      if (step.kernel >= 0) {
        const bool shader = !kernels_[static_cast<size_t>(step.kernel)].cuda();
        if (shader) launches.insert(launch_of(step));
        continue;
      }
      if (step.kind != kbench::Step::Kind::op) continue;
      try {
        for (const eager::Launch& launch : eager::plan_call(step.call, traits).launches) {
          built_in.push_back(eager::pipeline_key(launch));
        }
      } catch (const Error&) {  // prepare() says what is wrong, and where.
        continue;
      }
    }
  }
  const auto stop = [&deadline] { return deadline.passed(); };
  std::vector<vulkan::PipelineKey> keys;
  for (const Launch& launch : launches) {
    keys.push_back(pipeline_key(launch));
    if (keys.size() < kAtOnce) continue;
    device_.pipelines().prepare(std::move(keys), {}, stop);
    keys.clear();
    if (stop()) return;
  }
  device_.pipelines().prepare(std::move(keys), built_in, stop);
}

std::optional<Refusal> CandidateProgram::prepare(Phase phase, size_t index,
                                                 std::vector<Step>& steps) {
  const ResolvedStep& step = (candidate_.*phase)[index];
  Step made;
  made.step = &step;
  try {
    if (step.kind == kbench::Step::Kind::op) {
      made.call.emplace(device_, step.call);
      scratch_bytes_ = std::max(scratch_bytes_, static_cast<uint64_t>(made.call->scratch_bytes()));
    } else if (step.kernel < 0) {  // a copy or a fill
    } else if (Kernel& kernel = kernels_[static_cast<size_t>(step.kernel)]; kernel.cuda()) {
      if (!takes_driver()) load(kernel);
      for (const Variant& variant : kernel.variants) {
        made.launched.push_back(as_launched(variant.kernel, (ways_[variant.way]->*phase)[index]));
      }
    } else {
      made.shader = &shader_launches_.at(&step);
      made.pipeline = &pipeline(launch_of(step));
    }
  } catch (const Error& e) {
    const bool refused = e.code() == ErrorCode::kCompile && step.kernel >= 0;
    if (e.code() != ErrorCode::kUnsupported && !refused) throw;
    return Refusal{refused ? Verdict::compile_error : Verdict::unsupported,
                   at(step.at) + e.message()};
  }
  steps.push_back(std::move(made));
  return std::nullopt;
}

const vulkan::Pipeline& CandidateProgram::pipeline(const Launch& launch) {
  const vulkan::Pipeline*& known = pipelines_[launch];
  if (!known) known = &device_.pipelines().get(pipeline_key(launch));
  return *known;
}

bool CandidateProgram::asks_length(const ResolvedStep& step) const {
  if (step.kernel < 0) return false;
  const auto& resources = kernels_[static_cast<size_t>(step.kernel)].interface.resources;
  return std::any_of(resources.begin(), resources.end(),
                     [](const vulkan::Resource& each) { return each.asks_length; });
}

bool CandidateProgram::asks_lengths() const {
  const auto asks = [this](const ResolvedStep& step) { return asks_length(step); };
  return std::any_of(candidate_.setup.begin(), candidate_.setup.end(), asks) ||
         std::any_of(candidate_.dispatch.begin(), candidate_.dispatch.end(), asks);
}

CandidateProgram::Launch CandidateProgram::launch_of(const ResolvedStep& step) const {
  const ShaderLaunch& shader = shader_launches_.at(&step);
  Launch launch;
  launch.kernel = step.kernel;
  launch.bindings = shader.bindings;
  launch.push_bytes = shader.push.size();
  if (asks_length(step)) launch.lengths = shader.lengths();
  return launch;
}

vulkan::PipelineKey CandidateProgram::pipeline_key(const Launch& launch) const {
  const auto index = static_cast<size_t>(launch.kernel);
  const Kernel& kernel = kernels_[index];
  vulkan::PipelineKey key;
  key.spirv = kernel.spirv;
  if (!launch.lengths.empty()) {
    std::vector<uint32_t> texels;
    for (const vulkan::Binding& each : launch.bindings) {
      texels.push_back(vulkan::texel_bytes(each.format));
    }
    key.spirv = vulkan::with_lengths(kernel.spirv, kernel.interface, launch.lengths, texels);
  }
  key.bindings = vulkan::Bindings(launch.bindings);
  key.push_bytes = static_cast<uint32_t>(launch.push_bytes);
  key.subgroup_size = candidate_.kernels[index].subgroup_size;
  return key;
}

/// Where the memory lies is known only when it is there.
void CandidateProgram::write_addresses(const Buffers& memory) const {
  if (uniforms_.addresses().empty()) return;
  std::vector<std::byte> bytes = uniforms_.bytes();
  for (const auto& [offset, buffer] : uniforms_.addresses()) {
    uint64_t address = 0;
    std::memcpy(&address, bytes.data() + offset, sizeof address);
    address += memory.tensor[static_cast<size_t>(buffer)].address();
    std::memcpy(bytes.data() + offset, &address, sizeof address);
  }
  device_.upload(uniform_buffer_, 0, bytes);
}

void CandidateProgram::upload_uniforms() {
  if (uniforms_.bytes().empty()) return;
  uniform_buffer_ = device_.allocate(uniforms_.bytes().size());
  device_.upload(uniform_buffer_, 0, uniforms_.bytes());
}

}  // namespace kbench::runner
