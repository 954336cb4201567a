#include "harness/measure/runner/cuda_kernels.h"

#include "harness/measure/cuda/assembler.h"
#include "harness/measure/cuda/driver.h"
#include "harness/measure/cuda/ptx.h"
#include "harness/measure/cuda/ptx_rules.h"
#include "harness/measure/runner/resolved.h"
#include "kbench/error.h"

namespace kbench::runner {
namespace {

using Language = Kernel::Language;

/// " (FILE:LINE)" of a line of PTX that the author wrote; empty for compiled PTX.
std::string place(const Kernel& kernel, int line) {
  if (kernel.language != Language::ptx || line <= 0) return "";
  return " (" + shown(kernel.file) + ":" + std::to_string(kernel.first_line + line - 1) + ")";
}

}  // namespace

Refused compile_error(const Kernel& kernel, std::span<const Diagnostic> said) {
  for (const Diagnostic& d : said) {
    if (d.severity == "error") {
      return {Verdict::compile_error, at(Location{d.file, d.line, d.column}) + d.message};
    }
  }
  return {Verdict::compile_error, at(kernel.at) + "kernel " + kernel.name + " does not compile"};
}

std::optional<Refused> check_cuda_module(const std::string& ptx, const Kernel& kernel,
                                         CudaKernel& made) {
  cuda::PtxModule module;
  try {
    module = cuda::parse_ptx(ptx);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kParse) throw;
    return Refused{Verdict::compile_error,
                   "is no PTX that can be read: " + e.message() + place(kernel, e.location().line)};
  }
  if (const auto violation = cuda::check_ptx(module)) {
    return Refused{violation->unsupported ? Verdict::unsupported : Verdict::invalid_candidate,
                   violation->message + place(kernel, violation->line)};
  }
  if (made.entry.empty()) {
    for (const cuda::PtxFunction& function : module.functions) {
      if (!function.entry || function.external) continue;
      if (!made.entry.empty()) {
        return invalid("has several entries, '" + shown(made.entry, 100) + "' and '" +
                       shown(function.name, 100) + "' among them: 'entry' says which");
      }
      made.entry = function.name;
    }
    if (made.entry.empty()) {
      return invalid(kernel.language == Language::cuda
                         ? "has no __global__ function that is no template; 'entry' names one"
                         : "has no .entry");
    }
  }
  const cuda::PtxFunction* function = module.find_entry(made.entry);
  if (!function || function->external) {
    return invalid("has no entry '" + shown(made.entry, 200) + "'");
  }
  made.function = *function;
  made.static_shared = cuda::static_shared_bytes(module, *function);
  made.float16 = cuda::uses_float16(module);
  made.ptx = cuda::print_ptx(module);
  made.approximate = cuda::approximate_functions(module);
  return std::nullopt;
}

CudaAttempt CudaCompilers::compile(const ResolvedCandidate& candidate, size_t index,
                                   double seconds) {
  const ResolvedKernel& resolved = candidate.kernels[index];
  const Kernel& kernel = *resolved.kernel;
  CudaAttempt attempt;
  try {
    capability();
    std::string ptx = kernel.source;
    if (kernel.language == Language::triton) {
      compile_triton(candidate, index, seconds, ptx, attempt);
    } else if (kernel.language == Language::cuda) {
      attempt.refusal =
          compile_cuda(resolved, *candidate.candidate, ptx, attempt.kernel, attempt.diagnostics);
    } else {
      attempt.kernel.entry = kernel.entry;
    }
    if (!attempt.refusal) attempt.refusal = check_and_assemble(ptx, kernel, attempt);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnsupported) throw;
    attempt.refusal = unsupported(at(kernel.at) + "kernel " + kernel.name + ": " + e.message());
  }
  return attempt;
}

std::optional<Refused> CudaCompilers::check_and_assemble(const std::string& ptx,
                                                         const Kernel& kernel,
                                                         CudaAttempt& attempt) {
  CudaKernel& made = attempt.kernel;
  if (auto refusal = check_cuda_module(ptx, kernel, made)) {
    refusal->message = at(kernel.at) + "kernel " + kernel.name + " " + refusal->message;
    return refusal;
  }
  if (line_info_) made.ptx = ptx;
  if (auto refusal = assemble(kernel, made, attempt.diagnostics)) return refusal;
  made.most_shared = shared_bytes_of(capability());
  made.registers = cuda::cubin_registers(made.cubin, made.entry).value_or(0);
  made.uses_stack =
      made.registers == 0 || cuda::cubin_stack_bytes(made.cubin, made.entry).value_or(0) > 0;
  return std::nullopt;
}

std::optional<Refused> CudaCompilers::compile_cuda(const ResolvedKernel& resolved,
                                                   const Candidate& candidate, std::string& ptx,
                                                   CudaKernel& made,
                                                   std::vector<Diagnostic>& diagnostics) {
  const Kernel& kernel = *resolved.kernel;
  cuda::CudaSource source;
  source.text = kernel_text(resolved);
  source.file = kernel.file;
  source.first_line = kernel.first_line;
  source.entry = kernel.entry;
  source.macros = resolved.macros;
  source.line_info = line_info_;
  source.include = [&candidate](const std::string& name, const std::string& from) {
    return find_include(candidate, name, from);
  };
  cuda::CudaOutcome outcome = nvrtc().compile(source, capability());
  diagnostics.insert(diagnostics.end(), outcome.diagnostics.begin(), outcome.diagnostics.end());
  if (!outcome.ok()) return compile_error(kernel, outcome.diagnostics);
  ptx = std::move(outcome.ptx);
  made.entry = std::move(outcome.entry);
  return std::nullopt;
}

std::optional<Refused> CudaCompilers::assemble(const Kernel& kernel, CudaKernel& made,
                                               std::vector<Diagnostic>& diagnostics) {
  // Diagnostics have lines of the author's file only if the author wrote PTX.
  const int first_line = kernel.language == Language::ptx ? kernel.first_line : 0;
  cuda::AssembleOutcome outcome =
      assembler().assemble(made.ptx, capability(), kernel.file, first_line, line_info_);
  made.ptx.clear();
  diagnostics.insert(diagnostics.end(), outcome.diagnostics.begin(), outcome.diagnostics.end());
  if (!outcome.ok()) return compile_error(kernel, outcome.diagnostics);
  made.cubin = std::move(outcome.cubin);
  return std::nullopt;
}

const cuda::Nvrtc& CudaCompilers::nvrtc() {
  if (!nvrtc_) nvrtc_.emplace(toolkit_, places_);
  return *nvrtc_;
}

const cuda::Assembler& CudaCompilers::assembler() {
  if (!assembler_) assembler_.emplace(toolkit_, places_);
  return *assembler_;
}

const cuda::ComputeCapability& CudaCompilers::capability() {
  if (!capability_.known()) capability_ = ask_();
  return capability_;
}

cuda::ComputeCapability cuda_capability(const vulkan::DeviceSnapshot& snapshot) {
  if (snapshot.software()) {
    throw Error(
        ErrorCode::kUnsupported,
        "device '" + snapshot.name + "' launches no CUDA kernels: it is no GPU of NVIDIA's");
  }
  return cuda::device_capability(snapshot.device_uuid);
}

}  // namespace kbench::runner
