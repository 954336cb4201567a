// The CUDA, PTX and Triton kernels of a candidate, each in its configurations.
#include <algorithm>
#include <set>

#include "harness/measure/runner/candidate_program.h"
#include "harness/measure/runner/steps.h"
#include "kbench/error.h"
#include "kbench/text.h"

namespace kbench::runner {
namespace {

/// Another configuration of the kernel may not have this fault: only this one is left out.
bool of_this_configuration(const Refusal& refusal) {
  return refusal.verdict == Verdict::unsupported || refusal.verdict == Verdict::compile_error;
}

}  // namespace

CandidateProgram::CandidateProgram(vulkan::Device& device, const ResolvedCandidate& candidate,
                                   PythonHelper* python,
                                   const std::vector<ResolvedCandidate>& others, CudaDevice cuda)
    : device_(device),
      candidate_(candidate),
      python_(python),
      cuda_(std::move(cuda)),
      pipeline_cache_(device) {
  if (!cuda_.capability) {
    cuda_.capability = [this] { return cuda_capability(device_.snapshot()); };
  }
  ways_.push_back(&candidate);
  for (const ResolvedCandidate& other : others) ways_.push_back(&other);
}

/// Compiles every configuration of the kernel and checks the steps that launch it.
std::optional<Refusal> CandidateProgram::compile_cuda(size_t index, double seconds,
                                                      std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *candidate_.kernels[index].kernel;
  if (!compilers_) compilers_.emplace(cuda_.capability, python_);
  const size_t count = std::clamp<size_t>(kernel.configs.size(), 1, ways_.size());
  std::vector<CudaAttempt> attempts = compilers_->compile(
      {ways_.begin(), ways_.begin() + static_cast<ptrdiff_t>(count)}, index, seconds);
  std::vector<Variant>& variants = kernels_[index].variants;
  std::optional<Refusal> first;
  std::vector<Diagnostic> left_out;
  for (size_t way = 0; way < count; ++way) {
    CudaAttempt& attempt = attempts[way];
    Variant variant{way, std::move(attempt.kernel), nullptr, {}};
    if (!attempt.refusal) attempt.refusal = check_launches(index, variant);
    if (!attempt.refusal) {
      diagnostics.insert(diagnostics.end(), attempt.diagnostics.begin(), attempt.diagnostics.end());
      if (variant.kernel.float16 && float16_kernel_.empty()) float16_kernel_ = kernel.name;
      if (!variant.kernel.approximate.empty() && approximations_.empty()) {
        approximations_ = "kernel " + kernel.name + " uses " + variant.kernel.approximate;
      }
      variants.push_back(std::move(variant));
      continue;
    }
    if (!of_this_configuration(*attempt.refusal)) {
      diagnostics.insert(diagnostics.end(), attempt.diagnostics.begin(), attempt.diagnostics.end());
      return attempt.refusal;
    }
    if (!first) {
      first = attempt.refusal;
      left_out = std::move(attempt.diagnostics);
    }
    if (count == 1) break;
    const Location& place = kernel.configs[way].at;
    diagnostics.push_back({"warning", shown(place.file), place.line, place.column,
                           "the configuration " + config_text(index, variant) +
                               " is left out: " + attempt.refusal->message});
  }
  if (!variants.empty()) return std::nullopt;
  diagnostics.insert(diagnostics.begin(), left_out.begin(), left_out.end());
  return first;
}

std::optional<Refusal> CandidateProgram::check_launches(size_t index,
                                                        const Variant& variant) const {
  for (const ResolvedStep* step : steps_of(*ways_[variant.way], index)) {
    auto refusal = check_cuda_launch(variant.kernel, as_launched(variant.kernel, *step));
    if (!refusal) continue;
    refusal->message =
        at(step->at) + "kernel " + candidate_.kernels[index].kernel->name + " " + refusal->message;
    return refusal;
  }
  return std::nullopt;
}

/// "num_warps 8, num_stages 3, BLOCK 1024".
std::string CandidateProgram::config_text(size_t index, const Variant& variant) const {
  const ResolvedKernel& resolved = ways_[variant.way]->kernels[index];
  std::string text = "num_warps " + std::to_string(resolved.num_warps) + ", num_stages " +
                     std::to_string(resolved.num_stages);
  std::set<std::string> differing;
  for (const TritonConfig& config : resolved.kernel->configs) {
    for (const auto& [name, expression] : config.constants) differing.insert(name);
  }
  for (const auto& [name, value] : resolved.macros) {
    if (differing.contains(name)) text += ", " + name + " " + value;
  }
  return text;
}

std::vector<size_t> CandidateProgram::tunable_kernels() const {
  std::set<size_t> launched;
  for (const ResolvedStep& step : candidate_.dispatch) {
    if (step.kernel >= 0) launched.insert(static_cast<size_t>(step.kernel));
  }
  std::vector<size_t> kernels;
  for (const size_t kernel : launched) {
    if (kernels_[kernel].variants.size() > 1) kernels.push_back(kernel);
  }
  return kernels;
}

void CandidateProgram::select(const std::vector<uint32_t>& configs) {
  const std::vector<size_t> kernels = tunable_kernels();
  bool known = configs.size() == kernels.size();
  for (size_t i = 0; known && i < kernels.size(); ++i) {
    known = configs[i] < kernels_[kernels[i]].variants.size();
  }
  if (!known) throw Error(ErrorCode::kInternal, "a configuration that no kernel has");
  for (size_t i = 0; i < kernels.size(); ++i) kernels_[kernels[i]].chosen = configs[i];
}

void CandidateProgram::load(CompiledKernel& kernel) {
  for (Variant& variant : kernel.variants) {
    if (variant.function) continue;
    variant.function =
        std::make_unique<vulkan::CudaFunction>(device_, variant.kernel.cubin, variant.kernel.entry);
  }
}

bool CandidateProgram::launches_cuda() const {
  return !takes_driver() && std::ranges::any_of(kernels_, &CompiledKernel::cuda);
}

}  // namespace kbench::runner
