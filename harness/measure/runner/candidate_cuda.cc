// The CUDA, PTX and Triton kernels of a candidate: compiled and checked, loaded by CUDA's own
// driver, and its steps as steps of that driver.
#include <algorithm>

#include "harness/measure/runner/candidate_program.h"
#include "harness/measure/runner/resolved.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

cuda::DriverLaunch as_driver_launch(const ResolvedStep& launched) {
  return {.grid = launched.groups, .block = launched.block, .shared_bytes = launched.shared_bytes};
}

}  // namespace

CandidateProgram::CandidateProgram(vulkan::Device& device, const ResolvedCandidate& candidate,
                                   PythonHelper* python, CudaDevice cuda)
    : device_(device),
      candidate_(candidate),
      python_(python),
      cuda_(std::move(cuda)),
      pipeline_cache_(device) {
  if (!cuda_.capability) {
    cuda_.capability = [this] { return cuda_capability(device_.snapshot()); };
  }
}

bool CandidateProgram::is_cuda(const ResolvedStep& step) const {
  return step.kernel >= 0 &&
         kbench::is_cuda(candidate_.kernels[static_cast<size_t>(step.kernel)].kernel->language);
}

bool CandidateProgram::takes_driver() const {
  return std::ranges::any_of(candidate_.kernels, [](const ResolvedKernel& kernel) {
    return kbench::is_cuda(kernel.kernel->language);
  });
}

/// A candidate is launched by CUDA's driver or by Vulkan, not by both.
std::optional<Refused> CandidateProgram::check_languages() const {
  if (!takes_driver()) return std::nullopt;
  for (const ResolvedStep* step : all_steps(candidate_)) {
    if (is_cuda(*step)) continue;
    return unsupported(at(step->at) + (step->kernel < 0 ? "a built-in operator" : "a shader") +
                       " cannot stand beside kernels in CUDA, PTX or Triton, which CUDA's own "
                       "driver launches: write it as such a kernel too");
  }
  return std::nullopt;
}

/// Compiles the kernel and checks the steps that launch it.
std::optional<Refused> CandidateProgram::compile_cuda(size_t index, double seconds,
                                                      std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *candidate_.kernels[index].kernel;
  if (!compilers_) compilers_.emplace(cuda_.capability, python_);
  CudaAttempt attempt = compilers_->compile(candidate_, index, seconds);
  diagnostics.insert(diagnostics.end(), attempt.diagnostics.begin(), attempt.diagnostics.end());
  if (attempt.refusal) return attempt.refusal;
  const CudaKernel& made = kernels_[index].cuda.emplace(std::move(attempt.kernel));
  for (const ResolvedStep* step : steps_of(candidate_, index)) {
    auto refusal = check_cuda_launch(made, as_launched(made, *step));
    if (!refusal) continue;
    refusal->message = at(step->at) + "kernel " + kernel.name + " " + refusal->message;
    return refusal;
  }
  if (made.float16 && float16_kernel_.empty()) float16_kernel_ = kernel.name;
  if (!made.approximate.empty() && approximations_.empty()) {
    approximations_ = "kernel " + kernel.name + " uses " + made.approximate;
  }
  return std::nullopt;
}

/// Opened as late as possible, since that disturbs measurements on the device.
cuda::Driver& CandidateProgram::open_driver() {
  if (driver_) return *driver_;
  try {
    driver_ = std::make_unique<cuda::Driver>(device_.snapshot().device_uuid, cuda_.driver);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnsupported) throw;
    const Kernel& first = *candidate_.kernels.front().kernel;
    throw Refused{
        Verdict::unsupported,
        at(first.at) + "kernel " + first.name + " is launched by CUDA's own driver: " + e.message(),
        {}};
  }
  for (size_t i = 0; i < kernels_.size(); ++i) load(i);
  return *driver_;
}

void CandidateProgram::load(size_t index) {
  CompiledKernel& made = kernels_[index];
  const kbench::Kernel& kernel = *candidate_.kernels[index].kernel;
  try {
    made.loaded = driver_->load(made.cuda->cubin, made.cuda->entry);
  } catch (const cuda::DriverError& e) {
    if (e.code() == ErrorCode::kOutOfMemory) throw;
    throw Refused{Verdict::compile_error,
                  at(kernel.at) + "kernel " + kernel.name +
                      ": the driver refuses the compiled kernel: " + e.message(),
                  {}};
  }
  for (const ResolvedStep* step : steps_of(candidate_, index)) {
    const std::string why =
        driver_->allow(made.loaded, as_driver_launch(as_launched(*made.cuda, *step)));
    if (why.empty()) continue;
    throw Refused{Verdict::unsupported, at(step->at) + "kernel " + kernel.name + " " + why, {}};
  }
}

DriverPlan CandidateProgram::driver_plan(bool setup, const std::vector<uint64_t>& addresses) const {
  DriverPlan plan;
  for (const PreparedStep& step : setup ? setup_ : dispatch_) {
    const auto index = static_cast<size_t>(step.step->kernel);
    const ResolvedStep& launched = *step.launched;
    cuda::LaunchStep made{kernels_[index].loaded, as_driver_launch(launched), launched.push};
    add_addresses(made.parameters, launched.addresses,
                  [&](size_t buffer) { return addresses[buffer]; });
    plan.steps.push_back(std::move(made));
    const Location& place = step.step->at;
    plan.names.push_back("kernel " + candidate_.kernels[index].kernel->name + " (" +
                         shown(place.file) + ":" + std::to_string(place.line) + ")");
  }
  return plan;
}

}  // namespace kbench::runner
